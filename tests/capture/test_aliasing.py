"""What shares memory with what: disjoint parts stay apart, and the model's own tensors are written like any other."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.capture.paths import Apply, check, check_function, connected, ends, flow, ops, record

pytestmark = pytest.mark.torch


# ---- disjoint parts of one storage


@pytest.mark.parametrize("size", [4, 200])
@pytest.mark.parametrize(
    ("written", "read"),
    [
        (lambda t: t[0], lambda t: t[1]),
        (lambda t: t[:, 0], lambda t: t[:, 1]),
        (lambda t: t[:2, :2], lambda t: t[2:, 2:]),
        (lambda t: t[::2], lambda t: t[1::2]),
        (lambda t: t[:, ::2], lambda t: t[:, 1::2]),
    ],
    ids=["rows", "columns", "blocks", "every other row", "every other column"],
)
def test_disjoint_parts_are_not_connected(written: Any, read: Any, size: int) -> None:
    def forward(y: Tensor) -> tuple[Tensor, Tensor]:
        whole = torch.zeros(size, size)
        one, other = written(whole), read(whole)
        one.add_(y)
        return other * 1, one * 1

    graph = check_function(forward, (1,))
    assert not connected(graph, "input:0", "output:0")
    assert connected(graph, "input:0", "output:1")


def test_writes_to_rows_meet_in_the_whole_and_stay_apart_in_the_rows() -> None:
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        whole = torch.zeros(3, 4)
        first, second, third = whole.unbind()
        first.copy_(x)
        second.add_(y)
        return first + 1, second + 1, third + 1, whole + 1

    graph = check_function(forward, (4,), (4,))
    assert not connected(graph, "input:1", "output:0")


@pytest.mark.parametrize("parts", [lambda t: t.split(2), lambda t: t.chunk(2), lambda t: t.unbind()])
def test_every_part_taken_after_a_write_is_read_after_it(parts: Any) -> None:
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        whole = x.clone()
        whole[-1].mul_(y)
        return tuple(part * 1 for part in parts(whole))

    graph = record(Apply(forward), torch.randn(4, 3), torch.randn(3))
    assert connected(graph, "input:1", f"output:{len(ends(graph, 'output:')) - 1}")


def test_an_element_that_was_not_written_is_not_connected_through_its_row() -> None:
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        whole = x.clone()
        whole.diagonal().copy_(y)
        return whole[0, 1] * 1, whole[0, 0] * 1

    graph = record(Apply(forward), torch.randn(3, 3), torch.randn(3))
    assert not connected(graph, "input:1", "output:0")
    assert connected(graph, "input:1", "output:1")


def test_blocks_of_a_memory_that_was_filled_by_blocks_are_read_alone() -> None:
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        whole = torch.empty(2, 6, 4)
        whole[:, 1:, 2:] = x[:, 1:, 2:]
        whole[:, 0, 2:] = y[:, 0, 2:]
        return whole[:, 1:, 2:] * 1, whole[:, :1, 2:] * 1

    graph = record(Apply(forward), torch.randn(2, 6, 4), torch.randn(2, 6, 4))
    assert flow(graph) == {("input:0", "output:0"), ("input:1", "output:1")}


def test_a_view_stays_on_the_path_when_its_memory_is_written_in_part() -> None:
    def forward(x: Tensor, y: Tensor) -> Tensor:
        whole = x * 2
        flat = whole.view(-1)
        whole[0] = y
        return flat * 1

    graph = record(Apply(forward), torch.randn(3, 3), torch.randn(3))
    assert connected(graph, "op:view", "output:0")


def test_another_form_given_in_place_is_no_write() -> None:
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
        whole = x.clone()
        row = whole[0]
        whole.t_().unsqueeze_(0)
        whole[0, :, 1] = y
        whole.squeeze_(0).transpose_(0, 1)
        return row * 1, whole[0] * 1, whole

    graph = record(Apply(forward), torch.randn(3, 3), torch.randn(3))
    assert flow(graph) == {("input:0", "output:0"), ("input:0", "output:1"), *[
        (f"input:{index}", "output:2") for index in range(2)
    ]}  # fmt: skip
    for op in ("t_", "unsqueeze_", "squeeze_", "transpose_"):
        assert connected(graph, f"op:{op}", "output:2")


# ---- the model's own tensors


def test_a_write_to_the_input_is_read_afterwards() -> None:
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        x.mul_(y)
        x[0] = 1
        return x, x + 1

    graph = check_function(forward, (3, 2), (3, 2))
    assert ops(graph) == ["mul_", "__setitem__", "add"]


def test_copies_into_buffers_are_read_afterwards() -> None:
    def forward(net: Any, x: Tensor) -> Tensor:
        net.running.copy_(x.mean(0))
        net.history[1:] = net.history[:-1].clone()
        net.history[0] = x[0]
        total: Tensor = net.running + net.history.sum(0)
        return total

    graph = check_function(forward, (3, 2), running=(2,), history=(3, 2))
    assert not ends(graph, "buffer:running")  # overwritten before anything reads it
    assert connected(graph, "buffer:history", "output:0")


def test_an_alias_in_an_attribute_or_a_list_is_written_too() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.kept: list[Tensor] = []

        def forward(self, x: Tensor, y: Tensor) -> Tensor:
            whole = x * 1
            self.part = whole[0]
            self.kept.append(whole[1])
            self.part.add_(y[0])
            self.kept[-1].mul_(y[1])
            return whole

    check(lambda: (Net(), (torch.randn(2, 3), torch.randn(2, 3))))


def test_batch_statistics_are_written_in_training_only() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = nn.BatchNorm1d(3)

        def forward(self, x: Tensor) -> tuple[Tensor, Any]:
            return self.norm(x), self.norm.running_mean + 1  # type: ignore[operator]

    for training in (True, False):
        graph = record(Net().train(training), torch.randn(4, 3))
        assert connected(graph, "input:0", "output:1") is training
        assert connected(graph, "buffer:norm.running_mean", "output:1")


def test_a_view_is_written_after_its_base_was_forgotten() -> None:
    def forward(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        one, other = (x * 1)[0], (x * 2)[1]
        one.add_(y[0])
        return one, other

    check_function(forward, (2, 3), (2, 3))


def test_many_writes_make_one_link_for_the_reader() -> None:
    def forward(x: Tensor) -> Tensor:
        rows = [x[index] for index in range(50)]
        whole = torch.zeros(50, 3)
        parts = list(whole)
        for part, row in zip(parts, rows, strict=True):
            part.copy_(row)
        return whole + 1

    graph = check_function(forward, (50, 3))
    assert len(ends(graph, "link:")) == 1


class Together(nn.Module):
    """Holds two halves of one storage, writes a part of the second, and reads both."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        whole = torch.arange(16.0).view(4, 4)
        for name, half in (("one", whole[:2]), ("other", whole[2:])):
            if kind == "params":
                self.register_parameter(name, nn.Parameter(half))
            else:
                self.register_buffer(name, half)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        with torch.no_grad():
            before = self.get_parameter("one") * 1 if self._parameters else self.get_buffer("one") * 1
            other = dict(self.named_parameters()).get("other", dict(self.named_buffers()).get("other"))
            assert other is not None
            other[0].add_(x)
            return before, other * 1, other[1] * 1, other.data[1] * 1


@pytest.mark.parametrize("kind", ["params", "buffers"])
def test_what_shares_a_storage_and_is_written_in_part_keeps_its_own_name(kind: str) -> None:
    check(lambda: (Together(kind), (torch.ones(4),)))


@pytest.mark.parametrize("rows", [4, 600])
def test_inputs_of_one_storage_that_are_written_in_part_stay_apart(rows: int) -> None:
    def forward(a: Tensor, b: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        b[0].add_(x)
        return a * 1, b * 1, b[1] * 1

    def build() -> tuple[nn.Module, tuple[Tensor, ...]]:
        whole = torch.arange(rows * 4.0).view(rows, 4)
        return Apply(forward), (whole[:, :2], whole[:, 2:], torch.ones(2))

    check(build, whole_calls=False)


def test_a_part_read_past_the_names_of_a_storage_is_that_of_the_one_that_lies_there() -> None:
    class Past(Together):
        def forward(self, x: Tensor) -> tuple[Tensor, ...]:
            return (self.get_buffer("other").data * x,)

    graph = check(lambda: (Past("buffers"), (torch.ones(4),)))
    assert not ends(graph, "buffer:one")
