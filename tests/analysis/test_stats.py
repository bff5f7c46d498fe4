from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.passes import samples
from tests.passes.samples import ended, param, started
from tests.strategies import any_graph, repeating
from trec import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph


def test_stats_of_blocks(golden: Callable[[str, str], None]) -> None:
    graph = samples.blocks()
    golden("stats-blocks.txt", f"{graph.stats()}\n")
    golden("stats-experts-folded.txt", f"{samples.experts().fold().stats()}\n")
    assert graph.stats().by_op == (("linear", 4), ("__add__", 2))
    assert graph.stats().rows()[1]["name"] == "layers.0"


@settings(max_examples=300)
@given(repeating(), st.integers(0, 3))
def test_sums_do_not_change_when_a_graph_is_folded_or_collapsed(graph: Graph, depth: int) -> None:
    before = graph.stats()
    for after in (
        graph.fold().stats(),
        graph.collapse(depth=depth).stats(),
        graph.fold().collapse(depth=depth).stats(),
    ):
        assert (after.ops, after.params, after.param_bytes) == (before.ops, before.params, before.param_bytes)


@given(any_graph())
def test_every_analysis_takes_every_graph(graph: Graph) -> None:
    results = (
        graph.stats(), graph.parameters(), graph.memory(), graph.islands(), graph.repeats(),
        graph.critical_path(), graph.critical_path("flops"),
    )  # fmt: skip
    for result in results:
        assert str(result)
        assert all(type(row) is dict for row in result.rows())
    assert graph.aliases().rows() is not None


def test_a_shared_parameter_is_one_parameter() -> None:
    found = samples.blocks().parameters()
    (shared,) = found.shared
    assert (shared.name, shared.users) == ("shared.weight", ("layers.0.head.linear", "layers.1.head.linear"))
    assert shared.modules == ("layers.0.head", "layers.1.head")
    assert (shared.type, shared.elements, shared.bytes) == ("f16[3,3]", 9, 18)
    folded = samples.stages().fold().parameters()
    assert (folded.parameters[0].name, folded.parameters[0].times) == ("stages.0.0.weight", 3)


def test_the_critical_path_by_count_and_by_flops() -> None:
    builder, type_, x = started("Net")
    y = x
    for _ in range(3):
        (y,) = builder.node("op", "relu", parent=0, inputs=[y], results=[type_])
    (z,) = builder.node("op", "mm", parent=0, inputs=[x], results=[type_], attrs=(("flops", 100),))
    graph = ended(builder, y, z)
    assert [stop.node for stop in graph.critical_path().stops] == ["x", "relu", "relu_1", "relu_2"]
    assert graph.critical_path().total == 3
    assert [stop.node for stop in graph.critical_path("flops").stops] == ["x", "mm"]
    assert (graph.stats().depth, graph.stats().width) == (3, 2)
    with pytest.raises(OptionError, match="'count', 'flops', not 'time'"):
        graph.critical_path("time")  # type: ignore[arg-type]


def test_a_folded_chain_is_as_long_as_before() -> None:
    assert samples.stages().fold().critical_path().total == samples.stages().critical_path().total == 12


def recurrent(steps: int) -> Graph:
    """A loop: each step reads an item of its own, and what the step before made; all results are stacked."""
    builder, type_, x = started("Net")
    made: list[int] = []
    state = x
    for number in range(steps):
        (item,) = builder.node("op", "__getitem__", parent=0, inputs=[x], results=[type_], attrs=(("key", number),))
        (state,) = builder.node("op", "cell", parent=0, inputs=[item, state], results=[type_])
        made += builder.node("op", "out", parent=0, inputs=[state], results=[type_])
    return ended(builder, *builder.node("op", "stack", parent=0, inputs=made, results=[type_]))


def test_what_each_iteration_does_beside_the_others_is_on_no_long_path() -> None:
    graph = recurrent(20)
    folded = graph.fold()
    assert len(folded.nodes) == 6
    assert folded.critical_path().total == graph.critical_path().total == 23
    assert [(stop.node, stop.weight) for stop in folded.critical_path().stops] == [
        ("x", 0), ("__getitem__", 1), ("cell", 20), ("out", 1), ("stack", 1),
    ]  # fmt: skip


@settings(max_examples=200)
@given(repeating())
def test_folding_makes_no_path_shorter(graph: Graph) -> None:
    assert graph.fold().critical_path().total >= graph.critical_path().total


