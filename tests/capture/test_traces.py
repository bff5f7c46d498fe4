"""Traces that are easily overlooked: what hangs on tensors, hidden modules, generators, switches, the compiler."""

from __future__ import annotations

import gc
import importlib
import os
import random
import subprocess
import sys
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

import trec
from tests.capture.paths import Apply
from tests.capture.states import global_hooks, unchanged
from tests.conftest import LONGEST

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


class Keeps(nn.Module):
    """Counts and keeps in attributes of its own, which are in C++ once it is scripted."""

    def __init__(self) -> None:
        super().__init__()
        self.count: Any = torch.jit.Attribute(0, int)
        self.kept: Any = torch.jit.Attribute([], list[int])
        self.table: Any = torch.jit.Attribute({"old": torch.zeros(2)}, dict[str, Tensor])

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        self.kept.append(3)
        self.table["new"] = x
        made: Tensor = x * self.count
        return made


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_attributes_of_scripts_are_put_back() -> None:
    net = torch.jit.script(Keeps())
    old = net.table["old"]
    trec.capture(net, (2,))
    assert (net.count, net.kept, list(net.table)) == (0, [], ["old"])
    assert net.table["old"] is old
    net.eval()
    trec.capture(Apply(lambda held, x: held.net.train() and None, net=net), (2,))
    assert not net.training


def test_what_contexts_keep_of_parametrized_tensors_is_put_back() -> None:
    net = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))
    with nn.utils.parametrize.cached():
        trec.capture(net, (1, 2))
        assert not nn.utils.parametrize._cache
        weight = net.weight
        graph = trec.capture(net, (1, 2))
        assert net.weight is weight
    assert "param:parametrizations.weight.original0" in {f"{node.kind}:{node.name}" for node in graph.nodes}
    with nn.utils.parametrize.cached():
        pass
    assert not nn.utils.parametrize._cache


def test_a_context_that_the_model_enters_and_leaves_open_is_closed() -> None:
    net = nn.utils.parametrizations.weight_norm(nn.Linear(2, 2))

    def forward(held: Any, x: Tensor) -> Any:
        nn.utils.parametrize.cached().__enter__()
        return held.net(x)

    trec.capture(Apply(forward, net=net), (1, 2))
    assert net.weight is not net.weight


def test_modules_in_objects_that_are_only_written_need_no_name() -> None:
    average = torch.optim.swa_utils.AveragedModel(nn.Linear(2, 2))

    def forward(held: Any, x: Tensor) -> Any:
        held.average.update_parameters(held.fc)
        return held.fc(x)

    net = Apply(forward, fc=nn.Linear(2, 2))
    net.__dict__["average"] = average
    with unchanged(average):
        trec.capture(net, (1, 2)).verify()


@pytest.mark.parametrize("transform", [torch.vmap, lambda f: torch.func.grad(lambda x: f(x).sum())])
def test_a_recording_inside_a_transform_ends(transform: Any) -> None:
    net, x = nn.Linear(2, 2), torch.randn(3, 2)

    def forward(x: Tensor) -> Any:
        with suppress(trec.CaptureError):
            trec.capture(net, args=(x,))
        return net(x)

    assert torch.equal(transform(forward)(x), transform(net)(x))


def test_a_function_that_records_may_be_compiled() -> None:
    importlib.import_module("torch._dynamo")
    net, graphs = nn.Linear(2, 2), []

    def forward(x: Tensor) -> Any:
        graphs.append(trec.capture(net, args=(x,)))
        return net(x) + 1

    x = torch.randn(3, 2)
    assert torch.allclose(torch.compile(forward, backend="eager")(x), net(x) + 1)
    assert [node.op for node in graphs[0].nodes if node.kind == "op"] == ["linear"]


