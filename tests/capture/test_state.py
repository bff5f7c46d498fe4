"""Looking changes nothing: not the model, not its inputs, not the process, whatever happens meanwhile."""

from __future__ import annotations

import importlib
import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import trec
from tests.capture.paths import Apply
from tests.capture.states import global_hooks, unchanged

pytestmark = pytest.mark.torch


class Busy(nn.Module):
    """Changes everything that a forward pass can change."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3, momentum=0.3)
        self.drop = nn.Dropout(0.5)
        self.fc = nn.Linear(3, 3)
        self.steps: Any
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))
        self.plain = torch.ones(3)
        self.kept: list[Any] = [1]
        self.table: dict[str, Any] = {"old": torch.zeros(3)}
        self.seen = {1, 2}
        self.array = np.zeros(3)
        self.generator = torch.Generator()
        self.count = 0

    def forward(self, x: Any) -> Any:
        self.count += 1
        self.kept.append(x)
        self.table["new"] = x.mean()
        self.table["old"].add_(x[0].detach())
        self.seen.add(3)
        self.array[0] = 9
        self.plain.mul_(2)
        self.steps.add_(1)
        self.fresh = nn.Linear(3, 3)
        self.register_buffer("more", torch.ones(1))
        self.register_parameter("weight", nn.Parameter(torch.ones(3)))
        self.fc.weight.data[0] = 5
        self.fc.register_forward_hook(lambda *args: None)
        self.fc.bias.requires_grad_(False)
        self.drop.p = 0.9
        self.drop.eval()
        noise = (
            torch.rand(3, generator=self.generator)
            + torch.rand(3)
            + random.random()
            + torch.from_numpy(np.random.rand(3))
        )
        x = self.fc(self.drop(self.norm(x * self.plain + noise.float())))
        self.fc.register_parameter("bias", None)
        del self.norm.eps
        return x


def busy() -> tuple[Any, Tensor]:
    torch.manual_seed(0)
    net, x = Busy().train(), torch.randn(4, 3, requires_grad=True)
    net.fc(x).sum().backward()
    return net, x


@pytest.mark.parametrize("level", ["module", "function", "aten"])
def test_a_busy_model_is_left_as_it_was(level: Any) -> None:
    net, x = busy()
    arguments = ([net.kept[:], dict(net.table), net.table["old"].clone(), net.array.copy(), net.generator.get_state()],)
    with unchanged(net, x, net.table, *arguments):
        trec.capture(net, args=(x,), level=level)
    kept, table, _, array, generator = arguments[0]
    assert len(net.kept) == len(kept)
    assert list(net.table) == list(table)
    assert np.array_equal(net.array, array)
    assert torch.equal(net.generator.get_state(), generator)


class Failing(Busy):
    def __init__(self, error: type[BaseException]) -> None:
        super().__init__()
        self.error = error

    def forward(self, x: Any) -> Any:
        super().forward(x)
        raise self.error("stop")


@pytest.mark.parametrize(
    "error", [RuntimeError, KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration, MemoryError]
)
def test_it_is_left_as_it_was_after_an_exception(error: type[BaseException]) -> None:
    torch.manual_seed(0)
    net, x = Failing(error), torch.randn(4, 3)
    expected = trec.CaptureError if issubclass(error, Exception) else error
    with unchanged(net, x), pytest.raises(expected):
        trec.capture(net, args=(x,))


@pytest.mark.parametrize("where", ["pre", "post", "global"])
def test_it_is_left_as_it_was_after_a_hook_of_the_user_failed(where: str) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("hook failed")

    net = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 3))
    if where == "pre":
        handle = net[1].register_forward_pre_hook(fail)
    elif where == "post":
        handle = net[1].register_forward_hook(fail)
    else:
        handle = nn.modules.module.register_module_forward_hook(fail)
    try:
        with unchanged(net), pytest.raises(trec.CaptureError, match="hook failed"):
            trec.capture(net, (4, 3))
    finally:
        handle.remove()


def test_it_is_left_as_it_was_after_an_error_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("our own")

    net, x = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5)), torch.randn(4, 3)
    monkeypatch.setattr(importlib.import_module("trec.capture.session"), "assemble", fail)
    with unchanged(net, x), pytest.raises(RuntimeError, match="our own"):
        trec.capture(net, args=(x,))


STEPS = [
    "process.Process.leave_modes", "alike.Alike.restore", "classes.Classes.restore", "scripts.Scripts.restore",
    "containers.Contents.restore", "process.Process.drop_guards", "tensors.Tensors._restore_columns",
    "tensors.Tensors._restore_attributes", "tensors.Tensors._restore_versions",
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_an_error_in_one_step_of_putting_back_costs_none_of_the_others(
    monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """A step that works is put in its place before it fails, so whatever is left is the fault of another."""
    file, kind, name = step.split(".")
    owner = getattr(importlib.import_module(f"trec.capture.restore.{file}"), kind)
    whole = getattr(owner, name)

    def fail(*args: Any) -> None:
        whole(*args)
        raise RuntimeError("our own")

    monkeypatch.setattr(owner, name, fail)
    net, x = busy()
    with unchanged(net, x), pytest.warns(trec.TraceWarning, match="our own"):
        trec.capture(net, args=(x,))


def test_no_hook_is_left_in_any_table_of_torch() -> None:
    before = {name: list(table) for name, table in global_hooks().items()}
    trec.capture(nn.Linear(2, 2), (1, 2))
    assert {name: list(table) for name, table in global_hooks().items()} == before


def test_attributes_of_tensors_are_left_as_they_were() -> None:
    def forward(net: Any, x: Any) -> Any:
        x.mark = net.held.mark = 3
        return x + net.held

    net, x = Apply(forward, held=torch.ones(2)), torch.ones(2)
    with unchanged(net, x):
        trec.capture(net, args=(x,))


WRITES = {
    "add_": lambda t: t.add_(1),
    "set item": lambda t: t.__setitem__(0, 5),
    "view": lambda t: t.view(-1)[1:].mul_(3),
    "transposed": lambda t: t.t().add_(1),
    "data": lambda t: t.data.fill_(4),
    "new data": lambda t: setattr(t, "data", torch.zeros(2, 2)),
    "larger data": lambda t: setattr(t, "data", torch.zeros(7)),
    "other dtype": lambda t: setattr(t, "data", torch.zeros(2, 2, dtype=torch.float64)),
    "set_": lambda t: t.set_(torch.zeros(4)),
    "resize_": lambda t: t.resize_(9),
    "storage resized": lambda t: t.untyped_storage().resize_(0),
    "transpose_": lambda t: t.t_(),
    "squeeze_": lambda t: t.unsqueeze_(0),
    "out": lambda t: torch.ones(2, 2, out=t),
    "numpy": lambda t: t.numpy().fill(8),
    "copy of itself": lambda t: t.copy_(t.flip(0)),
    "foreach": lambda t: torch._foreach_mul_([t], 3.0),
    "random": lambda t: t.normal_(),
    "init": nn.init.xavier_uniform_,
    "nan": lambda t: t.fill_(float("nan")),
    "detach_": lambda t: t.detach_(),
    "requires_grad_": lambda t: t.requires_grad_(not t.requires_grad),
    "becomes non-leaf": lambda t: t.requires_grad or t.mul_(torch.ones(1, requires_grad=True)),
    "gradient": lambda t: setattr(t, "grad", torch.ones_like(t)),
    "as_strided_": lambda t: t.as_strided_((2,), (1,)),
    "other class": lambda t: setattr(t, "__class__", nn.Buffer),
}


@pytest.mark.parametrize("target", ["input", "buffer", "parameter", "attribute", "view of input"])
@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_written_tensor_is_put_back(write: Any, target: str) -> None:
    if target == "view of input" and write is WRITES["detach_"]:
        pytest.skip("torch refuses it")

    def forward(net: Any, x: Any) -> Any:
        with torch.no_grad() if target == "parameter" else torch.enable_grad():
            write({"buffer": net.held, "parameter": net.weight, "attribute": net.plain}.get(target, x))
        return torch.ones(1)

    net = Apply(forward, held=torch.rand(2, 2), weight=nn.Parameter(torch.rand(2, 2), requires_grad=False))
    net.plain = torch.rand(2, 2)
    x = torch.rand(4, 2)[1:3] if target == "view of input" else torch.rand(2, 2)
    with unchanged(net, x):
        trec.capture(net, args=(x,))


def test_a_pending_backward_of_the_user_survives() -> None:
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.ReLU(inplace=True))
    x = torch.randn(4, 3, requires_grad=True)
    loss = net(x).square().sum()
    trec.capture(net, args=(x.detach(),))
    loss.backward()
    assert x.grad is not None


def test_gradients_are_put_back() -> None:
    net = nn.Linear(3, 3)
    x = torch.randn(2, 3)
    net(x).sum().backward()

    def forward(held: Any, v: Any) -> Any:
        held.fc(v).sum().backward()
        held.fc.bias.grad = None
        held.fc.weight.grad.zero_()
        return held.fc(v)

    outer = Apply(forward, fc=net)
    with unchanged(outer, x):
        trec.capture(outer, args=(x,))


def test_an_optimizer_step_in_forward_is_undone() -> None:
    net = nn.Linear(3, 3)
    optimizer = torch.optim.AdamW(net.parameters())

    def forward(held: Any, v: Any) -> Any:
        optimizer.zero_grad()
        held.fc(v).sum().backward()
        optimizer.step()
        return held.fc(v)

    outer, x = Apply(forward, fc=net), torch.randn(2, 3)
    with unchanged(outer, x):
        trec.capture(outer, args=(x,))


@pytest.mark.parametrize("grads", [True, False])
def test_switches_of_the_process_are_put_back(grads: bool) -> None:
    def forward(x: Any) -> Any:
        torch.set_grad_enabled(not grads)
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(99)
        random.seed(3)
        np.random.seed(4)
        return x * 2

    net, x = Apply(forward), torch.ones(2)
    with torch.set_grad_enabled(grads), unchanged(net, x):
        trec.capture(net, args=(x,))


def test_arguments_are_left_as_they_were() -> None:
    def forward(batch: Any) -> Any:
        batch["x"] = batch["x"] + 1
        batch["list"].clear()
        batch["new"] = batch.pop("old")
        batch["x"].add_(1)
        return batch["x"]

    batch = {"x": torch.ones(2), "list": [1, 2], "old": None}
    held = dict(batch)
    with unchanged(Apply(forward), batch):
        trec.capture(Apply(forward), args=(batch,))
    assert list(batch) == list(held)
    assert batch["x"] is held["x"]
    assert batch["list"] == [1, 2]
