"""Where values leave torch: numbers, numpy and branches are marked, and shared memory is followed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import trec
from tests.capture.paths import Apply, check_function, connected, ends, flow, ops, record

pytestmark = pytest.mark.torch

FROM_DLPACK: Any = vars(torch)["from_dlpack"]
TO_DLPACK: Any = vars(torch.utils.dlpack)["to_dlpack"]

LEAVES = {
    "item": lambda t: t.sum().item(),
    "tolist": lambda t: t.tolist()[0][0],
    "float": lambda t: float(t[0, 0]),
    "int": lambda t: int(t[0, 0]),
    "bool": lambda t: bool(t[0, 0] > 0),
    "index": lambda t: [5, 6, 7][torch.tensor(1)] + t[0, 0].item(),
    "complex": lambda t: complex(t[0, 0]).real,
    "equal": lambda t: torch.equal(t, t + 0),
    "allclose": lambda t: torch.allclose(t, t),
    "is_nonzero": lambda t: torch.is_nonzero(t[0, 0]),
    "contains": lambda t: 3.0 in t,
    "format": lambda t: len(f"{t[0, 0]:.3f}"),
    "repr": lambda t: len(repr(t)),
    "iteration": lambda t: sum(float(row[0]) for row in t),
    "math": lambda t: math.sin(t[0, 0]),
    "round": lambda t: round(t[0, 0].item(), 1),
    "nonzero count": lambda t: len(t.nonzero()),
}


@pytest.mark.parametrize("leave", LEAVES.values(), ids=LEAVES.keys())
def test_a_number_ends_the_flow_at_a_host_node(leave: Any) -> None:
    graph = record(Apply(lambda x, y: y * leave(x)), torch.randn(2, 3), torch.randn(2, 3))
    assert ("input:1", "output:0") in flow(graph)
    assert not connected(graph, "input:0", "output:0")
    if leave is not LEAVES["nonzero count"]:
        assert connected(graph, "input:0", "host:")


def test_every_number_taken_is_one_host_node() -> None:
    graph = record(Apply(lambda x: x * x[0].item() * float(x[1]) + x.tolist()[0]), torch.randn(3))
    assert ops(graph, "host") == ["item", "__float__", "tolist"]


def test_a_branch_on_a_value_is_a_host_node_and_only_the_branch_taken_is_drawn() -> None:
    def forward(x: Tensor) -> Any:
        return torch.sin(x) if x.sum() > 0 else torch.cos(x)

    assert ops(record(Apply(forward), torch.ones(3)))[-1] == "sin"
    graph = record(Apply(forward), -torch.ones(3))
    assert ops(graph)[-1] == "cos"
    assert ops(graph, "host") == ["__bool__"]


def test_a_loop_until_a_value_is_reached_is_drawn_as_it_ran() -> None:
    def forward(x: Tensor) -> Any:
        while x.norm() < 10:
            x = x * 2
        return x

    graph = record(Apply(forward), torch.ones(1))
    assert ops(graph).count("mul") == 4
    assert ops(graph, "host") == ["__bool__"] * 5


# ---- numpy


def through_numpy(x: Tensor, y: Tensor) -> Any:
    return torch.from_numpy(x.detach().numpy()) * y


def through_numpy_view(x: Tensor, y: Tensor) -> Any:
    return torch.from_numpy(x.detach().numpy()[1:]) + y[1:]


def back_in_place(x: Tensor, y: Tensor) -> Any:
    whole = x.clone()
    shared = torch.from_numpy(whole.numpy())
    shared.mul_(y)
    return whole


def through_as_tensor(x: Tensor, y: Tensor) -> Any:
    return torch.as_tensor(x.numpy()) + y


def through_asarray(x: Tensor, y: Tensor) -> Any:
    return torch.asarray(np.asarray(x)) + y


def through_dlpack(x: Tensor, y: Tensor) -> Any:
    return FROM_DLPACK(x.numpy()) + y


def through_torch_dlpack(x: Tensor, y: Tensor) -> Any:
    return FROM_DLPACK(TO_DLPACK(x)) + y


def through_force(x: Tensor, y: Tensor) -> Any:
    return torch.from_numpy(x.requires_grad_().numpy(force=True)) + y


SHARED = [
    through_numpy,
    through_numpy_view,
    back_in_place,
    through_as_tensor,
    through_asarray,
    through_dlpack,
    through_torch_dlpack,
    through_force,
]


@pytest.mark.parametrize("function", SHARED)
def test_memory_that_is_shared_with_numpy_is_followed(function: Any) -> None:
    check_function(function, (3, 3), (3, 3))


def test_what_numpy_computes_is_a_cut_and_not_a_false_path() -> None:
    graph = record(Apply(lambda x, y: torch.from_numpy(np.sin(x.numpy())) + y), torch.ones(3), torch.ones(3))
    assert connected(graph, "input:0", "host:")
    assert flow(graph) == {("input:1", "output:0")}
    assert len(ends(graph, "constant:")) + len(ends(graph, "host:")) >= 2


def test_what_numpy_writes_into_an_input_is_undone() -> None:
    def forward(x: Tensor) -> Any:
        x.numpy()[0] = 7
        return x * 2

    x = torch.zeros(3)
    graph = record(Apply(forward), x)
    assert x.tolist() == [0, 0, 0]
    assert flow(graph) == {("input:0", "output:0")}


@pytest.mark.parametrize(
    "write",
    [
        lambda net: net.held.numpy().__setitem__(0, 7),
        lambda net: np.asarray(net.held).__setitem__(0, 7),
        lambda net: np.from_dlpack(net.held).__setitem__(0, 7),
        lambda net: net.held.untyped_storage().fill_(1),
        lambda net: net.held.detach().numpy().fill(3),
        lambda net: net.held[1:].numpy().fill(3),
        lambda net: torch.from_numpy(net.held.numpy()).fill_(3),
    ],
    ids=["numpy", "asarray", "dlpack", "storage", "detached", "view", "and back"],
)
def test_what_is_written_behind_torch_into_a_buffer_is_undone(write: Any) -> None:
    def forward(net: Any, x: Tensor) -> Any:
        write(net)
        return x + net.held

    record(Apply(forward, held=torch.ones(3)), torch.zeros(3))


def test_constants_made_of_python_numbers_are_not_inputs() -> None:
    def forward(x: Tensor) -> Any:
        return x + torch.tensor([1.0, 2.0]) + torch.arange(2) + torch.as_tensor(3.0) + torch.from_numpy(np.ones(2))

    graph = record(Apply(forward), torch.ones(2))
    assert flow(graph) == {("input:0", "output:0")}


def test_a_tensor_from_outside_is_a_constant() -> None:
    outside = torch.ones(2)
    graph = record(Apply(lambda x: x + outside + outside), torch.ones(2))
    assert [graph.nodes[index].name for index in ends(graph, "constant:")] == ["constant"]


def test_host_nodes_are_alike_at_each_level() -> None:
    net = Apply(lambda x: x * x[0].item())
    assert len(ends(trec.capture(net, args=(torch.ones(2),)), "host:")) == 1
    assert len(ends(trec.capture(net, args=(torch.ones(2),), level="aten"), "host:")) == 1


def test_what_numpy_wrote_stands_before_the_read_of_an_attribute_that_finds_it() -> None:
    def forward(x: Tensor) -> Any:
        y = x * 1
        array, alias = y.numpy(), FROM_DLPACK(TO_DLPACK(y))
        array += 1
        return alias.mT

    with torch.no_grad():
        graph = record(Apply(forward), torch.ones(2, 3))
    assert ops(graph, "op", "host") == ["mul", "numpy", "shared_memory", "shared_memory", "mT"]
    assert connected(graph, "input:0", "output:0")