class Tells(TorchFunctionMode):
    """Notes the name of every function that it sees."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_a_function_mode_of_the_user_sees_nothing_of_the_recording() -> None:
    def forward(net: Any, x: Tensor) -> Any:
        net.held.add_(x.sum())
        whole = torch.zeros(2, 2)
        whole[0] = net.fc(x)[0]
        whole.view(-1)[1:].mul_(2)
        return net.norm(whole) + net.held

    net, x = Apply(forward, fc=nn.Linear(2, 2), norm=nn.BatchNorm1d(2), held=torch.zeros(2)), torch.ones(2, 2)
    with torch.no_grad():
        with Tells() as plain:
            net(x)
        with Tells() as recorded:
            trec.capture(net, args=(x,))
    assert recorded.seen == plain.seen


def test_recordings_in_several_threads_leave_no_hooks_of_one_another() -> None:
    nets = [nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)) for _ in range(4)]
    before = {name: list(table) for name, table in global_hooks().items()}
    started = threading.Barrier(4, timeout=LONGEST)

    def run(net: nn.Module) -> None:
        started.wait()
        for _ in range(8):
            trec.capture(net, (4, 2))

    threads = [threading.Thread(target=run, args=(net,)) for net in nets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: list(table) for name, table in global_hooks().items()} == before


def test_a_recording_near_the_end_of_the_stack_leaves_no_hooks() -> None:
    net = nn.Sequential(nn.Linear(2, 2))
    before = ({name: list(table) for name, table in global_hooks().items()}, sys.getrecursionlimit())

    def record(depth: int) -> None:
        if depth:
            record(depth - 1)
        else:
            trec.capture(net, (1, 2))

    for depth in range(600, 990, 30):
        with suppress(RecursionError, trec.CaptureError):
            record(depth)
        assert ({name: list(table) for name, table in global_hooks().items()}, sys.getrecursionlimit()) == before


def test_classes_of_the_user_go_after_a_recording() -> None:
    class Own(nn.Module):
        def __init__(self, size: int = 2) -> None:
            super().__init__()
            self.size = size

        def forward(self, x: Tensor) -> Any:
            return x * 2

    held = weakref.ref(Own)
    trec.capture(Own(), (2,))
    del Own
    gc.collect()
    assert held() is None


def smallest_times_one() -> float:
    return float(np.float64(5e-324) * np.float64(1))


MORE_SWITCHES: dict[str, tuple[Any, Any]] = {
    "flushing": (smallest_times_one, lambda: torch.set_flush_denormal(True)),
    "exchange": (
        torch.__future__.get_swap_module_params_on_conversion,
        lambda: torch.__future__.set_swap_module_params_on_conversion(True),
    ),
    "sparse": (
        torch.sparse.check_sparse_tensor_invariants.is_enabled,
        torch.sparse.check_sparse_tensor_invariants.enable,
    ),
    "forward differentiation": (
        lambda: torch.autograd.forward_ad._current_level,
        torch.autograd.forward_ad.enter_dual_level,
    ),
    "recursion": (sys.getrecursionlimit, lambda: sys.setrecursionlimit(5000)),
}


@pytest.mark.parametrize("name", MORE_SWITCHES)
def test_switches_that_are_seldom_turned_are_put_back(name: str) -> None:
    read, turn = MORE_SWITCHES[name]
    before = read()
    trec.capture(Apply(lambda x: (turn(), x * 1)[1]), (2,))
    assert read() == before


@pytest.mark.skipif(not hasattr(torch.backends, "fp32_precision"), reason="this version of torch has no such switch")
def test_precisions_may_be_set_by_their_new_names() -> None:
    backends: Any = torch.backends

    def forward(x: Tensor) -> Any:
        backends.fp32_precision = "ieee"
        return x * 1

    before = backends.fp32_precision
    backends.fp32_precision = "tf32"
    try:
        assert trec.capture(Apply(forward), (2,)).nodes
        assert backends.fp32_precision == "tf32"
    finally:
        backends.fp32_precision = before
