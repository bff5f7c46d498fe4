from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from msgspec.structs import replace

from tests.strategies import any_graph
from trec.ir.builder import GraphBuilder
from trec.ir.rewrite import with_nodes
from trec.ir.types import Carried

if TYPE_CHECKING:
    from trec.ir.graph import Graph


@given(any_graph())
def test_the_same_nodes_give_the_same_graph(graph: Graph) -> None:
    """Holds where scopes were added before nodes and each type was asked for by the node that needs it."""
    assert with_nodes(graph, graph.nodes) == graph


def test_tables_come_out_in_order_of_use() -> None:
    builder = GraphBuilder("Net")
    unused = builder.tensor_type((9,), "bool")
    second, first = builder.tensor_type((2,), "bool"), builder.tensor_type((1,), "bool")
    root = builder.scope("module", path="", cls="Net")
    builder.node("op", "a", parent=root, results=[first, second], attrs=(("x", 1),))
    builder.scope("module", path="late", cls="Late", parent=root, attrs=(("y", 2),))
    graph = builder.build()
    again = with_nodes(graph, graph.nodes).verify()
    assert again.types == (graph.types[first], graph.types[second])
    assert graph.types[unused] not in again.types
    assert again.attrs == ((), (("y", 2),), (("x", 1),))
    assert with_nodes(again, again.nodes) == again
    assert str(again).splitlines()[1:] == str(graph).splitlines()[1:]


@given(any_graph())
def test_a_program_without_its_end_is_valid(graph: Graph) -> None:
    shorter = with_nodes(graph, graph.nodes[: len(graph.nodes) // 2]).verify()
    assert [node.name for node in shorter.nodes] == [node.name for node in graph.nodes[: len(graph.nodes) // 2]]


@given(any_graph())
def test_scopes_that_hold_nothing_can_go(graph: Graph) -> None:
    used = {node.parent for node in graph.nodes} | {node.scope for node in graph.nodes} | {0}
    used |= {edge.loop for edge in graph.carried}
    for index in range(len(graph.scopes) - 1, 0, -1):
        if index in used:
            used.add(graph.scopes[index].parent)
    kept = sorted(used - {-1})
    smaller = with_nodes(graph, graph.nodes, scopes=kept).verify()
    assert [scope.name for scope in smaller.scopes] == [graph.scopes[index].name for index in kept]
    assert str(smaller).splitlines()[1:] == str(graph).splitlines()[1:]


def test_values_are_numbered_anew(skip: Graph) -> None:
    nodes = list(skip.nodes)
    nodes[0], nodes[1] = nodes[1], nodes[0]
    swapped = with_nodes(skip, nodes).verify()
    assert [value.name for value in swapped.values][:2] == ["fc.weight", "x"]
    assert swapped.nodes[2].inputs == (1, 0)


def test_carried_rows_follow_their_nodes() -> None:
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net")
    type_ = builder.tensor_type((2,), "bool")
    builder.node("input", parent=root, name="unused", results=[type_])
    (x,) = builder.node("input", parent=root, name="x", results=[type_])
    (y,) = builder.node("op", "step", parent=root, inputs=[x], results=[type_])
    builder.node("output", parent=root, inputs=[y])
    graph = replace(builder.build(), carried=(Carried(y, 2, 0), Carried(0, 2, 0))).verify()
    assert with_nodes(graph, graph.nodes[1:]).verify().carried == (Carried(1, 1, 0),)
