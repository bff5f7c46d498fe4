"""Wide, long and deep models: recorded whole, without recursion, in time that grows with their size."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply, connected, ends, flow, flow_by_experiment, ops, record

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


def cache_of_living_views(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        cache, views = torch.zeros(2, steps, 4), []
        for step in range(steps):
            cache[:, step] = x
            views.append(cache[:, : step + 1])
        return [view.sum() for view in views]

    return forward


def column_writes(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        whole = torch.zeros(300, steps)
        for column in whole.unbind(1):
            column.add_(x.sum())
        return whole

    return forward


def columns_of_the_last(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        whole = torch.zeros(300, steps) + x.sum()
        for step in range(1, steps):
            whole[:, step] = whole[:, step - 1] + 1
        return whole

    return forward


def arrays_that_live(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        held = [((y := x + step), y.numpy()) for step in range(steps)]
        for y, _ in held:
            x = x + y
        return x

    return forward


def memory_of_others(steps: int) -> Any:
    arrays = [np.ones(4, np.float32) for _ in range(steps)]

    def forward(x: Tensor) -> Any:
        held = [torch.from_numpy(array) for array in arrays]
        for y in held:
            y.add_(1)
        return sum(held, x)

    return forward


def views_of_the_whole(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        whole = torch.zeros(8, 4)
        views = [whole[:] for _ in range(steps)]
        for view in views:
            view[0].add_(x)
        return [view * 1 for view in views]

    return forward


def ring(steps: int) -> Any:
    def forward(x: Tensor) -> Any:
        whole = torch.zeros(20, 4)
        for step in range(steps):
            whole[step % 20] = x
            x = x + whole.sum(0)
        return x

    return forward


def lines_run(make: Any, steps: int) -> tuple[int, int]:
    """Return how many lines of the recorder ran, and how many edges there are."""
    count = 0

    def inside(*_: Any) -> Any:
        nonlocal count
        count += 1
        return inside

    def enter(frame: Any, *_: Any) -> Any:
        return inside if "capture" in frame.f_code.co_filename and "trec" in frame.f_code.co_filename else None

    before = sys.gettrace()
    with torch.no_grad():
        sys.settrace(enter)
        try:
            graph = trec.capture(Apply(make(steps)), args=(torch.ones(4),))
        finally:
            sys.settrace(before)
    return count, sum(len(node.inputs) for node in graph.nodes)


@pytest.mark.parametrize(
    "make", [row_writes, view_writes, whole_writes_and_view_reads, cache_of_keys, views_of_the_whole, ring,
        cache_of_living_views, column_writes, columns_of_the_last, arrays_that_live, memory_of_others],
)  # fmt: skip
def test_work_and_edges_grow_as_the_steps_do(make: Any) -> None:
    (less, few), (more, many) = lines_run(make, 100), lines_run(make, 300)
    assert more < 4.5 * less
    assert many < 4.5 * few


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


class Keeps(nn.Module):
    """Hands a list on, and does one more thing to it."""

    def __init__(self, change: Any) -> None:
        super().__init__()
        self.change = change

    def forward(self, x: Tensor, kept: Any) -> Any:
        kept = self.change(kept, x * 2) or kept
        return x + 1, kept


CHANGES: dict[str, Any] = {
    "appended": lambda kept, x: kept.append(x),
    "put in front": lambda kept, x: kept.insert(0, x),
    "taken out": lambda kept, x: (kept.append(x), len(kept) > 36 and kept.pop(0))[2:],
    "replaced": lambda kept, x: (kept.append(x), kept.__setitem__(0, x * 3))[2:],
    "written": lambda kept, x: (kept.append(x), kept[len(kept) // 2].mul_(2))[2:],
    "twice": lambda kept, x: (kept.append(x), kept.append(x))[2:],
    "copied": lambda kept, x: [*kept, x],
    "pairs": lambda kept, x: [*kept, (x, x + 1)],
    "turned round": lambda kept, x: (kept.append(x), kept.reverse())[2:],
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("cells", [13, 40], ids=["short", "long"])
def test_lists_that_are_handed_on_keep_what_flows_through_them(change: Any, cells: int) -> None:
    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells = nn.ModuleList([Keeps(change) for _ in range(cells)])

        def forward(self, x: Tensor, y: Tensor) -> Any:
            kept: Any = []
            for index, cell in enumerate(self.cells):
                _, kept = cell(y if index == 11 else x, kept)
            return kept

    def build() -> Any:
        return Loop(), (torch.ones(2), torch.ones(2))

    net, args = build()
    graph = record(net, *args)
    # Nothing is missing. There may be more: what a call handed on of a long list is one node, so all of it meets there.
    true, drawn = flow_by_experiment(build), flow(graph)
    assert true <= drawn
    assert cells > 13 or true == drawn
    assert graph.level("module").verify().nodes


def test_a_list_lies_on_the_path_of_all_calls_that_handed_it_on() -> None:
    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cells = nn.ModuleList([Keeps(CHANGES["appended"]) for _ in range(40)])

        def forward(self, x: Tensor) -> Any:
            kept: list[Tensor] = []
            for cell in self.cells:
                _, kept = cell(x, kept)
            return kept[0] + kept[38]

    graph = trec.capture(Loop(), (2,)).verify()
    for index in range(39):
        assert connected(graph, f"module:cells.{index}", "output:0")
    assert connected(graph, "module:cells.39", "output:0")
