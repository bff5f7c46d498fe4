from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple

import trec
from tests.conftest import TINY, collapsed
from tests.passes import samples
from tests.passes.samples import ended, started
from tests.strategies import any_graph, repeating
from trec.analysis.diff_graph import CHANGE, READ_BEFORE, READ_NOW
from trec.errors import OptionError
from trec.ir.builder import GraphBuilder
from trec.ir.types import SAVED, Derivative

if TYPE_CHECKING:
    from trec.ir.graph import Graph
    from trec.ir.types import Node, NodeKind, Scope


def marks(graph: Graph) -> dict[str, str]:
    rows: list[Node | Scope] = [*graph.scopes, *graph.nodes]
    return {row.name: str(graph.attrs_of(row)[CHANGE]) for row in rows if CHANGE in graph.attrs_of(row)}


def check(before: Graph, after: Graph) -> None:
    """Nothing of either graph is missing, and what is marked as removed is just what the second has not."""
    found = before.diff(after)
    both = found.to_graph().verify()
    removed = [node for node in both.nodes if both.attrs_of(node).get(CHANGE) == "removed"]
    assert len(removed) == len(found.removed)
    assert Counter(node.op for node in both.nodes) == Counter(
        [node.op for node in after.nodes] + [node.op for node in removed]
    )
    assert len(both.carried) == len(after.carried)
    assert both.to_dot()


@pytest.mark.parametrize("name", TINY)
def test_the_union_with_itself_has_no_marks(name: str) -> None:
    graph = TINY[name]()
    both = graph.diff(graph).to_graph().verify()
    assert marks(both) == {}
    assert [node.name for node in both.nodes] == [node.name for node in graph.nodes]
    assert [node.inputs for node in both.nodes] == [node.inputs for node in graph.nodes]


@settings(max_examples=300)
@given(any_graph(), any_graph())
def test_any_two_graphs_have_a_union(one: Graph, other: Graph) -> None:
    check(one, other)


@settings(max_examples=300)
@given(repeating(), st.data())
def test_what_is_left_out_is_put_back(graph: Graph, data: st.DataObject) -> None:
    ops = sorted({node.op for node in graph.nodes if node.kind == "op"})
    shorter = graph.hide(f"op:{data.draw(st.sampled_from(ops))}", missing_ok=True)
    check(graph, shorter)
    check(shorter, graph)
    check(graph, graph.fold())
    check(graph, graph.collapse(depth=1))
    check(graph.collapse(depth=1), graph)


def chain(*ops: str) -> Graph:
    builder, type_, x = started("Net")
    for op in ops:
        (x,) = builder.node("op", op, parent=0, inputs=[x], results=[type_])
    return ended(builder, x)


def test_what_was_removed_is_read_by_what_read_it() -> None:
    both = chain("conv2d", "relu", "tanh").diff(chain("conv2d", "tanh")).to_graph().verify()
    assert [node.op for node in both.nodes] == ["input", "conv2d", "relu", "tanh", "output"]
    reader = both.nodes[3]
    assert [both.nodes[both.producers[value]].op for value in reader.inputs] == ["conv2d", "relu"]
    assert both.attrs_of(reader) == {READ_NOW: (0,), READ_BEFORE: (1,)}


def test_a_change_says_what_was_there() -> None:
    both = samples.blocks().diff(samples.blocks().relabel({"linear": "conv"})).to_graph()
    changed = [node for node in both.nodes if both.attrs_of(node).get(CHANGE) == "retyped"]
    assert len(changed) == 4
    assert {both.attrs_of(node)["was"] for node in changed} == {"linear"}


def test_a_union_is_saved_and_collapsed_as_any_graph() -> None:
    both = samples.blocks().diff(samples.blocks().focus("layers.0")).to_graph()
    assert msgspec.json.decode(both.to_json())
    assert "diff" in dict(both.collapse(depth=1).verify().meta)
    assert marks(both.diff(both).to_graph()) == {}


def test_a_call_in_which_nothing_ran_marks_the_calls_around_it() -> None:
    def net(*inner: str) -> Graph:
        builder, type_, x = started("Net")
        block = builder.scope("module", path="block", cls="Block", parent=0)
        (x,) = builder.node("op", "exp", parent=block, inputs=[x], results=[type_])
        for name in inner:
            builder.scope("module", path=f"block.{name}", cls="Identity", parent=block)
        return ended(builder, x)

    for one, other in ((net(), net("skip")), (net("skip"), net())):
        for depth in (0, 1):
            picture = one.diff(other).to_graph().collapse(depth=depth)
            assert [picture.attrs_of(node).get("diff") for node in picture.nodes] == [None, "inside", None]


