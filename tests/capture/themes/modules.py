"""Modules that are called in unusual ways, or are unusual themselves."""

from __future__ import annotations

import asyncio
import copy
import math
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrizations
from torch.utils.checkpoint import checkpoint

from tests.capture.themes.builders import each, with_modules

if TYPE_CHECKING:
    from tests.capture.models import Call


class Recursive(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x: Tensor, depth: int = 3) -> Any:
        return self.fc(x) if depth == 0 else self(self.fc(x).relu(), depth - 1)


class Unhashable(nn.Linear):
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scripted = torch.jit.script(nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
        self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.normed = parametrizations.weight_norm(nn.Linear(4, 4))
        self.hooked = nn.utils.spectral_norm(nn.Linear(4, 4))

    def forward(self, x: Tensor) -> Any:
        self.scripted(x), self.scripted(x)
        x = checkpoint(self.block, x, use_reentrant=False)
        return self.hooked(self.normed(x))


class Shared(nn.Module):
    """One activation and one block in many places, weights with two names, children called out of order."""

    def __init__(self) -> None:
        super().__init__()
        act = nn.ReLU()
        self.tail = nn.Sequential(nn.Linear(4, 4), act)
        self.head = nn.Sequential(act, nn.Linear(4, 4), act)
        self.head[1].weight = self.tail[0].weight
        self.listed = [nn.Linear(4, 4)]
        self.unhashable = Unhashable(4, 4)
        self.patched = nn.Linear(4, 4)
        self.patched.forward = lambda x: x * 3  # type: ignore[method-assign,assignment]

    def forward(self, x: Tensor, y: Tensor) -> Any:
        first, second = (self.tail(self.head(side)) for side in (x, y))
        result = self.listed[0](self.unhashable(first - second))
        return self.patched(self.tail[0].forward(result)), nn.Module.__call__(self.tail[0], x)


def generated(held: Any, x: Tensor) -> Any:
    def rows() -> Any:
        for row in x:
            yield held.fc(row) * 2

    return torch.stack(list(rows()))


def awaited(held: Any, x: Tensor) -> Any:
    async def one(value: Tensor) -> Any:
        await asyncio.sleep(0)
        return held.fc(value)

    async def both() -> Any:
        return await asyncio.gather(one(x), one(x * 2))

    with asyncio.Runner() as runner:
        return runner.run(both())


def copied(held: Any, x: Tensor) -> Any:
    return torch._foreach_add([x, x * 2], [x, x]), copy.deepcopy(held.fc)(x), nn.Linear(4, 2)(x)


def hostile_names() -> Call:
    odd = nn.Sequential()
    for name in ("a::b", 'c"d', "\\n", "ü 😀", "<b>"):
        odd.add_module(name, nn.Linear(4, 4))
    odd.note = {"none": None, "list": [1, None], "inf": math.inf}  # type: ignore[assignment]
    return odd, (torch.randn(1, 4),), {}


class Lazy(nn.Sequential):
    def __init__(self) -> None:
        super().__init__(nn.LazyLinear(4), nn.LazyBatchNorm1d())


def compiled() -> Call:
    return torch.compile(nn.Sequential(nn.Linear(4, 4), nn.GELU())), (torch.randn(2, 4),), {}  # type: ignore[return-value]


def hooked() -> Call:
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    net[0].register_forward_pre_hook(lambda module, args: (args[0] * 2,))
    net[1].register_forward_hook(lambda module, args, result: result + args[0].detach())
    return net, (torch.randn(2, 4),), {}


CALLS = {
    "recursive": lambda: (Recursive(), (torch.randn(2, 4),), {}),
    "parts": lambda: (Parts(), (torch.randn(4, 4),), {}),
    "shared": lambda: (Shared(), (torch.randn(2, 4), torch.randn(2, 4)), {}),
    "lazy": lambda: (Lazy(), (torch.randn(2, 4),), {}),
    "compiled": compiled,
    "hooked": hooked,
    "hostile_names": hostile_names,
    **each(with_modules, generated, awaited, copied),
}
