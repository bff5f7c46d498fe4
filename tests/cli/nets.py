"""Models that a command line can name."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class Net(nn.Module):
    """As many linear layers as asked for, and a mask."""

    def __init__(self, depth: int = 1, width: int = 4) -> None:
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(width, width) for _ in range(depth)])

    def forward(self, x: Any, mask: Any = None, *, twice: bool = False) -> Any:
        print("in forward")  # noqa: T201
        x = self.layers(x)
        x = x if mask is None else x * mask
        return x + x if twice else x

    def other(self, x: Any) -> Any:
        return x.tanh()


class Needs(Net):
    """Nothing of it has a default."""

    def __init__(self, depth: int, width: int) -> None:
        super().__init__(depth, width)


class Tokens(nn.Module):
    """An embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)

    def forward(self, ids: Any) -> Any:
        return self.embedding(ids)


class Pictures(nn.Module):
    """A list of tensors and a number."""

    def forward(self, pictures: list[Any], scale: int) -> list[Any]:
        return [picture * scale for picture in pictures]


class Fails(nn.Module):
    """Raises behind its first layer."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)

    def forward(self, x: Any) -> Any:
        return self.first(x).reshape(7, 7)


class Numbers(nn.Module):
    """Cannot be made by shapes alone."""

    def __init__(self) -> None:
        super().__init__()
        self.rate = torch.linspace(0, 1, 3)[1].item()

    def forward(self, x: Any) -> Any:
        return x * self.rate


class Mode(nn.Module):
    """Tells its mode, and what device it was made on."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def forward(self, x: Any) -> Any:
        x = x * self.weight
        return x.exp() if self.training else x.log()


def number() -> int:
    """No model."""
    return 3


def raising() -> None:
    """No model either."""
    raise ValueError("no such width")


def ending() -> None:
    """Ends the program."""
    raise SystemExit(3)


net = Net()
