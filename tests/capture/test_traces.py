"""Traces that are easily overlooked: what hangs on tensors, hidden modules, generators, switches, the compiler."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply
from tests.capture.states import unchanged

pytestmark = pytest.mark.torch


class Holds(nn.Module):
    """Does something with itself and its input."""

    def __init__(self, action: Any, **held: Any) -> None:
        super().__init__()
        self.action, self.fc = action, nn.Linear(3, 3)
        self.__dict__.update(held)

    def forward(self, x: Tensor) -> Any:
        self.action(self, x)
        return x * 1


@pytest.mark.parametrize(
    ("action", "state"),
    [
        pytest.param(
            lambda net, x: net.fc.weight.register_hook(lambda grad: grad),
            lambda net, x: len(net.fc.weight._backward_hooks or ()),
        ),
        pytest.param(
            lambda net, x: net.fc.weight.register_post_accumulate_grad_hook(lambda grad: None),
            lambda net, x: len(net.fc.weight._post_accumulate_grad_hooks or ()),
        ),
        pytest.param(
            lambda net, x: x.register_hook(lambda grad: grad),
            lambda net, x: len(x._backward_hooks or ()),
        ),
        pytest.param(
            lambda net, x: net.register_buffer("more", torch.ones(1), persistent=False),
            lambda net, x: sorted(net._non_persistent_buffers_set),
        ),
    ],
    ids=["parameter", "accumulated", "input", "persistence"],
)
def test_what_hangs_on_tensors_and_modules_is_taken_off(action: Any, state: Any) -> None:
    net, x = Holds(action), torch.ones(3, 3, requires_grad=True)
    before = state(net, x)
    trec.capture(net, args=(x,))
    assert state(net, x) == before


@pytest.mark.parametrize("where", ["list", "object", "closure"])
def test_modules_that_are_not_registered_are_left_as_they_were(where: str) -> None:
    norm = nn.BatchNorm1d(3)

    def action(net: Any, x: Tensor) -> None:
        found: Any = {"list": net.hidden[0], "object": net.box.norm, "closure": norm}[where]
        found(x).sum().backward()
        found.eval()

    net = Holds(action, hidden=[norm], box=SimpleNamespace(norm=norm))
    with unchanged(norm):
        trec.capture(net, (4, 3))


def write(net: Any, x: Tensor) -> None:
    OUTSIDE.add_(1)


OUTSIDE = torch.zeros(3)


def test_tensors_from_outside_are_put_back() -> None:
    trec.capture(Holds(write), (3, 3))
    assert OUTSIDE.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("make", "state"),
    [
        (lambda: np.random.default_rng(1), lambda held: str(held.bit_generator.state)),
        (lambda: np.random.RandomState(1), lambda held: str(held.get_state())),
        (lambda: random.Random(1), lambda held: held.getstate()),
    ],
    ids=["Generator", "RandomState", "Random"],
)
def test_generators_that_the_model_holds_are_rewound(make: Any, state: Any) -> None:
    net = Holds(lambda net, x: net.held.random() if hasattr(net.held, "random") else net.held.rand(), held=make())
    before = state(net.held)
    trec.capture(net, (3, 3))
    assert state(net.held) == before


@pytest.mark.parametrize("make", [lambda t: t.to_sparse().coalesce(), lambda t: t.to_sparse_csr()], ids=["coo", "csr"])
@pytest.mark.filterwarnings("ignore:Sparse")
def test_the_parts_of_a_sparse_tensor_are_put_back(make: Any) -> None:
    x = make(torch.eye(3))
    trec.capture(Apply(lambda t: t.values().mul_(2)), args=(x,))
    assert torch.equal(x.to_dense(), torch.eye(3))


def test_what_cannot_be_put_back_does_not_cost_the_graph() -> None:
    array = np.ones(2)
    net = Holds(lambda net, x: net.array.resize(5, refcheck=False), array=array)
    assert trec.capture(net, (3, 3)).nodes


BRANCH = """
import torch, trec
from torch import nn

class Net(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,))

net, x = Net(), torch.ones(3)
graph = trec.capture(net, args=(x,)).verify()
assert "higher_order.cond" in [node.op for node in graph.nodes], str(graph)
net(x)
"""


def test_a_model_that_brings_in_the_compiler_runs_afterwards(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", BRANCH]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
