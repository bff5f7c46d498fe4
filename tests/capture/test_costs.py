"""Floating point operations as PyTorch counts them, times that add up, and recordings that are alike all the same."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils import flop_counter
from torch.utils.flop_counter import FlopCounterMode

import trec
from examples.models import ResNet, UNet, gpt2, llama, t5, token_ids
from tests.capture.paths import Apply
from tests.capture.states import unchanged
from trec.ir.serialize import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.types import Level

pytestmark = pytest.mark.torch

LEVELS: tuple[Level, ...] = ("module", "function", "aten")


def transformer(name: str, attention: str, **options: Any) -> nn.Module:
    """Return a small model of the library `transformers`."""
    import transformers

    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}
    config = getattr(transformers, f"{name}Config")(**{**sizes, **options}, attn_implementation=attention)
    model: nn.Module = getattr(transformers, f"{name}Model")(config).eval()
    return model


def bert(attention: str) -> tuple[nn.Module, dict[str, Any]]:
    return transformer("Bert", attention, vocab_size=64), {"input_ids": token_ids(8)}


def mixtral(attention: str) -> tuple[nn.Module, dict[str, Any]]:
    options = {"vocab_size": 64, "num_key_value_heads": 2, "num_local_experts": 4, "use_cache": False}
    return transformer("Mixtral", attention, **options), {"input_ids": token_ids(8)}


def vision_transformer(attention: str) -> tuple[nn.Module, dict[str, Any]]:
    return transformer("ViT", attention, image_size=16, patch_size=4), {"pixel_values": torch.ones(1, 3, 16, 16)}


class Sequences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(4, 6, num_layers=2, bidirectional=True)
        self.attention = nn.MultiheadAttention(12, 3)
        self.transposed = nn.ConvTranspose1d(12, 5, 3, stride=2)
        self.mixed = nn.Bilinear(5, 5, 3)

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.lstm(x)
        y, _ = self.attention(y, y, y)
        y = self.transposed(y.movedim(0, -1)).movedim(-1, 0)
        return torch.einsum("abc,abd->cd", self.mixed(y, y), y) @ torch.ones(5, 2)


NETS: dict[str, Callable[[], tuple[nn.Module, dict[str, Any]]]] = {
    "U-Net": lambda: (UNet().eval(), {"image": torch.ones(1, 3, 32, 32)}),
    "ResNet in training": lambda: (ResNet().train(), {"image": torch.ones(2, 3, 32, 32)}),
    "GPT-2": lambda: (gpt2(), {"input_ids": token_ids(8)}),
    "Llama": lambda: (llama(), {"input_ids": token_ids(8)}),
    "T5": lambda: (t5(), {"input_ids": token_ids(8), "decoder_input_ids": token_ids(5)}),
    "sequences": lambda: (Sequences(), {"x": torch.ones(5, 2, 4)}),
    **{
        f"{make.__name__}, {attention}": partial(make, attention)
        for make in (bert, mixtral, vision_transformer)
        for attention in ("eager", "sdpa")
    },
}


def flops(run: Callable[[], Any]) -> int:
    """Return what PyTorch counts."""
    with FlopCounterMode(display=False) as counter:
        run()
    return int(counter.get_total_flops())


def total(graph: trec.Graph) -> int | None:
    return graph.costs().total.flops


@pytest.mark.parametrize("name", NETS)
def test_flops_are_those_that_torch_counts_at_every_level_and_after_any_collapse(name: str) -> None:
    net, inputs = NETS[name]()
    with torch.no_grad():
        graphs = [trec.capture(net, kwargs=inputs, level=level, costs=True).verify() for level in LEVELS]
        expected = flops(lambda: net(**inputs))
    assert expected > 0
    for graph in graphs:
        depths = range(max(scope.depth for scope in graph.scopes) + 2)
        assert {total(graph)} | {total(graph.collapse(depth=depth)) for depth in depths} == {expected}
    assert graphs[2].level("function") == graphs[1]
    assert graphs[2].level("module") == graphs[0]


@pytest.mark.parametrize("mode", [torch.enable_grad, torch.inference_mode])
@pytest.mark.parametrize("name", ["U-Net", "GPT-2", "sequences"])
def test_flops_do_not_depend_on_how_operators_reach_the_recording(name: str, mode: Any) -> None:
    net, inputs = NETS[name]()
    with mode():
        graph = trec.capture(net, kwargs=inputs, costs=True, level="aten")
        assert total(graph) == flops(lambda: net(**inputs))


def test_flops_stand_at_the_node_that_takes_them_and_at_no_other() -> None:
    net = nn.Sequential(nn.Linear(3, 5), nn.ReLU())
    network = trec.capture(net, (2, 3), costs=True).to_networkx()
    found = {row["name"]: row["flops"] for _, row in network.nodes(data=True) if "flops" in row}
    assert found == {"0.linear": 2 * 2 * 3 * 5}
    collapsed = trec.capture(net, (2, 3), costs=True).collapse(depth=1)
    assert [collapsed.attrs_of(node).get("flops") for node in collapsed.nodes] == [None, 60, None, None]


def test_transforms_and_functions_with_a_backward_of_their_own_are_counted() -> None:
    def mapped(x: Tensor) -> Any:
        return torch.vmap(lambda row: row @ x)(x), torch.func.grad(lambda y: (y @ x).sum())(x)

    x = torch.ones(4, 4)
    assert total(trec.capture(Apply(mapped), args=(x,), costs=True)) == flops(lambda: mapped(x)) > 0


def test_what_runs_in_place_or_into_a_given_tensor_is_counted() -> None:
    def written(x: Tensor) -> Any:
        y = torch.empty(3, 3)
        torch.mm(x, x, out=y)
        return y.addmm_(x, x)

    x = torch.ones(3, 3)
    assert total(trec.capture(Apply(written), args=(x,), costs=True)) == flops(lambda: written(x)) > 0


def test_a_formula_that_the_user_registers_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flop_counter, "flop_registry", {**flop_counter.flop_registry})
    flop_counter.register_flop_formula(torch.ops.aten.relu)(lambda shape, out_shape=None, **_: 7)
    assert total(trec.capture(nn.ReLU(), (2, 3), costs=True)) == 7


def test_a_formula_that_fails_is_reported_and_does_not_stop_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flop_counter, "flop_registry", {**flop_counter.flop_registry})
    flop_counter.register_flop_formula(torch.ops.aten.relu)(lambda: 7)
    with pytest.warns(UserWarning, match="formula for floating point operations failed"):
        graph = trec.capture(nn.ReLU(), (2, 3), costs=True)
    assert total(graph) == 0


def test_shapes_alone_are_enough_to_count() -> None:
    net = UNet().eval()
    assert total(trec.capture(net, (1, 3, 32, 32), device="meta", costs=True)) == flops(
        lambda: net(torch.ones(1, 3, 32, 32))
    )


def test_no_flops_are_counted_unless_asked_for() -> None:
    graph = trec.capture(nn.Linear(2, 3), (1, 2))
    cost = graph.costs().total
    assert (cost.flops, cost.seconds) == (None, None)
    assert (cost.parameter_bytes, cost.output_bytes) == (9 * 4, 3 * 4)
    assert trec.capture(nn.ReLU(), (1, 2), costs=True).costs().total.flops == 0


@pytest.mark.parametrize("level", LEVELS)
def test_no_call_takes_longer_than_the_one_around_it(level: Level) -> None:
    graph = trec.capture(UNet().eval(), (1, 3, 32, 32), costs=True, level=level)
    for seen in (graph, graph.collapse(depth=2)):
        costs = seen.costs()
        inside = [0.0] * len(seen.scopes)
        for scope, cost in zip(seen.scopes[1:], costs.scopes[1:], strict=True):
            assert cost.seconds is not None
            inside[scope.parent] += cost.seconds
        for node, cost in zip(seen.nodes, costs.nodes, strict=True):
            assert (cost.seconds is None) == (node.kind not in ("op", "module"))
            inside[node.parent if node.scope < 0 else node.scope] += cost.seconds or 0.0 if node.scope < 0 else 0.0
        for held, cost in zip(inside, costs.scopes, strict=True):
            assert cost.seconds is not None
            assert 0 <= held <= cost.seconds * 1.001 + 1e-6


def test_times_stay_with_what_they_were_taken_of() -> None:
    graph = trec.capture(UNet().eval(), (1, 3, 32, 32), costs=True)
    taken = dict(zip([scope.name for scope in graph.scopes], graph.costs().scopes, strict=True))
    collapsed = graph.collapse(depth=1)
    for node, cost in zip(collapsed.nodes, collapsed.costs().nodes, strict=True):
        if node.kind == "module":
            before = taken[node.name]
            assert (cost.flops, cost.parameter_bytes, cost.seconds) == (
                before.flops,
                before.parameter_bytes,
                before.seconds,
            )
    assert decode(encode(graph)).costs().total.seconds is None


def test_two_recordings_with_costs_are_the_same_bytes() -> None:
    one, two = (trec.capture(UNet().eval(), (1, 3, 32, 32), costs=True) for _ in range(2))
    assert one.seconds.keys() == two.seconds.keys()
    two.__dict__["seconds"] = dict.fromkeys(two.seconds, 7.0)
    assert encode(one) == encode(two)
    assert decode(encode(one)) == one == two


@pytest.mark.parametrize("name", ["U-Net", "T5", "sequences"])
def test_counting_changes_nothing_else_in_the_graph(name: str) -> None:
    net, inputs = NETS[name]()
    plain, counted = (trec.capture(net, kwargs=inputs, costs=costs, level="aten") for costs in (False, True))
    assert (counted.values, counted.types, counted.sources) == (plain.values, plain.types, plain.sources)
    assert [counted.source_of(scope) for scope in counted.scopes] == [plain.source_of(scope) for scope in plain.scopes]
    for node, other in zip(counted.nodes, plain.nodes, strict=True):
        assert [pair for pair in counted.attrs[node.attrs] if pair[0] != "flops"] == list(plain.attrs[other.attrs])
        assert (node.name, node.inputs, counted.source_of(node)) == (other.name, other.inputs, plain.source_of(other))


def test_nothing_is_changed_by_counting() -> None:
    net, x = ResNet().train(), torch.ones(2, 3, 16, 16)
    with unchanged(net, x):
        trec.capture(net, args=(x,), costs=True)


def test_a_model_that_fails_has_the_costs_of_what_ran() -> None:
    with pytest.raises(trec.CaptureError) as caught:
        trec.capture(nn.Sequential(nn.Linear(2, 3), nn.Linear(2, 3)), (1, 2), costs=True)
    assert caught.value.graph is not None
    assert total(caught.value.graph) == 2 * 2 * 3
