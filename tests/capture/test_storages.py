"""Memory reached past tensors: storages, copies of objects, arrays of numpy, and addresses that are used again."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import trec
from tests.capture.paths import Apply, check_function, connected, flow, record

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*quantiz")]


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


def through_a_packed_list(x: Tensor, y: Tensor) -> Any:
    return torch.tensor([x[0, 0], y[1, 1]]) * 1


def split_at_positions(x: Tensor, y: Tensor) -> Any:
    return torch.tensor_split(x, (y.reshape(-1)[:1] * 0 + 1).to(torch.int64))[0]


def index_by_a_list(x: Tensor, y: Tensor) -> Any:
    return x[:, [0, (y[0, 0] * 0).long()]]


def set_by_a_list(x: Tensor, y: Tensor) -> Any:
    result = x.detach() * 1
    result[0, [(y[0, 0] * 0).long(), 1]] = 2.0
    return result


def made_like(x: Tensor, y: Tensor) -> Any:
    return y.new_tensor([x[0, 0], y[0, 0]]) * 1 + x.new([y[1, 1], 2.0])


def test_the_tensor_that_another_is_made_like_is_not_read() -> None:
    graph = record(Apply(lambda x: x.new_tensor([1.0, 2.0])), torch.randn(4, 4))
    assert flow(graph) == set()


@pytest.mark.filterwarnings("ignore:Converting a tensor")
@pytest.mark.parametrize("grads", [False, True], ids=["no_grad", "grad"])
@pytest.mark.parametrize(
    "function", [through_a_packed_list, split_at_positions, index_by_a_list, set_by_a_list, made_like]
)
def test_tensors_that_are_read_without_an_operator_are_read(function: Any, grads: bool) -> None:
    graph = record(Apply(function), torch.randn(4, 4, requires_grad=grads), torch.randn(4, 4))
    assert flow(graph) == {("input:0", "output:0"), ("input:1", "output:0")}


def test_weights_packed_in_an_object_are_constants_that_the_operator_reads() -> None:
    kind: Any = torch.ao.nn.quantized.Linear
    net = Apply(lambda held, x: held.fc(torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)).dequantize(), fc=kind(3, 2))
    graph = record(net, torch.randn(1, 3))
    for name in ("weight", "bias"):
        assert connected(graph, f"constant:fc._packed_params._packed_params.{name}", "output:0")


def whole_array_written(x: Tensor, y: Tensor) -> Any:
    whole = x * 1
    whole.numpy()[...] *= 2
    return whole + y


def array_written_between(x: Tensor, y: Tensor) -> Any:
    array = np.zeros((4, 4), np.float32)
    torch.from_numpy(array[1]).copy_(x[0])
    torch.from_numpy(array[2]).copy_(y[0])
    np.add(array, 1, out=array)
    return torch.from_numpy(array) * 1


@pytest.mark.parametrize("function", [whole_array_written, array_written_between])
def test_what_numpy_writes_in_shared_memory_keeps_what_stood_there(function: Any) -> None:
    graph = check_function(function, (4, 4), (4, 4))
    assert [node.op for node in graph.nodes if node.kind == "host" and node.outputs]


def test_inputs_that_share_an_array_see_each_other() -> None:
    array = np.ones((2, 2), np.float32)
    x, y = torch.from_numpy(array), torch.from_numpy(array)

    def forward(x: Tensor, y: Tensor, z: Tensor) -> Any:
        x.mul_(z)
        return y * 1

    assert connected(record(Apply(forward), x, y, torch.ones(2, 2)), "input:2", "output:0")
    assert array.tolist() == [[1, 1], [1, 1]]


def test_a_tensor_laid_over_a_part_of_a_storage_reads_what_lies_in_that_part() -> None:
    def forward(x: Tensor, y: Tensor) -> Any:
        x[1] = y[0]
        return torch.empty(0).set_(x.untyped_storage(), 4, (4,), (1,)), torch.empty(0).set_(x.untyped_storage())

    graph = trec.capture(Apply(forward), args=(torch.ones(4, 4), torch.ones(4, 4)), level="aten").verify()
    assert flow(graph) == {("input:1", "output:0"), ("input:0", "output:1"), ("input:1", "output:1")}
