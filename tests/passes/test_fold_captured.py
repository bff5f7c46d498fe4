"""Folding of recorded steps of training: real models, and nets in which blocks differ on the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

import trec
from tests.capture.models import build
from tests.passes.laws import assert_laws

if TYPE_CHECKING:
    from trec.ir.graph import Graph

pytestmark = pytest.mark.torch


def repeats(graph: Graph) -> dict[str, int]:
    return {scope.name: 1 + len(scope.repeats) for scope in graph.verify().scopes if scope.repeats}


def assert_folds(graph: Graph, expected: dict[str, int], **options: Any) -> None:
    """Blocks are folded as expected, what differentiates them too, and all sums and members stay."""
    folded = graph.fold(**options)
    assert repeats(folded) == expected
    assert_laws(graph, "fold", options)
    image = {origin: index for index, node in enumerate(folded.nodes) for origin in folded.origin(node.name)}
    rows = {(image[graph.nodes[row.node].name], image[graph.nodes[row.forward].name]) for row in graph.derivatives}
    assert rows == {(row.node, row.forward) for row in folded.derivatives}
    assert folded.stats().ops == graph.stats().ops


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ResNet", {"stage1.0": 2, "stage1.1.backward": 2}),
        ("GPT-2", {"transformer.h.0": 2, "transformer.h.1.backward": 2}),
        ("BERT", {"bert.encoder.layer.0": 2, "bert.encoder.layer.1.backward": 2}),
        ("ViT", {"layers.0": 2, "layers.1.backward": 2}),
    ],
)
@pytest.mark.parametrize("level", ["function", "aten"])
def test_blocks_of_models_are_folded_in_both_directions(name: str, level: Any, expected: dict[str, int]) -> None:
    net, args, kwargs = build(name)
    graph = trec.capture(net, args=args, kwargs=kwargs, level=level, backward=True)
    assert_folds(graph, expected)
    assert graph.fold().phase("forward") == graph.phase("forward").fold()


def test_what_is_kept_of_each_layer_is_folded_with_it() -> None:
    """The loss sums up the cache of each layer, so backward begins with a step for each of them."""
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        vocab_size=32, hidden_size=8, intermediate_size=16, num_hidden_layers=4, num_attention_heads=2
    )  # fmt: skip
    graph = trec.capture(LlamaForCausalLM(config), args=(torch.ones(1, 5, dtype=torch.int64),), backward=True)
    expected = {"model.layers.0": 4, "model.layers.3.backward": 4, "backward.repeat": 4, "backward.repeat_1": 4}
    assert_folds(graph, expected)
    assert len(graph.fold().nodes) < len(graph.nodes) / 2.5


def test_experts_of_any_number_of_tokens_are_folded_in_both_directions() -> None:
    net, args, kwargs = build("Mixtral")
    graph = trec.capture(net, args=args, kwargs=kwargs, backward=True)
    expected = {"model.layers.0": 2, "model.layers.0.mlp.experts.repeat": 3, "model.layers.1.backward": 2}
    assert_folds(graph, expected, shapes=False)


def test_gradients_that_are_added_up_are_not_in_the_first_block_that_makes_one() -> None:
    """All blocks but the first of T5 share its position bias; the first on the way back adds to nothing."""
    from transformers import T5Config, T5Model

    config = T5Config(
        vocab_size=32, d_model=8, d_kv=4, d_ff=16, num_layers=4, num_heads=2, use_cache=False, dropout_rate=0.0
    )  # fmt: skip
    graph = trec.capture(
        T5Model(config),
        args=(torch.ones(1, 5, dtype=torch.int64),),
        kwargs={"decoder_input_ids": torch.ones(1, 3, dtype=torch.int64)},
        backward=True,
    )
    found = repeats(graph.fold())
    assert found == {
        "encoder.block.1": 2, "decoder.block.1": 2, "decoder.block.2.backward": 2, "encoder.block.2.backward": 2,
    }  # fmt: skip
    assert_laws(graph, "fold", {})


class Block(nn.Module):
    """A norm and a linear layer with a skip."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.fc = nn.LayerNorm(4), nn.Linear(4, 4)

    def forward(self, x: Any) -> Any:
        return x + torch.tanh(self.fc(self.norm(x)))


class Stack(nn.Module):
    """Blocks behind an embedding."""

    def __init__(self, count: int = 6, kind: str = "") -> None:
        super().__init__()
        self.embed, self.kind = nn.Linear(4, 4), kind
        self.layers = nn.ModuleList(Block() for _ in range(count))
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: Any) -> Any:
        x = self.embed(x)
        for layer in self.layers:
            if self.kind == "scaled":
                x = x * self.scale
            if self.kind in ("checkpoint", "reentrant"):
                x = checkpoint(layer, x, use_reentrant=self.kind == "reentrant")
            else:
                x = layer(x)
        return x


def recorded(net: nn.Module) -> Graph:
    return trec.capture(net, (3, 4), backward=True)


def test_a_frozen_block_is_not_among_the_others() -> None:
    net = Stack(7)
    net.layers[3].requires_grad_(False)
    expected = {"layers.0": 3, "layers.4": 3, "layers.6.backward": 3, "layers.2.backward": 3}
    assert_folds(recorded(net), expected)


