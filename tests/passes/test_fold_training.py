"""Folding of whole steps of training: forward blocks, and what reads them one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.passes.laws import assert_laws
from tests.passes.training import training
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph


def repeats(graph: Graph) -> dict[str, int]:
    return {scope.name: 1 + len(scope.repeats) for scope in graph.verify().scopes if scope.repeats}


def differentiated(graph: Graph) -> set[tuple[str, str]]:
    return {(graph.nodes[row.node].name, graph.nodes[row.forward].name) for row in graph.derivatives}


def test_golden(golden: Callable[[str, str], None]) -> None:
    before = training()
    golden("fold-training.txt", f"{before}\n---\n{before.fold().verify()}\n")


def test_each_phase_is_folded_with_the_others() -> None:
    graph = training(6)
    folded = graph.fold()
    assert repeats(folded) == {"layers.0": 6, "layers.5.backward": 6, "SGD.repeat": 6}
    assert_laws(graph, "fold", {})
    assert folded.expand() is graph


def test_the_block_that_stays_names_those_that_it_reads_one_by_one() -> None:
    by_name = {scope.name: scope.repeats for scope in training(4).fold().scopes}
    assert by_name["layers.0"] == ("layers.1", "layers.2", "layers.3")
    assert by_name["layers.3.backward"] == ("layers.2.backward", "layers.1.backward", "layers.0.backward")


def test_one_weight_stands_for_those_of_all_blocks() -> None:
    folded = training(4).fold()
    weights = [node.name for node in folded.nodes if node.kind == "param"]
    assert weights == ["layers.0.weight"]
    assert folded.origin("layers.0.weight") == tuple(f"layers.{number}.weight" for number in range(4))


def test_what_is_differentiated_stays_so() -> None:
    graph = training(4)
    folded = graph.fold()
    image = {origin: node.name for node in folded.nodes for origin in folded.origin(node.name)}
    assert differentiated(folded) == {(image[node], image[forward]) for node, forward in differentiated(graph)}
    assert ("layers.3.backward.LinearBackward", "layers.0.linear") in differentiated(folded)


def test_what_the_blocks_began_with_is_read_in_the_last_backward_block() -> None:
    folded = training(4).fold()
    rows = [
        (folded.values[row.value].name, folded.nodes[row.node].name, row.port, folded.scopes[row.loop].name)
        for row in folded.carried
    ]
    assert ("embed", "layers.3.backward.LinearBackward", 2, "layers.3.backward") in rows


def test_the_forward_phase_of_what_is_folded_is_folded() -> None:
    graph = training(5)
    assert graph.fold().phase("forward") == graph.phase("forward").fold()


@pytest.mark.parametrize("change", ["tied", "other", "frozen", "crossed"])
def test_a_layer_that_differs_in_one_phase_ends_the_runs_of_all(change: str) -> None:
    graph = training(7, change, at=3)
    found = repeats(graph.fold())
    assert set(found.values()) == {3}
    assert [*found][:4] == ["layers.0", "layers.4", "layers.6.backward", "layers.2.backward"]
    assert [*found][4:] == ["SGD.repeat", "SGD.repeat_1"]
    assert_laws(graph, "fold", {})


def test_opening_a_block_opens_those_that_read_it() -> None:
    folded = training(4).fold()
    assert repeats(folded.expand("layers.0.linear")) == {}
    assert repeats(folded.expand("SGD.mul")) == {}


def test_only_loops_over_the_same_weights_are_rolled() -> None:
    assert training().roll() == training()


def mirrored(order: list[int], *, skips: bool = True) -> Graph:
    """Four blocks, and four more that each read what one of the first makes on the side."""
    builder = GraphBuilder("Mirrored", (("level", "function"),))
    root, type_ = builder.scope("module", path="", cls="Mirrored"), builder.tensor_type((2,), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_])
    sides = []
    for number in range(4):
        down = builder.scope("module", path=f"down.{number}", cls="Down", parent=root)
        x, side = builder.node("op", "split", parent=down, inputs=[x], results=[type_, type_])
        sides.append(side if skips else x)
    for number, other in enumerate(order):
        up = builder.scope("module", path=f"up.{number}", cls="Up", parent=root)
        (x,) = builder.node("op", "add", parent=up, inputs=[x, sides[other]], results=[type_])
    builder.node("output", parent=root, name="y", inputs=[x])
    return builder.build()


@pytest.mark.parametrize(
    ("order", "found"),
    [([3, 2, 1, 0], 4), ([0, 1, 2, 3], 4), ([0, 0, 0, 0], 4), ([1, 1, 3, 3], 2), ([3, 2, 0, 1], 2)],
)
def test_blocks_read_others_by_a_fixed_step(order: list[int], found: int) -> None:
    """As the halves of a U-Net do."""
    graph = mirrored(order)
    assert repeats(graph.fold()).get("up.0") == found
    assert_laws(graph, "fold", {})
