"""The passes on graphs of real models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn

import trec

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

pytestmark = pytest.mark.torch


class Block(nn.Module):
    """Two convolutions in train mode, written into in place, and a skip."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(4, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
        self.norm, self.relu = nn.BatchNorm2d(4), nn.ReLU(inplace=True)

    def forward(self, x: Any) -> Any:
        y = self.conv2(self.relu(self.norm(self.conv1(x))))
        y += x
        return self.relu(y)


class Tied(nn.Module):
    """An embedding whose weight is the head's, an LSTM, and a number that leaves torch."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.rnn = nn.Embedding(8, 4), nn.LSTM(4, 4, num_layers=2)
        self.head = nn.Linear(4, 8, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: Any) -> Any:
        h, (state, _) = self.rnn(self.embed(ids))
        h = torch.cat([h, torch.tensor([[[1.0] * 4]]).expand_as(h)])
        return self.head(h) * state.sum().item(), state


MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "convolutions": (lambda: nn.Sequential(Block(), nn.Sequential(Block(), Block())), lambda: torch.ones(2, 4, 5, 5)),
    "tied": (Tied, lambda: torch.arange(6).view(6, 1)),
    "leaf": (lambda: nn.Linear(3, 2), lambda: torch.ones(1, 3)),
    "attention": (
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, enable_nested_tensor=False),
        lambda: torch.ones(5, 2, 8),
    ),
}


def captured(name: str, level: Any) -> Graph:
    torch.manual_seed(0)
    make, argument = MODELS[name]
    return trec.capture(make(), args=(argument(),), level=level)


@pytest.mark.parametrize("name", MODELS)
def test_folding_gives_what_capture_gives(name: str) -> None:
    aten, function, module = (captured(name, level) for level in ("aten", "function", "module"))
    assert aten.level("function").verify() == function
    assert function.level("module").verify() == aten.level("module") == module


@pytest.mark.parametrize("level", ["function", "aten"])
@pytest.mark.parametrize("name", MODELS)
def test_depths(name: str, level: str) -> None:
    graph = captured(name, level)
    deepest = max(scope.depth for scope in graph.scopes if scope.kind == "module")
    at = [graph.collapse(depth=depth).verify() for depth in range(deepest + 2)]
    assert at[-1] == graph
    for first in range(deepest + 1):
        for second in range(deepest + 2):
            assert at[first].collapse(depth=second) == at[min(first, second)]
    (root,) = [node for node in at[0].nodes if node.kind == "module"]
    parameters = [parameter.numel() for parameter in MODELS[name][0]().parameters()]
    assert at[0].attrs_of(root)["params"] == sum(parameters)
    assert at[0].attrs_of(root)["param_bytes"] == 4 * sum(parameters)
    assert at[0].attrs_of(root)["ops"] == sum(node.kind == "op" for node in graph.nodes)
