"""What builds a model that calls a function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from tests.capture.paths import Apply

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.capture.models import Call


def of(function: Callable[..., Any]) -> Callable[[], Call]:
    """Return what builds a model that calls the function with a matrix."""
    return lambda: (Apply(function), (torch.randn(4, 4),), {})


def with_modules(function: Callable[..., Any]) -> Callable[[], Call]:
    """Return what builds a model that calls the function with itself, for it has modules, and a matrix."""

    def build() -> Call:
        nets = nn.ModuleList([nn.Linear(4, 3) for _ in range(3)])
        net = Apply(function, fc=nn.Linear(4, 4), gru=nn.GRU(4, 3), cell=nn.GRUCell(4, 3), nets=nets)
        return net, (torch.randn(4, 4),), {}

    return build


def of_images(function: Callable[..., Any]) -> Callable[[], Call]:
    """Return what builds a model that calls the function with itself, for it has convolutions, and an image."""

    def build() -> Call:
        net = Apply(function, down=nn.Conv2d(2, 2, 3), up=nn.ConvTranspose2d(2, 2, 3, 3))
        return net, (torch.randn(1, 2, 8, 8),), {}

    return build


def each(build: Callable[[Any], Callable[[], Call]], *functions: Any) -> dict[str, Callable[[], Call]]:
    """Return what builds a model for each of the functions, by its name."""
    return {function.__name__: build(function) for function in functions}