def test_a_diff_whose_graphs_are_not_known_says_so() -> None:
    found = collapsed().diff(collapsed())
    copied = msgspec.json.decode(msgspec.json.encode(found), type=type(found))
    with pytest.raises(OptionError, match=r"trec\.diff"):
        copied.to_graph()


@pytest.mark.torch
def test_pairs_of_models() -> None:
    pytest.importorskip("torch")
    from tests.analysis.pairs import IDS, PAIRS

    for make in PAIRS.values():
        before, after = (trec.capture(one().eval(), args=(IDS,)) for one in make)
        check(before, after)
        check(after, before)


def step(*ops: str, saves: bool = False) -> Graph:
    """A chain of operators and, in reverse, what differentiates them; each may save a result for that."""
    builder, type_, x = started("Net")
    back = builder.scope("region", path="", cls="backward", parent=0, name="backward", phase="backward")
    saved: list[list[int]] = []
    for op in ops:
        attrs = ((SAVED, 1),) if saves else ()
        x, *kept = builder.node("op", op, parent=0, inputs=[x], results=[type_] * (1 + saves), attrs=attrs)
        saved.append(kept)
    places = list(range(1, len(builder.nodes)))
    for op, kept, forward in zip(ops[::-1], saved[::-1], places[::-1], strict=True):
        (x,) = builder.node("op", f"{op}Backward0", parent=back, inputs=[x, *kept], results=[type_])
        builder.derivatives.append(Derivative(len(builder.nodes) - 1, forward))
    return ended(builder, x)


def differentiated(graph: Graph) -> dict[str, list[str]]:
    return {
        graph.nodes[node].op: [graph.nodes[each].op for each in forward]
        for node, forward in graph.differentiated.items()
    }


@pytest.mark.parametrize("turned", [False, True])
def test_a_union_keeps_phases_and_what_is_differentiated(turned: bool) -> None:
    graphs = [step("exp", "sin", "tanh"), step("exp", "tanh")]
    before, after = graphs[::-1] if turned else graphs
    both = before.diff(after).to_graph().verify()
    assert both.phases == ("forward", "backward")
    assert differentiated(both) == {"tanhBackward0": ["tanh"], "sinBackward0": ["sin"], "expBackward0": ["exp"]}
    assert [node.op for node in both.phase("forward").verify().nodes if node.kind == "op"] == ["exp", "sin", "tanh"]


def test_what_was_removed_reads_results_that_are_gone() -> None:
    whole = step("exp", saves=True).tensors("all")
    both = whole.diff(whole.phase("forward")).to_graph().verify()
    maker, reader = both.nodes[both.index_of["exp"]], both.nodes[both.index_of["exp:1.tensor"]]
    assert reader.inputs == maker.outputs[1:]
    assert marks(both)["exp:1.tensor"] == "removed"


def ranks(held: str, kind: NodeKind) -> Graph:
    """A graph of one rank, which another graph may take for a region of its own that holds no such node."""
    builder = GraphBuilder("Net", meta=(("level", "function"),))
    root, type_ = builder.scope("region", path="", cls="ranks"), builder.tensor_type((2,), "float32")
    lane = builder.scope("region", path="", cls=held, parent=root, name=held, attrs=(("rank", 0),))
    (x,) = builder.node(kind, parent=lane, name="w", results=[type_])
    builder.node("op", "exp", parent=lane, inputs=[x], results=[type_])
    builder.node("output", parent=lane, inputs=[x], name="y")
    return builder.build().verify()


@pytest.mark.parametrize("kind", ["input", "param"])
def test_what_a_removed_rank_held_lies_where_the_second_graph_may_hold_it(kind: NodeKind) -> None:
    builder = GraphBuilder("Net", meta=(("level", "function"),))
    root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2,), "float32")
    back = builder.scope("region", path="", cls="backward", parent=root, name="backward", phase="backward")
    builder.node("op", "sin", parent=back, results=[type_])
    check(ranks("rank 0", kind), builder.build().verify())


@pytest.mark.parametrize("name", TINY)
def test_the_union_with_itself_has_the_same_levels(name: str) -> None:
    graph = TINY[name]()
    both = graph.diff(graph).to_graph().level("function").verify()
    assert [node[4:7] for node in map(astuple, both.nodes)] == [
        node[4:7] for node in map(astuple, graph.level("function").nodes)
    ]
