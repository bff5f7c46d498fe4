"""The layout of the page is that of Python for what was recorded of real models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

import torch
from torch import Tensor, nn

import trec
from examples.models import UNet
from tests.capture.models import MODELS, build
from tests.distributed.test_merge import Rank
from tests.html.test_layout import compare
from trec.backends.lower import lower
from trec.backends.measure import diagram
from trec.backends.options import PictureOptions

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph
    from trec.layout.diagram import Diagram

pytestmark = [pytest.mark.node, pytest.mark.torch]


class Dense(nn.Module):
    """Layers each of which reads what all layers before it gave."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            [
                nn.Sequential(nn.BatchNorm2d(4 * (1 + index)), nn.Conv2d(4 * (1 + index), 4, 1))
                for index in range(layers)
            ]
        )

    def forward(self, x: Tensor) -> Tensor:
        features = [x]
        for layer in self.layers:
            features.append(layer(torch.cat(features, 1)))
        return torch.cat(features, 1)


class Loop(nn.Module):
    """A cell that is called again with what it gave, which `roll` makes an edge that a loop carries."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        state = torch.zeros(1, 4)
        for step in x.unbind(0):
            state = self.cell(step, state)
        logits: Tensor = self.head(state)
        return logits


def recorded(name: str) -> Graph:
    if name in MODELS:
        net, args, kwargs = build(name)
        return trec.capture(net, args=args, kwargs=kwargs)
    if name == "UNet":
        return trec.capture(UNet().eval(), (1, 3, 16, 16))
    return trec.capture(Dense(9).eval(), (1, 4, 5, 5)) if name == "Dense" else trec.capture(Loop(), (6, 1, 3))


def pictures(graph: Graph) -> list[Diagram]:
    """Return what is laid out for a graph in all directions, in columns, at every depth, folded and rolled."""
    depth = max(node.depth for node in graph.nodes)
    options: list[tuple[Graph, PictureOptions, float]] = [
        *[(graph.collapse(depth=level), PictureOptions(), 0) for level in range(1, depth + 1)],
        *[(graph, PictureOptions(rankdir=rankdir), wrap) for rankdir in ("TB", "LR", "BT", "RL") for wrap in (0, 400)],
        (graph, PictureOptions(params=True, shapes="all"), 0),
        (graph, PictureOptions(tensors="nodes"), 700),
        (graph.fold(), PictureOptions(), 0),
        (graph.roll(), PictureOptions(), 0),
    ]
    return [diagram(lower(one, **chosen), wrap=wrap) for one, chosen, wrap in options]


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Sequential(nn.Linear(8, 8), nn.Tanh()), nn.Linear(8, 2))


def joint(name: str) -> Graph:
    """Return a forward pass with the backward one behind it."""
    net, args, kwargs = build(name) if name in MODELS else (mlp(), (torch.ones(3, 4),), {})
    return trec.capture(net, args=args, kwargs=kwargs, backward=True)


@pytest.mark.parametrize("name", ["MLP", "GPT-2"])
def test_passes_beside_one_another_are_laid_out_as_in_python(name: str, tmp_path: Path) -> None:
    found = pictures(joint(name))
    assert sum(True in diagram.columns for diagram in found) > 4
    compare(found, tmp_path / "diagrams.json")


def test_ranks_beside_one_another_are_laid_out_as_in_python(tmp_path: Path) -> None:
    """Two ranks of which the first sends what it made to the second, which sends something back."""
    ranks = [
        Rank(0).op("relu").send(1).together("all_reduce").op("neg").recv(1),
        Rank(1).recv(0).op("exp").together("all_reduce").send(0).op("abs"),
    ]
    found = pictures(trec.merge([rank.graph() for rank in ranks], fold=False))
    assert sum(diagram.columns == (False, False) for diagram in found) > 4
    compare(found, tmp_path / "diagrams.json")


@pytest.mark.parametrize("name", ["Llama", "GPT-2", "T5", "Mixtral", "Mamba", "ResNet", "UNet", "Dense", "Loop"])
def test_models_are_laid_out_as_in_python(name: str, tmp_path: Path) -> None:
    compare(pictures(recorded(name)), tmp_path / "diagrams.json")
