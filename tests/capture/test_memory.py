"""Recording keeps nothing alive: no activation, no input, no model."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

import trec
from tests.capture.paths import Apply

pytestmark = pytest.mark.torch


SWAP: Any = torch.utils.swap_tensors


def alive(references: list[weakref.ref[Any]]) -> int:
    gc.collect()
    return sum(reference() is not None for reference in references)


class Watched(nn.Module):
    """Keeps a weak reference to each of its activations."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.5), nn.Linear(4, 4)])

    def forward(self, x: Tensor, seen: list[weakref.ref[Any]]) -> Any:
        for layer in self.layers:
            x = layer(x)
            x[0] = x[1] * 2
            seen.extend([weakref.ref(x), weakref.ref(x.untyped_storage())])
        return x


@pytest.mark.parametrize("level", ["module", "function", "aten"])
@pytest.mark.parametrize("grads", [False, True])
def test_no_activation_is_alive_afterwards(level: Any, grads: bool) -> None:
    net, x = Watched(), torch.randn(3, 4)
    seen: list[weakref.ref[Any]] = []
    with torch.set_grad_enabled(grads):
        graph = trec.capture(Apply(lambda held, v: held.net(v, seen), net=net), args=(x,), level=level)
    assert len(seen) == 8
    assert alive(seen) == 0
    assert graph.nodes


def test_no_activation_is_alive_after_an_error_that_is_let_go() -> None:
    seen: list[weakref.ref[Any]] = []

    def forward(x: Tensor) -> Any:
        y = x * 2
        seen.append(weakref.ref(y))
        raise ValueError

    with pytest.raises(trec.CaptureError) as caught:
        trec.capture(Apply(forward), args=(torch.ones(2),))
    graph = caught.value.graph
    del caught
    assert alive(seen) == 0
    assert graph is not None


def test_neither_model_nor_inputs_are_kept() -> None:
    net, x = nn.Sequential(nn.Linear(2, 2), nn.ReLU()), torch.ones(1, 2)
    graph = trec.capture(net, args=(x,))
    seen: list[weakref.ref[Any]] = [weakref.ref(item) for item in (net, net[0], net[0].weight, x)]
    del net, x
    assert alive(seen) == 0
    assert graph.nodes


def test_an_activation_is_let_go_as_soon_as_the_model_lets_go() -> None:
    left: list[bool] = []

    def forward(x: Tensor) -> Any:
        for _ in range(3):
            x = torch.sin(x * 2 + 1)
            reference = weakref.ref(x)
            x = x.clone()
            left.append(reference() is not None)
        return x

    with torch.no_grad():
        trec.capture(Apply(forward), args=(torch.ones(2),))
        trec.capture(Apply(forward), args=(torch.ones(2),), level="aten")
    assert left == [False] * 6


class Peak(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Measures the largest number of bytes that tensors hold at one time."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.most = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor) and not func._schema.returns[0].alias_info:
            size = result.untyped_storage().nbytes()
            self.now += size
            self.most = max(self.most, self.now)
            weakref.finalize(result.untyped_storage(), self._drop, size)
        return result

    def _drop(self, size: int) -> None:
        self.now -= size


def scaled_in_place() -> nn.Module:
    return Apply(lambda held, x: held.fc(x) + held.fc.weight.data.mul_(2).sum(), fc=nn.Linear(64, 64))


def linear() -> nn.Module:
    return nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1)) for _ in range(20)]).eval()


def convolutions() -> nn.Module:
    return nn.Sequential(nn.Unflatten(1, (1, 64)), *[nn.Sequential(nn.Conv1d(1, 1, 3), nn.ReLU()) for _ in range(9)])


def written_in_place() -> nn.Module:
    return nn.Sequential(*[nn.Sequential(nn.Linear(64, 64), nn.ReLU(inplace=True)) for _ in range(20)])


@pytest.mark.parametrize("level", ["function", "aten"])
@pytest.mark.parametrize("make", [linear, convolutions, written_in_place, lambda: nn.LSTM(64, 64, num_layers=3)])
def test_the_peak_of_memory_is_that_of_the_plain_forward(make: Any, level: Any) -> None:
    net, x = make(), torch.randn(256, 64)
    with torch.no_grad():
        with Peak() as plain:
            net(x)
        with Peak() as recorded:
            trec.capture(net, args=(x,), level=level)
    assert plain.most > 0
    assert recorded.most <= 1.1 * plain.most


def test_a_copy_is_made_of_what_is_written_and_of_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[int] = []
    clone = torch.UntypedStorage.clone

    def counted(storage: Any) -> Any:
        copied.append(storage.nbytes())
        return clone(storage)  # type: ignore[no-untyped-call]

    monkeypatch.setattr(torch.UntypedStorage, "clone", counted)
    trec.capture(linear(), (2, 64))
    assert copied == []
    trec.capture(scaled_in_place(), (2, 64))
    assert copied == [64 * 64 * 4]
    trec.capture(nn.BatchNorm1d(64), (2, 64))
    assert sorted(copied[1:]) == [8, 64 * 4, 64 * 4]


def test_the_caller_keeps_no_frame_of_ours() -> None:
    net = nn.Linear(2, 2)
    before = sys.getrefcount(net)
    trec.capture(net, (1, 2))
    gc.collect()
    assert sys.getrefcount(net) == before


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_left_as_it_was(enabled: bool) -> None:
    was = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        trec.capture(nn.Linear(2, 2), (1, 2))
        assert gc.isenabled() is enabled
        with pytest.raises(trec.CaptureError):
            trec.capture(nn.Linear(2, 2), (1, 3))
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_parameters_can_be_swapped_afterwards() -> None:
    net, other = nn.Linear(2, 2), nn.Linear(2, 2)
    trec.capture(net, (1, 2))
    SWAP(net.weight, other.weight)


def test_parameters_can_be_swapped_during_the_recording() -> None:
    other = nn.Linear(2, 2)

    def forward(held: Any, x: Any) -> Any:
        y = held.fc(x)
        SWAP(held.fc.weight, other.weight)
        return held.fc(y)

    trec.capture(Apply(forward, fc=nn.Linear(2, 2)), (1, 2))
