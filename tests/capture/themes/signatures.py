"""What a model may be given and return, and how it may fail."""

from __future__ import annotations

import contextlib
import types
from collections import namedtuple
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from tests.capture.paths import Apply
from tests.capture.themes.builders import each, with_modules

if TYPE_CHECKING:
    from tests.capture.models import Call


@dataclass
class Batch:
    image: Tensor
    labels: list[Tensor]


Pair = namedtuple("Pair", "first second")


def containers(held: Any, batch: Any, *rest: Any, scale: Any = None, **named: Any) -> Any:
    total = held.fc(batch.image) + sum(batch.labels) + rest[0][0] * rest[1]["x"][3]
    if scale is not None and named["mode"] == "add":
        total = total + scale
    return {1: Pair(total, batch.labels), "two": Batch(total * 2, [total.neg()])}, None, 3


def containers_call() -> Call:
    x = torch.randn(4, 4)
    batch = Batch(x, [x + 1, x + 2])
    net = Apply(containers, fc=nn.Linear(4, 4))
    return net, (batch, (x,), {"x": {3: x * 3}}), {"scale": x, "mode": "add", "flag": None}


def boxes(held: Any, x: Tensor) -> Any:
    image = types.SimpleNamespace(tensors=x[None], sizes=[(4, 4)])
    scores = held.fc(image.tensors).flatten().sigmoid()
    kept = torch.nonzero(scores > 0.3).squeeze(1)
    corners = torch.stack([kept, kept + 1, kept * 2, kept * 2 + 1], 1).float()
    order = scores[kept].argsort(descending=True)
    area = (corners[:, 2] - corners[:, 0]).clamp(0) * (corners[:, 3] - corners[:, 1]).clamp(0)
    return [{"boxes": corners[order[:2]], "area": area, "scores": scores[kept].topk(1).values}]


def flags(x: Tensor, on: Any, none: Any, text: Any, numbers: Any) -> Any:
    assert none is None
    assert text == "sum"
    return x.sum(numbers[1]) if on else x


def flags_call() -> Call:
    return Apply(flags), (torch.randn(4, 4), True, None, "sum", [0, 1]), {}


def same_tensor_twice() -> Call:
    x = torch.randn(4, 4)
    return Apply(lambda a, b, c: a @ b + c), (x, x, x.t()), {}


def no_input() -> Call:
    return Apply(lambda held: held.weight * 1, weight=nn.Parameter(torch.ones(2))), (), {}


def fails(held: Any, x: Tensor) -> Any:
    with contextlib.suppress(RuntimeError):
        torch.mm(x, torch.ones(5, 5))
    raise ZeroDivisionError(str(held.fc(x).shape))


def wrong_call() -> Call:
    return Apply(lambda x, mask: x * mask), (torch.ones(2),), {}


def fails_in_an_operator(held: Any, x: Tensor) -> Any:
    return held.fc(x[:, :2])


CALLS = {
    "containers": containers_call,
    "flags": flags_call,
    "same_tensor_twice": same_tensor_twice,
    "no_input": no_input,
    "wrong_call": wrong_call,
    **each(with_modules, boxes, fails, fails_in_an_operator),
}
