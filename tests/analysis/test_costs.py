"""What a graph costs, as far as its rows tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from tests.strategies import any_graph, repeating
from trec.analysis.costs import Cost, costs
from trec.ir.builder import GraphBuilder
from trec.ir.serialize import decode, encode

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def shared() -> Graph:
    """Two calls that read one weight, and a third that reads one of its own."""
    builder = GraphBuilder("Net", (("costs", True),))
    root = builder.scope("module", path="", cls="Net")
    outer = builder.scope("module", path="a", cls="A", parent=root)
    half, wide = builder.tensor_type((4, 4), "float16"), builder.tensor_type((4, 4), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[wide], attrs=(("index", 0),))
    (tied,) = builder.node("param", parent=root, name="tied", results=[half])
    for call in range(2):
        inner = builder.scope("module", path=f"a.{call}", cls="B", parent=outer)
        (x,) = builder.node("op", "mm", parent=inner, inputs=[x, tied, tied], results=[wide], attrs=(("flops", 128),))
    last = builder.scope("module", path="last", cls="C", parent=root)
    (own,) = builder.node("param", parent=last, name="last.w", results=[wide])
    (x,) = builder.node("op", "mm", parent=last, inputs=[x, own], results=[half], attrs=(("flops", 100),))
    builder.node("output", parent=root, inputs=[x])
    return builder.build().verify()


def test_a_shared_parameter_counts_once_in_what_is_around_its_readers() -> None:
    found = costs(shared())
    assert found.scopes == (
        Cost(356, 64 + 64 + 32, 32 + 64, None),
        Cost(256, 128, 32, None),
        Cost(128, 64, 32, None),
        Cost(128, 64, 32, None),
        Cost(100, 32, 64, None),
    )
    assert found.total == found.scopes[0]


def test_what_brings_a_value_in_or_out_costs_nothing() -> None:
    graph = shared()
    for node, cost in zip(graph.nodes, costs(graph).nodes, strict=True):
        assert (cost == Cost(0, 0, 0, None)) == (node.kind != "op")


def test_a_collapsed_call_costs_what_its_scope_did() -> None:
    graph = shared()
    expected = costs(graph)
    for depth in range(4):
        found = costs(graph.collapse(depth=depth))
        assert (found.total.flops, found.total.parameter_bytes) == (356, 96)
    collapsed = graph.collapse(depth=1)
    modules = [
        cost for node, cost in zip(collapsed.nodes, costs(collapsed).nodes, strict=True) if node.kind == "module"
    ]
    assert [cost.flops for cost in modules] == [256, 100]
    assert [cost.parameter_bytes for cost in modules] == [32, 64]
    assert expected.scopes[1].parameter_bytes == 32


@given(any_graph())
def test_every_graph_can_be_asked_for_its_costs(graph: Graph) -> None:
    found = costs(graph)
    assert len(found.nodes) == len(graph.nodes)
    assert len(found.scopes) == len(graph.scopes)
    assert found == costs(decode(encode(graph)))
    for cost in (*found.nodes, *found.scopes):
        assert cost.output_bytes >= 0


@given(repeating())
def test_a_folded_graph_costs_as_much_as_before(graph: Graph) -> None:
    found = [(cost.output_bytes, cost.parameter_bytes) for cost in (costs(graph).total, costs(graph.fold()).total)]
    assert found[0] == found[1]
    assert found[1][1] == graph.fold().stats().param_bytes


def test_costs_print_as_a_table_of_the_calls_of_modules() -> None:
    found = costs(shared())
    assert (
        str(found)
        == """\
module   class  times  flops  output bytes  parameter bytes
Net        Net      1    356           160               96
  a          A      1    256           128               32
    a.0      B      1    128            64               32
    a.1      B      1    128            64               32
  last       C      1    100            32               64"""
    )
    assert found.rows()[1] == {
        "name": "a", "cls": "A", "depth": 1, "times": 1,
        "flops": 256, "output_bytes": 128, "parameter_bytes": 32, "seconds": None,
    }  # fmt: skip


def test_a_table_of_costs_has_seconds_only_where_they_were_taken() -> None:
    graph = shared()
    graph.__dict__["seconds"] = {"last": 0.25}
    first, *rest = str(costs(graph)).splitlines()
    assert first.endswith("seconds")
    assert [row.split()[-1] for row in rest] == ["0.250000", "-", "-", "-", "0.250000"]


def test_what_was_not_counted_is_a_dash() -> None:
    builder = GraphBuilder("Net")
    builder.node("op", "mm", parent=builder.scope("module", path="", cls="Net"))
    assert str(costs(builder.build())).splitlines()[1].split() == ["Net", "Net", "1", "-", "0", "0"]
