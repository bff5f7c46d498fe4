"""Wide, long and deep models: recorded whole, without recursion, in time that grows with their size."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply, connected, ends, flow, ops

pytestmark = pytest.mark.torch


def test_a_loop_of_three_thousand_steps() -> None:
    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.Linear(2, 2)

        def forward(self, x: Tensor) -> Any:
            for _ in range(3000):
                x = torch.tanh(self.cell(x))
            return x

    with torch.no_grad():
        graph = trec.capture(Loop(), (1, 2)).verify()
    assert len(ops(graph)) == 6000
    assert graph.scopes[-1].call == 2999
    assert flow(graph) == {(end, "output:0") for end in ("input:0", "param:cell.weight", "param:cell.bias")}


def test_two_thousand_layers() -> None:
    net = nn.Sequential(*[nn.Linear(2, 2) for _ in range(2000)])
    with torch.no_grad():
        graph = trec.capture(net, (1, 2)).verify()
    assert len(graph.scopes) == 2001
    assert len(ends(graph, "param:")) == 4000
    assert connected(graph, "param:0.weight", "output:0")


def test_fifteen_hundred_branches_and_results() -> None:
    def forward(x: Tensor) -> Any:
        parts = [x * index for index in range(1500)]
        return torch.stack(parts).sum(0), parts

    graph = trec.capture(Apply(forward), (2,)).verify()
    assert len(ends(graph, "output:")) == 1501
    node = graph.nodes[ends(graph, "op:stack")[0]]
    assert len(node.inputs) == 1500


def test_thousands_of_inputs() -> None:
    batch = {f"k{index}": [torch.ones(1)] for index in range(3000)}
    graph = trec.capture(Apply(lambda b: sum(item[0] for item in b.values())), args=(batch,)).verify()
    assert len(ends(graph, "input:")) == 3000
    assert connected(graph, "input:2999", "output:0")


def row_writes(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        whole = torch.zeros(steps, 4)
        for row in range(steps):
            whole[row] = x
        return whole

    return forward


def view_writes(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        views = list(torch.zeros(steps, 4))
        for view in views:
            view.add_(x)
        return torch.stack(views)

    return forward


def whole_writes_and_view_reads(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        whole = torch.zeros(8, 4)
        view, total = whole[0], x
        for _ in range(steps):
            whole.add_(x)
            total = total + view
        return total

    return forward


def cache_of_keys(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        cache, total = torch.zeros(steps, 4), x
        for step in range(steps):
            cache[step] = x
            total = total + cache[: step + 1].sum(0)
        return total

    return forward


def plain_steps(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        for _ in range(steps):
            x = x * 2
        return x

    return forward


def growing_result(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        kept: list[Tensor] = []
        for _ in range(steps):
            kept.append(x.view(2, 2))
        return kept

    return forward


@pytest.mark.parametrize(
    "make", [plain_steps, row_writes, view_writes, whole_writes_and_view_reads, cache_of_keys, growing_result]
)
def test_long_loops_of_writes_and_views_are_recorded_whole(make: Any) -> None:
    with torch.no_grad():
        graph = trec.capture(Apply(make(300)), args=(torch.ones(4),)).verify()
    assert len(graph.nodes) > 300


@pytest.mark.xfail(strict=True, reason="a list that is handed on has a link for each tensor and call")
def test_a_list_that_is_handed_on_grows_no_faster_than_its_steps() -> None:
    class Cell(nn.Module):
        def forward(self, x: Tensor, kept: list[Tensor]) -> Any:
            kept.append(x * 2)
            return x + 1, kept

    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = Cell()

        def forward(self, x: Tensor) -> Any:
            kept: list[Tensor] = []
            for _ in range(200):
                x, kept = self.cell(x, kept)
            return x, torch.stack(kept)

    assert len(trec.capture(Loop(), (2,)).values) < 3000
