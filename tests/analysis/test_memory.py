from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import trec
from tests.passes.samples import ended, param, started
from trec.ir.types import Source

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def chain(*ops: str) -> Graph:
    """Operators one after the other, each on 24 bytes."""
    builder, type_, x = started("Net")
    for op in ops:
        (x,) = builder.node("op", op, parent=0, inputs=[x], results=[type_])
    return ended(builder, x)


@pytest.mark.parametrize(
    ("graph", "peak", "node"),
    [
        (chain("relu"), 24, "relu"),
        (chain("relu", "exp", "neg"), 48, "exp"),
        (chain("relu", "relu_", "view"), 24, "relu"),
        (chain("relu", "t", "exp"), 48, "exp"),
        (chain(), 0, ""),
    ],
)
def test_peak(graph: Graph, peak: int, node: str) -> None:
    found = graph.memory()
    assert (found.peak, found.node) == (peak, node)


def test_what_comes_from_outside_does_not_count_and_results_live_to_the_end() -> None:
    builder, type_, x = started("Net")
    weight = param(builder, 0, "w", (1000, 1000))
    (y,) = builder.node("op", "mul", parent=0, inputs=[x, weight], results=[type_])
    (z,) = builder.node("op", "exp", parent=0, inputs=[x], results=[type_])
    (z,) = builder.node("op", "neg", parent=0, inputs=[z], results=[type_])
    found = ended(builder, y, z).memory()
    assert (found.peak, found.node) == (72, "neg")
    assert [live.name for live in found.live] == ["mul", "exp", "neg"]


def test_a_module_holds_what_it_is_given_until_it_returns() -> None:
    builder, type_, x = started("Net")
    (y,) = builder.node("op", "exp", parent=0, inputs=[x], results=[type_])
    inner = builder.scope("module", path="inner", cls="Inner", parent=0)
    for _ in range(3):
        (y,) = builder.node("op", "relu", parent=inner, inputs=[y], results=[type_])
    found = ended(builder, y).memory()
    assert (found.peak, found.node) == (72, "inner.relu_1")
    assert found.ranges[0].last == 4


@pytest.mark.parametrize(
    ("lines", "last"),
    [
        ((1, 2, 2, 3), 3),
        ((1, 2, 3, 4), 2),
        ((1, 1, 1, 1), 2),
    ],
)
def test_a_variable_holds_what_it_has_until_the_statement_that_reads_it_has_ended(
    lines: tuple[int, ...], last: int
) -> None:
    builder, type_, x = started("Net")
    for op, line in zip(("exp", "cat", "conv", "relu"), lines, strict=True):
        (x,) = builder.node("op", op, parent=0, inputs=[x], results=[type_], source=Source("net.py", line))
    found = ended(builder, x).memory()
    assert (found.ranges[0].name, found.ranges[0].last) == ("exp", last)


def test_a_line_that_does_the_same_twice_may_be_a_loop() -> None:
    builder, type_, x = started("Net")
    for op, line in (("exp", 1), ("conv", 2), ("relu", 2), ("conv", 2), ("tanh", 3)):
        (x,) = builder.node("op", op, parent=0, inputs=[x], results=[type_], source=Source("net.py", line))
    assert [live.last for live in ended(builder, x).memory().ranges] == [2, 3, 4, 5, 6]


@pytest.mark.torch
@pytest.mark.parametrize("name", ["mlp", "convolutions", "encoder", "residual", "experts", "skip"])
def test_the_peak_is_what_was_measured(name: str) -> None:
    torch = pytest.importorskip("torch")
    from tests.analysis.measured import MODELS, measured_peak

    torch.manual_seed(0)
    model, shape = MODELS[name]()
    with torch.no_grad():
        graph: Any = trec.capture(model, shape, level="aten")
        measured = measured_peak(model, torch.randn(shape))
    assert abs(graph.memory().peak - measured) <= 0.05 * measured
