"""Writes of all kinds, memory that is shared, and numbers that leave torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tests.capture.themes.builders import each, of, with_modules


def writes(x: Tensor) -> Any:
    y = torch.zeros(4, 4)
    y[0], y[:, 1] = x[0], 3
    y.view(-1)[4:8].add_(x[1])
    torch.mul(y, 2, out=y)
    y[y > 1] = 0
    y.data.clamp_(max=5)
    y.index_put_((torch.tensor([0]),), x[0]).t().fill_diagonal_(1)
    return y.T + torch.where(x > 0, x, y), y.topk(2)


def writes_its_input(x: Tensor) -> None:
    x.mul_(2)[0] = 1
    x.unsqueeze_(0)


def swaps_storages(x: Tensor) -> Any:
    y = torch.empty(0).set_(x.untyped_storage(), 0, (4,), (1,))
    z = torch.ones(2).resize_(3)
    z.data = y
    return z + 1, y


def numbers(x: Tensor) -> Any:
    if x.sum() > 0 or float(x.max()) > 5:
        x = x * x.mean().item()
    while x.norm() > 1:
        x = x / 2
    shown = f"{x[0, 0]}" + repr(x)
    return x + torch.tensor(x.tolist()) + torch.randn(4, 4) + len(x.nonzero()) + x.shape[0] + len(shown)


def through_numpy(x: Tensor) -> Any:
    array = (x * 2).detach().numpy()
    array += 1
    return torch.from_numpy(array) + torch.as_tensor(array.mean()), torch.tensor(array), x.equal(x)


def cast(held: Any, x: Tensor) -> Any:
    with torch.autocast("cpu", torch.bfloat16):
        return held.fc(held.fc(x)).float() + held.fc(x).softmax(-1)


def without_gradients(held: Any, x: Tensor) -> Any:
    with torch.no_grad():
        y = held.fc(x)
    with torch.inference_mode():
        return held.fc(y.clone()).softmax(0)


CALLS = {
    **each(of, writes, writes_its_input, swaps_storages, numbers, through_numpy),
    **each(with_modules, cast, without_gradients),
}
