"""What a graph amounts to stays the same, however its calls are folded, closed and opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import trec
from tests.passes.samples import ended, started
from tests.passes.steps import steps
from tests.passes.training import training
from tests.strategies import repeating

if TYPE_CHECKING:
    from pathlib import Path

    from hypothesis.strategies import DataObject

    from trec.ir.graph import Graph

PASSES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fold", {}), ("roll", {}), ("level", {"level": "module"}), *[("collapse", {"depth": depth}) for depth in range(4)],
)  # fmt: skip


ANY = st.one_of(repeating(), repeating(), steps())


def totals(graph: Graph) -> tuple[int, int, int]:
    found = graph.verify().stats()
    return found.ops, found.params, found.param_bytes


def by_module(graph: Graph) -> dict[str, tuple[int, int, int]]:
    """Return what each call of a module holds, by name; of several equal ones that is of one."""
    return {row.name: (row.ops, row.params, row.param_bytes) for row in graph.stats().modules}


@settings(max_examples=300)
@given(ANY, st.lists(st.sampled_from(PASSES), min_size=1, max_size=4), st.data())
def test_any_chain_of_passes_keeps_sums(
    graph: Graph, chain: list[tuple[str, dict[str, Any]]], data: DataObject
) -> None:
    expected, result = totals(graph), graph
    for name, options in chain:
        result = result.apply(name, **options)
        assert totals(result) == expected, name
    made = sorted(result.derivation.members) if result.derivation else []
    if made:
        assert totals(result.expand(data.draw(st.sampled_from(made)))) == expected


@settings(max_examples=300)
@given(ANY, st.integers(0, 4))
def test_every_call_that_stays_holds_what_it_held(graph: Graph, depth: int) -> None:
    expected = by_module(graph)
    for result in (graph.fold(), graph.fold().collapse(depth=depth)):
        assert by_module(result).items() <= expected.items()


@settings(max_examples=300)
@given(ANY, st.integers(0, 4), st.integers(0, 4))
def test_a_folded_graph_is_collapsed_twice_as_at_once(graph: Graph, first: int, second: int) -> None:
    folded = graph.fold()
    assert folded.collapse(depth=first).collapse(depth=second) == folded.collapse(depth=min(first, second))


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_weights_that_both_directions_read_count_when_their_blocks_become_one_node(depth: int) -> None:
    graph = training(4)
    closed = graph.fold().collapse(depth=depth)
    assert totals(closed) == totals(graph)
    assert {row.times * row.elements for row in closed.parameters().parameters} <= {36}


def test_a_weight_beside_its_block_says_for_how_many_it_stands() -> None:
    closed = training(4).fold().collapse(depth=1)
    (weight,) = [node for node in closed.nodes if node.kind == "param"]
    assert closed.attrs_of(weight) == {"qualname": "layers.0.weight", "times": 4}
    assert closed.nodes_in[0].count(closed.index_of["layers.0.weight"]) == 1
    assert "3×3 ×4" in closed.to_svg(params=True)


def test_blocks_that_became_nodes_are_folded_without_a_region_around_them() -> None:
    folded = training(5, optimizer=False).collapse(depth=1).fold()
    repeated = {scope.name: len(scope.repeats) for scope in folded.scopes if scope.repeats}
    assert repeated == {"layers.1": 3, "layers.4.backward": 3}
    assert folded.attrs_of(folded.nodes[folded.index_of["layers.1.weight"]])["times"] == 4


@settings(max_examples=200)
@given(ANY, st.lists(st.sampled_from(PASSES), min_size=1, max_size=3))
def test_folding_keeps_the_peak_of_memory(graph: Graph, chain: list[tuple[str, dict[str, Any]]]) -> None:
    plain = graph
    folded = graph.fold()
    for name, options in chain:
        folded = folded.apply(name, **options)
        plain = plain if name in ("fold", "roll") else plain.apply(name, **options)
    found, expected = folded.memory(), plain.memory()
    assert (found.peak, len(found.live), found.partial) == (expected.peak, len(expected.live), ())
    for live in found.ranges:
        node = folded.nodes[live.first]
        assert live.name in [node.name, *[folded.values[value].name for value in node.outputs]]


def test_what_a_loaded_graph_takes_is_told_to_be_of_one_run(tmp_path: Path) -> None:
    folded = training(4).fold()
    folded.save(tmp_path / "folded.trec")
    found = trec.load(tmp_path / "folded.trec").memory()
    assert found.partial == ("layers.0", "layers.3.backward", "SGD.repeat")
    assert found.peak < folded.memory().peak
    assert "of what layers.0, layers.3.backward, SGD.repeat stand for, one run counts" in str(found)


def test_a_function_that_was_called_again_and_again_counts_so_as_one_node() -> None:
    builder, type_, x = started("Again", "aten")
    for _ in range(9):
        scope = builder.scope("function", path="", cls="normalize", parent=0, inputs=[x])
        (norm,) = builder.node("op", "aten.norm.default", parent=scope, inputs=[x], results=[type_])
        (x,) = builder.node("op", "aten.div.Tensor", parent=scope, inputs=[x, norm], results=[type_])
        builder.scopes[scope] = replace(builder.scopes[scope], outputs=(x,))
    graph = ended(builder, x)
    folded = graph.fold().level("function").verify()
    (made,) = [node for node in folded.nodes if node.kind == "op"]
    assert (made.op, folded.times(made)) == ("normalize", 9)
    for result in (folded, folded.collapse(depth=0), graph.fold().level("module")):
        assert totals(result) == totals(graph.level("function"))
    assert totals(folded.expand(made.name)) == totals(graph)
    assert "×9" in folded.to_svg()


def test_however_many_loops_lie_in_one_another_sums_come_at_once() -> None:
    """A file may say so; which of 40 loops a weight that stands for three goes along with is not found by trying."""
    builder, type_, x = started("Net")
    weights = builder.node("param", parent=0, name="weight", results=[type_], attrs=(("times", 3),))
    scope = 0
    for depth in range(40):
        scope = builder.scope("module", path=f"deep{depth}", cls="Deep", parent=scope)
    (x,) = builder.node("op", "add", parent=scope, inputs=[x, *weights], results=[type_])
    graph = ended(builder, x)
    first, *others = graph.scopes
    looping = replace(graph, scopes=(first, *[replace(row, repeats=(f"{row.name}.again",)) for row in others]))
    assert looping.stats().params == 3 * 6
