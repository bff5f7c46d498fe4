from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.passes.samples import ended, param, started
from trec import OptionError
from trec.ir.collectives import Collective
from trec.ir.types import Carried

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph


def norm() -> Graph:
    """A normalisation that counts its batches, a result that nobody reads, and a number that leaves torch."""
    builder, type_, x = started("Net")
    inner = builder.scope("module", path="norm", cls="Norm", parent=0)
    idle = builder.scope("module", path="idle", cls="Idle", parent=0)
    weight = param(builder, inner, "norm.weight", (3,))
    count = builder.tensor_type((), "int64")
    (batches,) = builder.node("buffer", parent=inner, name="norm.count", results=[count])
    builder.node("op", "add_", parent=inner, inputs=[batches], results=[count])
    y, mean = builder.node("op", "norm", parent=inner, inputs=[x, weight], results=[type_] * 2)
    unused = param(builder, idle, "idle.weight", (3,))
    builder.node("op", "mul", parent=idle, inputs=[mean, unused], results=[type_])
    (z,) = builder.node("op", "mean", parent=0, inputs=[y], results=[count])
    builder.node("host", "item", parent=0, inputs=[z])
    builder.node("op", "assert_", parent=0, inputs=[z])
    return ended(builder, y)


def test_golden(golden: Callable[[str, str], None]) -> None:
    golden("prune-norm.txt", f"{norm()}\n---\n{norm().prune().verify()}\n")


def test_what_is_to_be_kept_stays_with_what_it_depends_on() -> None:
    kept = norm().prune(keep="op:add_").verify()
    assert {"norm.count", "norm.add_"} <= kept.index_of.keys()
    assert "idle.mul" not in kept.index_of
    assert norm().prune(keep="**") == norm()


def test_what_a_loop_carries_to_a_live_node_is_live() -> None:
    builder, type_, x = started("Net")
    (y,) = builder.node("op", "cell", parent=0, inputs=[x, x], results=[type_])
    (z,) = builder.node("op", "next", parent=0, inputs=[y], results=[type_])
    builder.node("op", "dead", parent=0, inputs=[z], results=[type_])
    graph = replace(ended(builder, y), carried=(Carried(z, 1, 1),))
    assert [node.name for node in graph.prune().verify().nodes] == ["x", "cell", "next", "output0"]


def test_a_wrong_selector_is_refused() -> None:
    with pytest.raises(OptionError, match=r"keep='op:ad_'.*did you mean 'add_'"):
        norm().prune(keep="op:ad_")


def test_a_write_into_what_a_step_made_goes_with_it() -> None:
    builder, type_, x = started("Net")
    (y,) = builder.node("op", "exp", parent=0, inputs=[x], results=[type_])
    builder.node("op", "mul_", parent=0, inputs=[y, x], results=[type_])
    (view,) = builder.node("op", "view", parent=0, inputs=[x], results=[type_])
    builder.node("op", "neg_", parent=0, inputs=[view], results=[type_])
    assert [node.name for node in ended(builder, x).prune().nodes] == ["x", "view", "neg_", "output0"]


def test_what_ranks_communicate_stays() -> None:
    builder, type_, x = started("Net")
    row = Collective("all_reduce", (0, 1), "0", 0, 24, "sum").row()
    builder.node("op", "all_reduce", parent=0, inputs=[x], results=[type_], attrs=row)
    assert "all_reduce" in ended(builder, x).prune().index_of
