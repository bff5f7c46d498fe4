"""The passes on graphs of real models."""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from msgspec.structs import replace
from torch import nn

import trec
from tests.capture.models import MODELS as EVERY
from tests.capture.models import build
from tests.distributed.test_merge import Rank, merge
from tests.passes.laws import assert_laws
from tests.passes.training import training
from trec import registry

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


SOME = "op:linear or op:conv* or op:addmm or op:m* or kind:module"
PASSES: dict[str, tuple[dict[str, Any], ...]] = {
    "collapse": ({"depth": 1}, {"depth": 2, "keep": "class:*e*"}, {"only": lambda scope: scope.depth % 2 == 1}),
    "fold": ({}, {"shapes": False}, {"ignore": ["layer_idx", "has_relative_attention_bias"]}),
    "focus": (
        {"on": SOME, "steps": 1},
        {"on": "kind:param", "steps": None, "direction": "down"},
        {"on": "kind:input", "to": "kind:output"},
    ),
    "hide": (
        {"what": "is:view or is:cast or is:identity or is:dropout or kind:param"},
        {"what": lambda node: len(node.name) % 3 == 0},
        {"what": "not (kind:op or kind:input)"},
    ),
    "level": ({"level": "module"}, {"level": "function"}),
    "phase": ({"phase": "forward"},),
    "prune": ({}, {"keep": "kind:param or is:view"}),
    "relabel": ({"labels": {"linear": "dense"}, "missing_ok": True},),
    "rename": ({"names": {"output": "result"}, "missing_ok": True}, {"names": lambda row: row.name.upper()}),
    "roll": ({},),
    "tensors": ({"which": "boundaries"}, {"which": "all"}),
}
"""For each registered pass, options that mean something for every model."""


@lru_cache(maxsize=1)
def recorded(name: str, level: Any, *, backward: bool = False) -> Graph:
    net, args, kwargs = build(name)
    return trec.capture(net, args=args, kwargs=kwargs, level=level, backward=backward)


@pytest.mark.parametrize("level", ["function", "aten"])
@pytest.mark.parametrize("name", EVERY)
def test_laws(name: str, level: str) -> None:
    assert PASSES.keys() == registry.PASSES.keys()
    graph = recorded(name, level)
    for pass_, every in PASSES.items():
        for options in every:
            assert_laws(graph, pass_, options)


@pytest.mark.parametrize("level", ["function", "aten"])
@pytest.mark.parametrize("name", ["SampleNet", "ResNet", "GPT-2"])
def test_laws_with_a_backward_pass(name: str, level: str) -> None:
    graph = recorded(name, level, backward=True)
    for pass_, every in {**PASSES, "phase": ({"phase": "forward"}, {"phase": "backward"})}.items():
        for options in every:
            assert_laws(graph, pass_, options)


@pytest.mark.parametrize("name", EVERY)
def test_passes_follow_one_another(name: str) -> None:
    """What one pass makes is a graph like any other to all of them."""
    graph = recorded(name, "aten")
    folded = graph.fold(shapes=False)
    for start in (folded, graph.collapse(depth=2), folded.tensors("all"), graph.level("function").hide("is:view")):
        for pass_, every in PASSES.items():
            assert_laws(replace(start), pass_, every[0])


def ranks(*, fold: bool) -> Graph:
    """Three ranks that communicate twice."""
    found = [Rank(rank, 3).op("relu").together("all_reduce").op("exp").together("all_reduce") for rank in range(3)]
    return merge(*found, fold=fold)


def trained() -> Graph:
    """A step of training that was recorded, with an optimizer."""
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4), nn.Dropout())
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    with trec.recording(net) as rec:
        net(torch.ones(2, 3)).sum().backward()
        optimizer.step()
    return rec.graph


SEVERAL: dict[str, Callable[[], Graph]] = {
    "training": lambda: training(3),
    "trained": trained,
    "ranks": lambda: ranks(fold=False),
    "equal ranks": lambda: ranks(fold=True),
    "runs": lambda: trec.union([training(2), training(3)]),
}
"""Graphs of several phases, ranks or runs."""


