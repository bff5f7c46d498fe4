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
@pytest.mark.parametrize("name", ["mlp", "convolutions", "encoder", "residual", "experts", "skip", "hoarder"])
@pytest.mark.parametrize("level", ["aten", "function"])
def test_the_peak_of_a_recording_with_costs_is_exact(name: str, level: Any) -> None:
    torch = pytest.importorskip("torch")
    from tests.analysis.measured import MODELS, measured_peak

    torch.manual_seed(0)
    model, shape = MODELS[name]()
    with torch.no_grad():
        graph: Any = trec.capture(model, shape, level=level, costs=True)
        measured = measured_peak(model, torch.randn(shape))
        plain: Any = trec.capture(model, shape, level=level)
    assert graph.memory().peak == measured
    assert plain.memory().peak == measured


@pytest.mark.torch
def test_how_long_memory_was_there_is_known_after_passes_and_not_kept_in_files(tmp_path: Any) -> None:
    torch = pytest.importorskip("torch")
    from tests.analysis.measured import MODELS

    model, shape = MODELS["hoarder"]()
    with torch.no_grad():
        graph: Any = trec.capture(model, shape, level="aten", costs=True)
    peak = graph.memory().peak
    assert [row.bytes for row in graph.rename(lambda row: row.name.upper()).lifetimes] == [
        row.bytes for row in graph.lifetimes
    ]  # fmt: skip
    for passed in (graph.rename(lambda row: row.name.upper()), graph.level("function"), graph.hide("kind:param")):
        assert passed.memory().peak == peak
    assert graph.collapse(depth=0).memory().peak < peak
    graph.save(tmp_path / "graph.trec")
    assert trec.load(tmp_path / "graph.trec").lifetimes == ()
    assert trec.load(tmp_path / "graph.trec") == graph


@pytest.mark.torch
def test_memory_that_has_no_address_is_not_followed() -> None:
    torch = pytest.importorskip("torch")

    class Sparse(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, x: Any) -> Any:
            return torch.relu(x).to_sparse()

    with torch.no_grad():
        graph: Any = trec.capture(Sparse(), (2, 3), costs=True)
    assert graph.lifetimes == ()
    assert graph.memory().peak >= 24


@pytest.mark.torch
def test_what_autograd_saves_is_there_until_it_runs_backward() -> None:
    torch = pytest.importorskip("torch")

    model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Tanh()) for _ in range(4)])
    with torch.no_grad():
        alone: Any = trec.capture(model, (32, 64), costs=True)
    step: Any = trec.capture(model, (32, 64), costs=True, backward=True)
    result = 32 * 64 * 4
    assert alone.memory().peak == 3 * result
    assert step.memory().peak >= 5 * result
    without_backward: Any = trec.capture(model, (32, 64), costs=True)
    assert without_backward.memory().peak == 3 * result
    forward: Any = step.phase("forward")
    assert forward.lifetimes == ()
    assert forward.memory().peak <= 3 * result


@pytest.mark.torch
@pytest.mark.parametrize("name", ["mlp", "convolutions", "encoder", "residual", "experts", "skip"])
def test_the_peak_is_near_what_was_measured(name: str) -> None:
    torch = pytest.importorskip("torch")
    from tests.analysis.measured import MODELS, measured_peak

    torch.manual_seed(0)
    model, shape = MODELS[name]()
    with torch.no_grad():
        graph: Any = trec.capture(model, shape, level="aten")
        measured = measured_peak(model, torch.randn(shape))
    assert abs(graph.memory().peak - measured) <= 0.05 * measured
