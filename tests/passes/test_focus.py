from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.passes import samples
from tests.passes.samples import ended, started
from trec import OptionError
from trec.ir.types import Carried

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

GOLDEN: dict[str, tuple[Callable[[], Graph], dict[str, Any]]] = {
    "module": (samples.blocks, {"on": "layers.1"}),
    "between": (samples.blocks, {"on": "layers.0.fc.linear", "to": "layers.0.__add__"}),
    "steps": (samples.blocks, {"on": "layers.0.head.linear", "steps": 1}),
    "up": (samples.blocks, {"on": "layers.0.head.linear", "steps": None, "direction": "up"}),
    "down": (samples.blocks, {"on": "layers.1.fc.linear", "steps": None, "direction": "down"}),
    "part": (lambda: samples.blocks().collapse(depth=1), {"on": "layers.1"}),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    make, options = GOLDEN[name]
    before = make()
    golden(f"focus-{name}.txt", f"{before}\n---\n{before.focus(**options).verify()}\n")


def names(graph: Graph) -> list[str]:
    return [node.name for node in graph.verify().nodes]


def test_both_ways_as_far_as_possible_does_not_turn_back() -> None:
    builder, type_, x = started("Net")
    (y,) = builder.node("op", "left", parent=0, inputs=[x], results=[type_])
    (z,) = builder.node("op", "right", parent=0, inputs=[x], results=[type_])
    graph = ended(builder, y, z)
    assert names(graph.focus("op:left", steps=None)) == ["x", "left", "output0"]
    assert names(graph.focus("op:left", steps=2)) == ["x", "left", "right", "output0", "output1"]


def test_a_boundary_node_stands_for_what_is_outside() -> None:
    graph = samples.blocks().focus("layers.1")
    assert graph.origin("layers.0.__add__") == ("layers.0.__add__",)
    assert graph.nodes[graph.index_of["layers.0.__add__"]].kind == "input"
    assert graph.expand() == samples.blocks()


def test_no_path_is_said() -> None:
    with pytest.raises(OptionError, match="is it the other way round"):
        samples.blocks().focus("layers.0.__add__", to="layers.0.fc.linear")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"on": "layer.0"}, "did you mean 'layers.0'"),
        ({"on": "layers.0", "to": "x", "steps": 1}, "either to=, or steps="),
        ({"on": "layers.0", "steps": -1}, "steps must be a natural number"),
        ({"on": "layers.0", "direction": "left"}, "'both', 'up', 'down', not 'left'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        samples.blocks().focus(**options)


def test_what_a_loop_carries_across_the_boundary_comes_in_and_goes_out() -> None:
    graph = samples.recurrent().fold()
    (edge, *_) = graph.carried
    reader, maker = graph.nodes[edge.node].name, graph.nodes[graph.producers[edge.value]].name
    part = graph.focus(reader).verify()
    assert [part.nodes[row.node].name for row in part.carried] == [reader]
    assert part.nodes[part.producers[part.carried[0].value]].kind == "input"
    part = graph.focus(maker).verify()
    assert reader not in {part.nodes[row.node].name for row in part.carried}
    assert [node.name for node in part.nodes if node.kind == "output"] == [f"{maker}.output"]


def test_an_input_with_the_name_of_a_reader_outside_is_carried_nothing() -> None:
    builder, type_, x = started("Net")
    (y,) = builder.node("op", "relu", parent=0, inputs=[x], results=[type_])
    (z,) = builder.node("op", "exp", parent=0, inputs=[y], results=[type_])
    builder.carried.append(Carried(z, 1, 0))
    part = ended(builder, z).focus("exp").verify()
    assert [node.name for node in part.nodes] == ["relu", "exp", "output0"]
    assert part.carried == ()