@pytest.mark.parametrize("name", SEVERAL)
def test_any_two_passes_follow_one_another_on_phases_ranks_and_runs(name: str) -> None:
    graph = SEVERAL[name]()
    applied = 0
    for first, second in product(_every(graph), repeat=2):
        try:
            between = replace(graph.apply(first[0], **first[1]))
            if second[1].get("phase", "forward") in between.phases:
                assert_laws(between, second[0], second[1])
                applied += 1
        except trec.OptionError:  # a selector that matches nothing, or a level that is not there any more
            continue
    assert applied > 300


def _every(graph: Graph) -> list[tuple[str, dict[str, Any]]]:
    phases = tuple({"phase": phase} for phase in graph.phases)
    return [(name, options) for name, every in {**PASSES, "phase": phases}.items() for options in every]


class Loop(nn.Module):
    """A cell that is called for each step, whose states are collected."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(4, 4)

    def forward(self, x: Any) -> Any:
        state = torch.zeros(x.shape[0], 4)
        states = []
        for step in range(x.shape[1]):
            state = self.cell(x[:, step], state)
            states.append(state)
        return torch.stack(states, 1), state


@pytest.mark.parametrize(("level", "nodes"), [("function", 11), ("aten", 31)])
def test_a_cell_that_is_called_a_thousand_times_is_rolled(level: Any, nodes: int) -> None:
    graph = trec.capture(Loop(), (2, 1000, 4), level=level)
    rolled = graph.roll().verify()
    assert len(rolled.nodes) == nodes
    assert max(rolled.counts) == 1000
    assert rolled.expand() is graph
    assert rolled.stats().ops == graph.stats().ops


class Expert(nn.Module):
    """A small perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 8), nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.down(torch.relu(self.up(x)))


class Experts(nn.Module):
    """Experts whose results are summed, each with its share, and a skip."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.experts = nn.Linear(4, 8), nn.ModuleList(Expert() for _ in range(8))

    def forward(self, x: Any) -> Any:
        shares = self.gate(x).softmax(-1)
        total = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            total = total + shares[..., number : number + 1] * expert(x)
        return x + total


class Bottleneck(nn.Module):
    """Three convolutions with norms, and a skip that the first block of a stage convolves too."""

    def __init__(self, before: int, after: int) -> None:
        super().__init__()
        sizes = ((before, 4, 1), (4, 4, 3), (4, after, 1))
        self.layer = nn.Sequential(
            *[nn.Sequential(nn.Conv2d(a, b, k, padding=k // 2), nn.BatchNorm2d(b), nn.ReLU()) for a, b, k in sizes]
        )
        self.shortcut = nn.Identity() if before == after else nn.Conv2d(before, after, 1)

    def forward(self, x: Any) -> Any:
        return torch.relu(self.layer(x) + self.shortcut(x))


def _stages(blocks: tuple[int, ...]) -> nn.Module:
    stages = []
    for number, count in enumerate(blocks):
        size = 8 * 2**number
        before = 3 if number == 0 else size // 2
        stages.append(nn.Sequential(*[Bottleneck(before if block == 0 else size, size) for block in range(count)]))
    return nn.Sequential(*stages).eval()


def _encoder(layers: int) -> nn.Module:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False).eval()


FOLDED: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...], int, dict[str, int]]] = {
    "transformer": (lambda: _encoder(32), (1, 4, 8), 27, {"layers.0": 32}),
    "residual": (
        lambda: _stages((3, 8, 36, 3)),
        (1, 3, 8, 8),
        250,
        {"0.1": 2, "1.1": 7, "2.1": 35, "3.1": 2},
    ),
    "experts": (lambda: nn.Sequential(*[Experts() for _ in range(6)]), (3, 4), 18, {"0": 6, "0.repeat": 8}),
}
"""Models, shapes of their inputs, nodes that are left of them, and what stands for how many."""


@pytest.mark.parametrize("name", FOLDED)
def test_blocks_are_folded(name: str) -> None:
    make, shape, nodes, counts = FOLDED[name]
    graph = trec.capture(make(), shape)
    folded = graph.fold().verify()
    assert {scope.name: 1 + len(scope.repeats) for scope in folded.scopes if scope.repeats} == counts
    assert len(folded.nodes) == nodes
    assert folded.expand() is graph
    assert sorted(origin for node in folded.nodes for origin in folded.origin(node.name)) == sorted(graph.index_of)
    before, after = graph.stats(), folded.stats()
    assert (after.ops, after.params, after.buffers) == (before.ops, before.params, before.buffers)
    assert folded.collapse(depth=1).stats().params == before.params
