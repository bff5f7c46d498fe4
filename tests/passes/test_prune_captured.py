from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor, nn

import trec

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.types import Level

pytestmark = pytest.mark.torch


class Keeps(nn.Module):
    """Has a parameter, a buffer and a tensor, and does something with them and an input that nobody reads."""

    def __init__(self, act: Callable[[Keeps, Tensor], object]) -> None:
        super().__init__()
        self.act = act
        self.weight = nn.Parameter(torch.ones(2, 3))
        self.register_buffer("count", torch.zeros(2, 3))
        self.count: Tensor
        self.last = torch.zeros(2, 3)

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        with torch.no_grad():
            self.act(self, x)
        return y + 1


def _assigned(net: Keeps, x: Tensor) -> None:
    net.count = x + 1


EFFECTS: dict[str, Callable[[Keeps, Tensor], object]] = {
    "into-an-input": lambda net, x: x.add_(1),
    "into-a-part-of-an-input": lambda net, x: x[0].mul_(2),
    "over-an-input": lambda net, x: x.zero_(),
    "over-a-part-of-an-input": lambda net, x: x[0].copy_(x[1]),
    "into-a-view-of-an-input": lambda net, x: torch.relu_(x.view(-1)),
    "by-index": lambda net, x: x.__setitem__(0, 1.0),
    "by-key-out": lambda net, x: torch.exp(x, out=x),
    "into-two-by-key-out": lambda net, x: torch.max(x, 1, out=(net.count[:, 0], torch.zeros(2, dtype=torch.int64))),
    "into-a-buffer": lambda net, x: net.count.add_(x),
    "into-a-parameter": lambda net, x: net.weight.data.mul_(0.9),
    "into-another-tensor": lambda net, x: net.last.copy_(x),
    "into-a-list": lambda net, x: torch._foreach_add_([torch.ones(3), net.count], 1.0),
    "a-buffer-assigned": _assigned,
    "running-statistics": lambda net, x: nn.functional.batch_norm(x, net.count[0], net.count[1], training=True),
    "random-numbers": lambda net, x: torch.rand(3),
    "dropout": lambda net, x: nn.functional.dropout(x),
    "attention-dropout": lambda net, x: nn.functional.scaled_dot_product_attention(
        x[None], x[None], x[None], dropout_p=0.5
    ),
    "a-number-taken-out": lambda net, x: x.sum().item(),
}


@pytest.mark.parametrize("level", ["function", "aten"])
@pytest.mark.parametrize("name", EFFECTS)
def test_what_the_caller_sees_stays(name: str, level: Level) -> None:
    graph = trec.capture(Keeps(EFFECTS[name]), [(2, 3), (2, 3)], level=level)
    pruned = graph.prune().verify()
    steps = [node.name for node in pruned.nodes if node.kind not in ("input", "param", "buffer", "constant", "output")]
    assert len(steps) > 1 or "count" in {dict(pruned.attrs_of(node)).get("qualname") for node in pruned.nodes}
    assert pruned.prune() == pruned


@pytest.mark.parametrize(
    "act",
    [
        lambda net, x: x.exp(),
        lambda net, x: x.exp().mul_(2),
        lambda net, x: (x + net.count).view(-1)[0].sub_(x.sum()),
        lambda net, x: nn.functional.dropout(x, training=False),
        lambda net, x: nn.functional.scaled_dot_product_attention(x[None], x[None], x[None]),
        lambda net, x: nn.functional.batch_norm(x, net.count[0], net.count[1]),
        lambda net, x: torch.exp(x, out=None),
    ],
)
@pytest.mark.parametrize("level", ["function", "aten"])
def test_what_nobody_sees_goes(act: Callable[[Keeps, Tensor], object], level: Level) -> None:
    graph = trec.capture(Keeps(act), [(2, 3), (2, 3)], level=level).prune().verify()
    assert [node.op.split(".")[-1] for node in graph.nodes if node.kind == "op"] in (["__add__"], ["add"], ["Tensor"])


def test_a_batch_is_counted_though_nobody_reads_the_count() -> None:
    graph = trec.capture(nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)), (2, 3, 8, 8))
    assert graph.prune() == graph


@pytest.mark.parametrize("level", ["function", "aten"])
def test_a_write_into_what_was_overwritten_stays(level: Level) -> None:
    graph = trec.capture(Keeps(lambda net, x: x.copy_(net.weight * 2).add_(1)), [(2, 3), (2, 3)], level=level)
    assert graph.prune() == graph
