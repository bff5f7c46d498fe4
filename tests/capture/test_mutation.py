"""Writes: every reader of the memory that was written lies behind the write, and no other does."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.capture.paths import Apply, check_function, connected, ends, record

pytestmark = pytest.mark.torch


def through_view(view: Any) -> Any:
    """Return a model that writes its second input into a view of a copy of its first."""

    def forward(x: Tensor, y: Tensor) -> Tensor:
        whole = x.clone()
        part = view(whole)
        part.copy_(y.reshape(-1)[: part.numel()].view(part.shape) + part)
        return whole

    return forward


VIEWS = {
    "column": lambda t: t[:, 0],
    "row": lambda t: t[1],
    "step": lambda t: t[::2, 1::2],
    "diagonal": lambda t: t.diagonal(),
    "transposed": lambda t: t.t(),
    "reshaped": lambda t: t.view(2, 8),
    "flat": lambda t: t.flatten(),
    "narrowed": lambda t: t.narrow(1, 1, 2),
    "selected": lambda t: t.select(0, 2),
    "unbound": lambda t: t.unbind(0)[3],
    "split": lambda t: t.split(2, 1)[1],
    "chunk": lambda t: torch.chunk(t, 2)[0],
    "strided": lambda t: t.as_strided((2, 2), (8, 2)),
    "unfolded": lambda t: t.unfold(0, 2, 2)[1],
    "squeezed": lambda t: t.unsqueeze(0).squeeze(0),
    "expanded": lambda t: t[:1].expand(1, 4),
    "permuted": lambda t: t.view(2, 2, 4).permute(2, 0, 1)[0],
    "detached": lambda t: t.detach(),
    "data": lambda t: t.data,
    "mirror": lambda t: t.mT,
    "movedim": lambda t: torch.movedim(t, 0, 1),
    "other dtype": lambda t: t.view(torch.int32).view(torch.float32)[0],
    "view of views": lambda t: t[1:].t()[2:].reshape(2, 3)[1, :2],
    "parameter": lambda t: nn.Parameter(t, requires_grad=False),
    "alias": lambda t: torch.ops.aten.alias.default(t),
}


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_a_write_through_a_view_reaches_the_whole(view: Any) -> None:
    graph = check_function(through_view(view), (4, 4), (4, 4))
    assert connected(graph, "input:0", "output:0")
    assert connected(graph, "input:1", "output:0")


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_a_write_to_the_whole_reaches_a_view_made_before(view: Any) -> None:
    def forward(x: Tensor, y: Tensor) -> Any:
        whole = x.clone()
        part = view(whole)
        whole.mul_(y)
        return part * 1

    check_function(forward, (4, 4), (4, 4))


def set_slice(x: Tensor, y: Tensor) -> Tensor:
    x = x * 1
    x[1:, :2] = y[1:, :2]
    return x


def set_by_mask(x: Tensor, y: Tensor) -> Tensor:
    x = x * 1
    x[x > 0] = y.sum()
    return x


def set_by_indices(x: Tensor, y: Tensor) -> Tensor:
    x = x * 1
    x[torch.tensor([0, 2]), torch.tensor([1, 1])] = y[0, :2]
    return x


def index_put(x: Tensor, y: Tensor) -> Tensor:
    x = x * 1
    x.index_put_((torch.tensor([0, 1]),), y[:2], accumulate=True)
    return x


def set_in_nested_slices(x: Tensor, y: Tensor) -> Tensor:
    x = x * 1
    x[1:][0][2:] = y[0, 2:]
    return x


def add_to_slice(x: Tensor, y: Tensor) -> Tensor:
    x = x * 1
    x[0] += y[0]
    return x


def set_ellipsis(x: Tensor, y: Tensor) -> Tensor:
    x = x * 1
    x[..., -1] = y[..., 0]
    return x


def set_in_slices_of_a_loop(x: Tensor, y: Tensor) -> Tensor:
    result = torch.zeros(4, 4)
    for row in range(4):
        result[row] = x[row] if row % 2 else y[row]
    return result


def masked_functions(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    a, b, c, d = x * 1, x * 2, x * 3, x * 4
    a.masked_fill_(y > 0, 3)
    b.masked_scatter_(x > 0, y)
    c.index_add_(0, torch.tensor([0]), y[:1])
    d.scatter_(0, torch.zeros(4, 4, dtype=torch.int64), y)
    return a, b, c, d


def more_functions(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    a, b, c, d = x * 1, x * 2, x * 3, x * 4
    a.index_copy_(0, torch.tensor([1]), y[:1])
    b.index_fill_(0, torch.tensor([1]), 2.0)
    c.addmm_(x, y)
    d.lerp_(y, 0.5)
    return a, b, c, d


def by_functional(x: Tensor, y: Tensor) -> Tensor:
    x = x * 1
    nn.functional.relu_(x)
    nn.functional.leaky_relu(x, 0.1, inplace=True)
    torch.sigmoid_(x)
    return x + y


def by_foreach(x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
    many = [x * 1, x * 2]
    torch._foreach_add_(many, [y, y])
    return tuple(many)


WRITES = [
    set_slice, set_by_mask, set_by_indices, index_put, set_in_nested_slices, add_to_slice, set_ellipsis,
    set_in_slices_of_a_loop, masked_functions, more_functions, by_functional, by_foreach,
]  # fmt: skip


@pytest.mark.parametrize("function", WRITES)
def test_a_write_in_place_takes_what_is_written_and_what_stood_there(function: Any) -> None:
    check_function(function, (4, 4), (4, 4))


def test_a_change_of_size_keeps_what_stood_there() -> None:
    graph = check_function(lambda x, y: (x * 1).resize_as_(torch.ones(2, 2)) + y[:2, :2], (4, 4), (4, 4))
    assert connected(graph, "input:0", "output:0")


@pytest.mark.parametrize("function", [set_slice, set_by_indices, set_ellipsis])
def test_a_call_that_writes_its_argument_yields_the_new_value_itself(function: Any) -> None:
    graph = record(Apply(function), torch.randn(4, 4), torch.randn(4, 4))
    node = graph.nodes[ends(graph, "op:__setitem__")[0]]
    assert graph.nodes[ends(graph, "output:0")[0]].inputs == node.outputs
    assert not ends(graph, "link:update")


# ---- what is overwritten is not read


def by_copy(x: Tensor, y: Tensor) -> Tensor:
    return (x * 2).copy_(y)


def by_fill(x: Tensor, y: Tensor) -> Tensor:
    return (x * 2).fill_(1) + y


def by_zero(x: Tensor, y: Tensor) -> Tensor:
    return (x * 2).zero_() + y


def by_random_numbers(x: Tensor, y: Tensor) -> Tensor:
    return (x * 2).normal_() + (x * 3).uniform_() + (x * 4).bernoulli_(0.5) + (x * 5).exponential_() + y


def by_out(x: Tensor, y: Tensor) -> Tensor:
    target = x * 2
    torch.add(y, 1, out=target)
    return target


def by_full_slice(x: Tensor, y: Tensor) -> Tensor:
    target = x * 2
    target[:] = y
    return target


def by_all_rows(x: Tensor, y: Tensor) -> Tensor:
    target = x * 2
    target.view(-1)[...] = y.view(-1)
    return target


def by_set(x: Tensor, y: Tensor) -> Tensor:
    target = x * 2
    target.set_(y * 1)  # type: ignore[call-overload]
    return target + 1


def by_data(x: Tensor, y: Tensor) -> Tensor:
    target = x * 2
    target.data = y * 3
    return target + 1


OVERWRITES = [by_copy, by_fill, by_zero, by_random_numbers, by_out, by_full_slice, by_all_rows, by_set, by_data]


@pytest.mark.parametrize("function", OVERWRITES)
def test_an_overwrite_does_not_read_its_target(function: Any) -> None:
    graph = check_function(function, (4, 4), (4, 4))
    assert not connected(graph, "input:0", "output:0")
    assert connected(graph, "input:1", "output:0")


@pytest.mark.parametrize("function", [torch.add, torch.mul, torch.maximum])
def test_an_argument_that_is_the_target_too_is_read(function: Any) -> None:
    def forward(x: Tensor, y: Tensor) -> Tensor:
        target = x * 1
        function(target, y, out=target)
        return target

    check_function(forward, (4,), (4,))