def test_calls_that_stand_for_too_many_steps_are_refused() -> None:
    graph = recurrent(3).fold()
    scopes = tuple(
        [replace(scope, repeats=("again",) * 10_000_000) if scope.repeats else scope for scope in graph.scopes]
    )
    with pytest.raises(OptionError, match=r"30,000,006 steps, expected at most 10,000,000"):
        replace(graph, scopes=scopes).critical_path()


def test_islands_end_where_the_element_type_changes() -> None:
    builder, type_, x = started("Net")
    half = builder.tensor_type((2, 3), "float16")
    (y,) = builder.node("op", "relu", parent=0, inputs=[x], results=[type_])
    (z,) = builder.node("op", "half", parent=0, inputs=[y], results=[half])
    (z,) = builder.node("op", "exp", parent=0, inputs=[z], results=[half])
    (w,) = builder.node("op", "float", parent=0, inputs=[z], results=[type_])
    (y,) = builder.node("link", "update", parent=0, inputs=[y], results=[type_])
    (w,) = builder.node("op", "add", parent=0, inputs=[w, y], results=[type_])
    found = [(island.dtype, island.steps, island.first) for island in ended(builder, w).islands().islands]
    assert found == [("float32", 3, "relu"), ("float16", 2, "half")]


def test_writes_in_place_and_who_sees_them() -> None:
    builder, type_, x = started("Net")
    weight = param(builder, 0, "w", (2, 3))
    (y,) = builder.node("op", "relu", parent=0, inputs=[x], results=[type_])
    (row,) = builder.node("op", "__getitem__", parent=0, inputs=[y], results=[type_])
    (row,) = builder.node("op", "add_", parent=0, inputs=[row, weight], results=[type_])
    (z,) = builder.node("link", "update", parent=0, inputs=[y, row], results=[type_])
    (w,) = builder.node("op", "aten.mul_.Tensor", parent=0, inputs=[weight, z], results=[type_])
    (v,) = builder.node("op", "exp", parent=0, inputs=[y], results=[type_])
    found = ended(builder, w, v).aliases()
    assert found.storages == (("w", "aten.mul_.Tensor"), ("relu", "__getitem__", "add_", "update"))
    assert [(write.node, write.into, write.kind, write.seen_by) for write in found.writes] == [
        ("add_", "relu", "result", ("relu",)),
        ("aten.mul_.Tensor", "w", "param", ()),
    ]
    assert found.hazards == found.writes


def test_what_overwrites_does_not_write_into_what_it_reads() -> None:
    builder, type_, x = started("Net")
    weight = param(builder, 0, "w", (2, 3))
    (y,) = builder.node("op", "copy_", parent=0, inputs=[x], results=[type_])
    (z,) = builder.node("op", "aten.fill_.Scalar", parent=0, results=[type_])
    (part,) = builder.node("op", "copy_", parent=0, inputs=[y], results=[type_])
    (w,) = builder.node("link", "update", parent=0, inputs=[weight, part], results=[type_])
    found = ended(builder, y, z, w).aliases()
    assert [(write.node, write.into, write.kind) for write in found.writes] == [
        ("copy_", "copy_", "unread"),
        ("aten.fill_.Scalar", "aten.fill_.Scalar", "unread"),
        ("copy__1", "w", "param"),
    ]
    assert [write.node for write in found.hazards] == ["copy__1"]


def test_what_returns_its_input_shares_memory() -> None:
    builder, type_, x = started("Net")
    (x,) = builder.node("op", "exp", parent=0, inputs=[x], results=[type_])
    off, on = (("p", 0.5), ("training", False)), (("p", 0.5), ("training", True))
    (x,) = builder.node("op", "dropout", parent=0, inputs=[x], results=[type_], attrs=off)
    parts = builder.node("op", "aten.unsafe_split.Tensor", parent=0, inputs=[x], results=[type_, type_])
    builder.node("op", "dropout", parent=0, inputs=[x], results=[type_], attrs=on)
    found = ended(builder, *parts).aliases()
    assert found.storages == (("exp", "dropout", "aten.unsafe_split.Tensor:0", "aten.unsafe_split.Tensor:1"),)


def test_where_alike_blocks_differ_is_said(golden: Callable[[str, str], None]) -> None:
    golden("repeats-stages.txt", f"{samples.stages().repeats()}\n---\n{samples.experts().repeats()}\n")
    assert [(item.one, item.other) for item in samples.stages().repeats().differences] == [
        ("stages.0", "stages.1"),
        ("stages.1.1", "stages.1.2"),
    ]
