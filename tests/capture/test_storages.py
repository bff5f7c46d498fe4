"""Memory reached past tensors: storages, copies of objects, arrays of numpy, and addresses that are used again."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from tests.capture.paths import check_function, connected

pytestmark = pytest.mark.torch


def made_of_storage(x: Tensor, y: Tensor) -> Any:
    whole = x.clone()
    other = torch.empty(0).set_(whole.untyped_storage(), 0, (4, 4), (4, 1))
    other.mul_(y)
    return whole


def copied_shallowly(x: Tensor, y: Tensor) -> Any:
    whole = x * 1
    other = copy.copy(whole)
    whole.add_(y)
    return other


def copied_deeply(x: Tensor, y: Tensor) -> Any:
    whole = x * 1
    other = copy.deepcopy(whole)
    whole.add_(y)
    return other, whole


def written_after_it_was_shared(x: Tensor, y: Tensor) -> Any:
    whole = x * 2
    array = whole.numpy()
    whole.add_(y)
    return torch.from_numpy(array) * 1


def one_array_twice(x: Tensor, y: Tensor) -> Any:
    array = np.zeros((4, 4), np.float32)
    torch.from_numpy(array).copy_(x)
    return torch.from_numpy(array) * y


def row_of_an_array(x: Tensor, y: Tensor) -> Any:
    array = np.zeros((4, 4), np.float32)
    torch.from_numpy(array).copy_(x)
    return torch.from_numpy(array[1]) * y


def tensor_is_gone(x: Tensor, y: Tensor) -> Any:
    array = (x * 2).numpy()
    return torch.from_numpy(array) * y


@pytest.mark.parametrize(
    "function",
    [
        made_of_storage,
        copied_shallowly,
        copied_deeply,
        written_after_it_was_shared,
        one_array_twice,
        row_of_an_array,
        tensor_is_gone,
    ],
)
def test_memory_reached_past_tensors_is_followed(function: Any) -> None:
    graph = check_function(function, (4, 4), (4, 4), whole_calls=False)
    assert connected(graph, "input:0", "output:0")


@pytest.mark.parametrize("size", [4, 1024, 300_000])
@pytest.mark.parametrize("kind", [torch.tensor, torch.from_numpy])
def test_an_address_that_is_used_again_makes_no_path(kind: Any, size: int) -> None:
    def forward(x: Tensor, y: Tensor) -> Any:
        for _ in range(10):
            (x * 2).numpy().max()
        return sum(kind(np.ones(size, np.float32)) for _ in range(10)) * y

    graph = check_function(forward, (size,), (size,))
    assert not connected(graph, "input:0", "output:0")


@pytest.mark.parametrize("after", [lambda whole: whole[1] * 1, lambda whole: whole[1:].sum()])
def test_a_part_read_after_a_write_to_another_part_is_not_connected(after: Any) -> None:
    def forward(x: Tensor, y: Tensor) -> Any:
        whole = y * 1
        whole[0].copy_(x)
        return after(whole)

    check_function(forward, (4,), (4, 4))
