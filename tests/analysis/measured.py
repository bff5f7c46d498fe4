"""The memory that a forward pass takes, measured while it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from collections.abc import Callable


class Meter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds up the storages that operators make for as long as anything holds them."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live: dict[int, tuple[Any, int]] = {}
        self.peak: int = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = {id_ for id_, _ in map(_storage, _tensors((args, kwargs)))}
        result = func(*args, **(kwargs or {}))
        self.live = {id_: entry for id_, entry in self.live.items() if not entry[0].expired()}
        for id_, storage in map(_storage, _tensors(result)):
            if id_ not in given and id_ not in self.live:
                self.live[id_] = (StorageWeakRef(storage), storage.nbytes())  # type: ignore[no-untyped-call]
        self.peak = max(self.peak, sum(size for _, size in self.live.values()))
        return result


def _tensors(tree: Any) -> list[Any]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _storage(tensor: Any) -> tuple[int, Any]:
    storage = tensor.untyped_storage()
    return storage._cdata, storage


def measured_peak(model: Any, *args: Any, **kwargs: Any) -> int:
    """Return the most bytes that results of operators took at once; the fused paths of PyTorch are off."""
    fast = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(False)
    try:
        with Meter() as meter:
            model(*args, **kwargs)
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
    peak: int = meter.peak
    return peak


class Residual(nn.Module):
    """A bottleneck that adds in place, and one without a shortcut after it."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, 8, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8),
            nn.ReLU(), nn.Conv2d(8, after, 1), nn.BatchNorm2d(after),
        )  # fmt: skip
        same = before == after
        self.shortcut = nn.Identity() if same else nn.Sequential(nn.Conv2d(before, after, 1), nn.BatchNorm2d(after))
        self.relu = nn.ReLU()

    def forward(self, x: Any) -> Any:
        residual = x
        x = self.body(x)
        residual = self.shortcut(residual)
        x += residual
        return self.relu(x)


class Expert(nn.Module):
    """A small perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 16)

    def forward(self, x: Any) -> Any:
        return self.down(torch.relu(self.up(x)))


class Experts(nn.Module):
    """Experts whose results are summed, each with its share."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts = nn.Linear(16, 8), nn.ModuleList(Expert() for _ in range(8))

    def forward(self, x: Any) -> Any:
        shares = self.gate(x).softmax(-1)
        total = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            total = total + shares[..., number : number + 1] * expert(x)
        return total


class Skip(nn.Module):
    """What goes down and comes up again, past what is kept beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.Conv2d(16, 8, 3, padding=1)

    def forward(self, x: Any) -> Any:
        kept = self.down(x)
        x = torch.relu(kept)
        return self.up(torch.cat([x, kept], 1))


class Hoarder(nn.Module):
    """Holds in local variables what it does not read any more, gives some of it back early, and writes in place."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))

    def forward(self, x: Any) -> Any:
        kept = []
        for layer in self.layers:
            before = x
            wide = torch.cat([x] * 8, 1)
            x = layer(wide[:, :16]) + before
            wide.mul_(2)
            kept.append(wide.t())
        del kept[0]
        return torch.relu(x)


def _encoder() -> Any:
    return nn.TransformerEncoder(
        nn.TransformerEncoderLayer(32, 4, 128, batch_first=True), 3, enable_nested_tensor=False
    ).eval()


MODELS: dict[str, Callable[[], tuple[Any, tuple[int, ...]]]] = {
    "mlp": lambda: (nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 64)), (32, 64)),
    "convolutions": lambda: (
        nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
            nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 16 * 16, 10),
        ).eval(),
        (2, 3, 32, 32),
    ),
    "encoder": lambda: (_encoder(), (2, 16, 32)),
    "residual": lambda: (nn.Sequential(Residual(16, 32), Residual(32, 32), Residual(32, 32)).eval(), (2, 16, 16, 16)),
    "experts": lambda: (Experts(), (4, 16)),
    "skip": lambda: (Skip(), (2, 3, 32, 32)),
    "hoarder": lambda: (Hoarder(), (4, 16)),
}  # fmt: skip
