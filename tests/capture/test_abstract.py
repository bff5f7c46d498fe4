"""Models without data: on the meta device, seen on it, or made of fake tensors."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
import torch
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

import trec
from examples.models import ResNet, UNet, gpt2, token_ids
from tests.capture.states import unchanged

pytestmark = pytest.mark.torch


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)
        self.head = nn.Linear(4, 10, bias=False)
        self.head.weight = self.table.weight
        self.register_buffer("scale", torch.ones(4), persistent=False)

    def forward(self, ids: Tensor) -> Tensor:
        logits: Tensor = self.head(self.table(ids) * self.scale)
        return logits


def shapes(graph: trec.Graph) -> list[tuple[str, str, tuple[int | str, ...], str]]:
    """Return kind, name, shape and element type of every node that yields one tensor."""
    return [
        (node.kind, node.name, graph.type_of(node.outputs[0]).shape, graph.type_of(node.outputs[0]).dtype)
        for node in graph.nodes
        if len(node.outputs) == 1
    ]


@pytest.mark.parametrize("net", [ResNet().train(), UNet().eval()], ids=["training", "evaluating"])
def test_a_model_seen_on_meta_has_the_names_and_shapes_of_the_real_one(net: nn.Module) -> None:
    real = trec.capture(net, (2, 3, 32, 32))
    with unchanged(net):
        meta = trec.capture(net, (2, 3, 32, 32), device="meta").verify()
    assert {type_.device for type_ in meta.types} == {"meta"}
    assert shapes(meta) == shapes(real)
    assert [node.inputs for node in meta.nodes] == [node.inputs for node in real.nodes]


@pytest.mark.parametrize("dtype", [None, torch.int64, torch.bool, torch.complex64])
def test_inputs_on_meta_may_be_larger_than_any_memory(dtype: torch.dtype | None) -> None:
    graph = trec.capture(nn.Flatten(0), (2**20, 2**30), dtypes=dtype, device="meta")
    assert graph.type_of(graph.nodes[-1].inputs[0]).shape == (2**50,)


def test_tied_weights_and_buffers_have_one_twin_each_with_all_their_names() -> None:
    graph = trec.capture(Tied(), (2, 3), dtypes=torch.int64, device="meta")
    held = {node.name: graph.attrs_of(node).get("aliases") for node in graph.nodes if node.kind in ("param", "buffer")}
    assert held == {"table.weight": "head.weight", "scale": None}
    assert shapes(graph) == shapes(trec.capture(Tied(), (2, 3), dtypes=torch.int64))


@pytest.mark.parametrize("inside", [True, False], ids=["in their mode", "after their mode"])
@pytest.mark.parametrize("costs", [True, False])
def test_a_model_of_fake_tensors_has_the_graph_of_the_real_one(inside: bool, costs: bool) -> None:
    mode = FakeTensorMode()
    with mode:
        net, image = UNet().train(), torch.ones(1, 3, 32, 32)
    with mode if inside else nullcontext():
        found = [trec.capture(net, args=(image,), costs=costs), trec.capture(net, (1, 3, 32, 32), costs=costs)]
    real = trec.capture(UNet().train(), (1, 3, 32, 32), costs=costs)
    assert found == [real, real]


def test_a_transformer_of_fake_tensors() -> None:
    with FakeTensorMode():
        graph = trec.capture(gpt2(), kwargs={"input_ids": token_ids(8)}).verify()
    real = trec.capture(gpt2(), kwargs={"input_ids": token_ids(8)})
    assert [scope.name for scope in graph.scopes] == [scope.name for scope in real.scopes]
    assert [row for row in shapes(graph) if row[0] == "param"] == [row for row in shapes(real) if row[0] == "param"]


def test_a_model_larger_than_any_machine() -> None:
    with torch.device("meta"):
        net = nn.Sequential(nn.Linear(10**6, 10**6), nn.ReLU(), nn.Linear(10**6, 1))
    graph = trec.capture(net, (1, 10**6), costs=True).verify()
    cost = graph.costs().total
    assert (cost.flops, cost.parameter_bytes) == (2 * (10**12 + 10**6), 4 * (10**12 + 2 * 10**6 + 1))