def test_blocks_with_a_tied_weight_are_not_among_the_others() -> None:
    net: Any = Stack(7)
    net.layers[3].fc.weight = net.embed.weight
    expected = {"layers.0": 3, "layers.4": 3, "layers.6.backward": 3, "layers.2.backward": 3}
    assert_folds(recorded(net), expected)


def test_gradients_of_a_weight_that_all_blocks_read_are_added_up_from_the_second_on() -> None:
    net: Any = Stack(6)
    for layer in net.layers[1:]:
        layer.fc.weight = net.layers[0].fc.weight
    found = repeats(recorded(net).fold())
    assert found == {"layers.1": 4, "layers.4.backward": 4}
    assert_laws(recorded(net), "fold", {})


def test_a_weight_between_the_blocks_is_added_up_as_well() -> None:
    assert_folds(recorded(Stack(6, "scaled")), {"repeat": 5, "backward.repeat": 5})


@pytest.mark.parametrize("kind", ["checkpoint", "reentrant"])
def test_what_is_computed_again_is_folded_with_its_backward(kind: str) -> None:
    graph = recorded(Stack(6, kind))
    assert_folds(graph, {"layers.0": 6, "backward.repeat": 6})
    folded = graph.fold()
    assert sum(scope.cls == "recompute" for scope in folded.scopes) == 1


@pytest.mark.parametrize(
    ("name", "steps", "expected"),
    [
        ("SGD", 1, ["layers.0", "layers.4.backward", "SGD.repeat"]),
        (
            "AdamW",
            2,
            [
                *["layers.0", "layers.4.backward", "layers.0#2", "layers.4#2.backward"],
                *["AdamW.repeat", "AdamW.repeat_1", "AdamW#2.repeat"],
            ],
        ),
    ],
)
def test_an_optimizer_that_steps_for_each_parameter_is_folded_as_well(
    name: str, steps: int, expected: list[str]
) -> None:
    net = Stack(5)
    optimizer: Any = getattr(torch.optim, name)(net.parameters(), lr=0.1, foreach=False)
    with trec.recording(net) as rec:
        for _ in range(steps):
            optimizer.zero_grad()
            net(torch.ones(3, 4)).sum().backward()
            optimizer.step()
    assert_folds(rec.graph, dict.fromkeys(expected, 5))


@pytest.mark.parametrize("name", ["", "SGD"])
def test_layers_are_folded_inside_of_steps_that_repeat(name: str) -> None:
    """The first step stands alone: it adds to no gradient, and reads weights that no step before has changed."""
    net = Stack(4)
    with trec.recording(net) as rec:
        optimizer: Any = torch.optim.SGD(net.parameters(), lr=0.1, foreach=False) if name else None
        for _ in range(4):
            if name:
                net.zero_grad()
            net(torch.ones(3, 4)).sum().backward()
            if name:
                optimizer.step()
    first = ["layers.0", "layers.3.backward", "layers.0#2", "layers.3#2.backward"]
    assert_folds(rec.graph, dict.fromkeys(first + ["SGD.repeat", "SGD#2.repeat"] * bool(name), 4) | {"repeat": 3})
    folded = rec.graph.fold()
    counts = {scope.name: count for scope, count in zip(folded.scopes, folded.counts, strict=True)}
    assert (counts["layers.0"], counts["layers.0#2"]) == (4, 12)
    for depth in range(3):
        found, expected = folded.collapse(depth=depth).stats(), rec.graph.stats()
        assert (found.ops, found.params, found.param_bytes) == (expected.ops, expected.params, expected.param_bytes)


def test_layers_are_folded_inside_of_calls_that_repeat() -> None:
    net = Stack(4)
    with torch.no_grad(), trec.recording(net) as rec:
        for _ in range(5):
            net(torch.ones(3, 4))
    assert_folds(rec.graph, {"repeat": 5, "layers.0": 4})
    assert rec.graph.fold().collapse(depth=2).stats().params == rec.graph.stats().params


def test_a_cell_that_is_called_again_and_again_is_rolled_in_both_directions() -> None:
    class Loop(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cell = nn.GRUCell(4, 4)

        def forward(self, x: Any, state: Any) -> Any:
            for step in range(20):
                state = self.cell(x[:, step], state)
            return state

    state = torch.zeros(3, 4, requires_grad=True)
    graph = trec.capture(Loop(), args=(torch.ones(3, 20, 4), state), backward=True)
    rolled = graph.roll().verify()
    assert repeats(rolled) == {"repeat": 20, "cell#19.backward": 18}
    assert_laws(graph, "roll", {})


class Activated(nn.Module):
    """Norms whose activations are called beside them, so that an iteration is no single call."""

    def __init__(self) -> None:
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(4) for _ in range(4)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for norm in self.norms:
            x = torch.tanh(norm(x))
        return x


def test_weights_stay_in_their_loop_when_its_calls_become_nodes() -> None:
    graph = trec.capture(Activated(), (2, 4), backward=True)
    closed = graph.fold().collapse(depth=1).verify()
    assert closed.stats().params == graph.stats().params
