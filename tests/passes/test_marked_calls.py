"""A diff that is collapsed still tells what changed, and which arrows were added and which were removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings

from tests.passes.samples import ended, started
from tests.strategies import any_graph
from trec.analysis.diff_graph import CHANGE, INSIDE, READ_BEFORE, READ_NOW

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def behind(*ops: str) -> Graph:
    """Return operators in a row, and a module that reads the last of them."""
    builder, type_, x = started("Net")
    for op in ops:
        (x,) = builder.node("op", op, parent=0, inputs=[x], results=[type_])
    head = builder.scope("module", path="head", cls="Head", parent=0)
    (y,) = builder.node("op", "linear", parent=head, inputs=[x], results=[type_])
    (y,) = builder.node("op", "tanh", parent=head, inputs=[y], results=[type_])
    return ended(builder, y)


def arrows(graph: Graph, name: str) -> dict[str, str]:
    """Return the operators that a node reads from, and in which of the two graphs alone it does."""
    node = graph.nodes[graph.index_of[name]]
    facts = graph.attrs_of(node)
    found = {}
    for port, value in enumerate(node.inputs):
        marks = [mark for mark in (READ_NOW, READ_BEFORE) if port in facts.get(mark, ())]  # type: ignore[operator]
        found[graph.nodes[graph.producers[value]].op] = " ".join(marks)
    return found


def test_a_closed_module_tells_what_it_reads_now_and_what_it_read_before() -> None:
    both = behind("conv2d").diff(behind("conv2d", "relu")).to_graph().collapse(depth=1).verify()
    assert arrows(both, "head") == {"relu": READ_NOW, "conv2d": READ_BEFORE}


def test_a_closed_module_that_reads_what_it_did_has_no_marks() -> None:
    both = behind("conv2d").diff(behind("relu")).to_graph().collapse(depth=1).verify()
    assert list(arrows(both, "head").values()) == [""]


def test_what_an_added_operator_reads_is_read_only_now() -> None:
    builder, type_, x = started("Net")
    (x,) = builder.node("op", "conv2d", parent=0, inputs=[x], results=[type_])
    (y,) = builder.node("op", "relu", parent=0, inputs=[x], results=[type_])
    head = builder.scope("module", path="head", cls="Head", parent=0)
    (z,) = builder.node("op", "linear", parent=head, inputs=[y], results=[type_])
    before = ended(builder, z)
    (z,) = builder.node("op", "add", parent=head, inputs=[x, z], results=[type_])
    after = ended(builder, z)
    assert CHANGE in dict(before.diff(after).to_graph().meta)
    both = before.diff(after).to_graph().collapse(depth=1).verify()
    assert arrows(both, "head") == {"relu": "", "conv2d": READ_NOW}


def within(*ops: str) -> Graph:
    """Return a module that holds one whose operators are given, and one that is always the same."""
    builder, type_, x = started("Net")
    outer = builder.scope("module", path="outer", cls="Outer", parent=0)
    inner = builder.scope("module", path="outer.inner", cls="Inner", parent=outer)
    for op in ops:
        (x,) = builder.node("op", op, parent=inner, inputs=[x], results=[type_])
    head = builder.scope("module", path="head", cls="Head", parent=0)
    for op in ("linear", "tanh"):
        (x,) = builder.node("op", op, parent=head, inputs=[x], results=[type_])
    return ended(builder, x)


def test_a_closed_module_tells_that_something_in_it_changed() -> None:
    both = within("relu", "exp").diff(within("gelu", "exp")).to_graph()
    for depth, told in ((1, {"outer": INSIDE, "head": None}), (2, {"outer.inner": INSIDE})):
        closed = both.collapse(depth=depth).verify()
        marks = {node.name: closed.attrs_of(node).get(CHANGE) for node in closed.nodes if node.kind == "module"}
        assert marks == told
        assert closed.collapse(depth=1) == both.collapse(depth=1)


def test_a_closed_module_that_was_added_is_no_more_than_added() -> None:
    both = behind().diff(within("relu")).to_graph().collapse(depth=1).verify()
    added = both.nodes[both.index_of["outer"]]
    assert both.attrs_of(both.scopes[added.scope])[CHANGE] == "added"
    assert CHANGE not in both.attrs_of(added)


@settings(max_examples=50)
@given(any_graph(), any_graph())
def test_a_union_that_is_collapsed_twice_is_as_if_it_were_collapsed_once(one: Graph, other: Graph) -> None:
    both = one.diff(other).to_graph()
    assert both.collapse(depth=2).collapse(depth=1).verify() == both.collapse(depth=1)
