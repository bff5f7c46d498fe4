"""Backward passes that a capture runs: what they hold, what they differentiate, and that they leave no trace."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import networkx
import pytest
import torch
import torch.utils.checkpoint
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

import trec
from tests.capture.models import MODELS, build
from tests.capture.paths import Apply, ops
from tests.capture.states import unchanged
from trec.capture.leaves import leaves
from trec.errors import CaptureError, OptionError

if TYPE_CHECKING:
    from trec import Graph

pytestmark = pytest.mark.torch

NAMES = pytest.mark.parametrize("name", MODELS)
LEVELS = pytest.mark.parametrize("level", ["function", "aten"])
checkpoint: Any = vars(torch.utils.checkpoint)["checkpoint"]


def perceptron() -> nn.Sequential:
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def both(net: nn.Module, *args: Any, level: Any = "function", **options: Any) -> Graph:
    """Return the graph of both passes, after checks that hold for every model: nothing is changed, levels agree."""
    options = {"backward": True, **options}
    with unchanged(net, args):
        graph = trec.capture(net, args=args, **options).verify()
    with unchanged(net, args):
        fine = trec.capture(net, args=args, level="aten", **options).verify()
    assert fine.level("function").nodes == graph.nodes
    assert fine.level("function").derivatives == graph.derivatives
    assert networkx.is_directed_acyclic_graph(fine.to_networkx())
    return fine if level == "aten" else graph


def gradients(graph: Graph) -> set[str]:
    """Return the parameters whose gradients the loss reaches."""
    reached = networkx.descendants(graph.to_networkx(), graph.index_of["backward.backward"])
    leaves = [graph.nodes[row.forward] for row in graph.derivatives if row.node in reached]
    names = {leaf.name for leaf in leaves if leaf.kind == "param"}
    assert {f"{name}.grad" for name in names} <= graph.index_of.keys()
    return names


def differentiated(graph: Graph) -> dict[str, str]:
    """Return the name of the node that each operator of the backward pass differentiates."""
    return {graph.nodes[row.node].name: graph.nodes[row.forward].name for row in graph.derivatives}


def total(result: Any) -> Any:
    return sum(tensor.sum() for _, tensor in leaves(result) if tensor.is_floating_point() and tensor.requires_grad)


# ---- on models of all common kinds


@NAMES
@pytest.mark.parametrize("level", ["function", "aten", "module"])
def test_the_forward_phase_is_what_capture_gives_without(name: str, level: Any) -> None:
    net, args, kwargs = build(name)
    net.train()
    given: dict[str, Any] = {"args": args, "kwargs": kwargs, "level": level}
    graphs = []
    for backward in (True, False):
        torch.manual_seed(7)
        with unchanged(net, args, kwargs):
            graphs.append(trec.capture(net, backward=backward, **given).verify())
    joint, plain = graphs
    assert joint.phase("forward") == plain
    assert joint.phases == ("forward", "backward")


@NAMES
def test_the_loss_reaches_the_gradients_that_there_are_and_no_others(name: str) -> None:
    net, args, kwargs = build(name)
    graph = trec.capture(net, args=args, kwargs=kwargs, backward=True)
    total(net(*args, **kwargs)).backward()
    true = {key for key, parameter in net.named_parameters() if parameter.grad is not None and parameter.grad.any()}
    assert true
    assert gradients(graph) == true


@NAMES
@LEVELS
def test_operations_of_each_phase_are_those_that_torch_counts(name: str, level: Any) -> None:
    net, args, kwargs = build(name)
    graph = trec.capture(net, args=args, kwargs=kwargs, backward=True, costs=True, level=level)
    with FlopCounterMode(display=False) as forward:
        result = net(*args, **kwargs)
    with FlopCounterMode(display=False) as backward:
        total(result).backward()
    found = {row.phase: row.flops for row in graph.stats().phases}
    assert found == {"forward": forward.get_total_flops(), "backward": backward.get_total_flops()}


@NAMES
def test_each_operator_of_autograd_lies_in_the_mirror_of_the_module_that_it_differentiates(name: str) -> None:
    net, args, kwargs = build(name)
    graph = trec.capture(net, args=args, kwargs=kwargs, backward=True)
    mirrored = 0
    for index, node in enumerate(graph.nodes):
        if graph.phase_of(node) != "backward" or node.kind != "op" or node.op in ("sum", "add", "__add__", "backward"):
            continue
        (forward,) = graph.differentiated[index]
        here, there = graph.scopes[node.parent], graph.scopes[graph.nodes[forward].parent]
        mirrored += here.kind == "module"
        if node.op != "AccumulateGrad":  # a leaf lies where all that reads it does
            assert (here.path, here.cls.removesuffix("Backward")) in {(there.path, there.cls), ("", "backward")}
    assert mirrored


# ---- what a backward pass is made of


def test_nodes_of_autograd_are_operators_that_name_what_they_differentiate() -> None:
    net, x = perceptron(), torch.randn(5, 3)
    graph = both(net, x)
    assert differentiated(graph) == {
        "backward.SumBackward0": "backward.sum",
        "2.backward.AddmmBackward0": "2.linear",
        "2.bias.grad": "2.bias",
        "2.backward.TBackward0": "2.linear",
        "2.weight.grad": "2.weight",
        "1.backward.TanhBackward0": "1.tanh",
        "0.backward.AddmmBackward0": "0.linear",
        "0.bias.grad": "0.bias",
        "0.backward.TBackward0": "0.linear",
        "0.weight.grad": "0.weight",
    }
    scopes = {scope.name: (scope.kind, scope.path, scope.cls, scope.phase, scope.depth) for scope in graph.scopes}
    assert scopes["backward"] == ("region", "", "backward", "backward", 1)
    assert scopes["1.backward"] == ("module", "1", "TanhBackward", "backward", 1)
    shapes = {name: graph.type_of(graph.nodes[graph.index_of[name]].outputs[0]).shape for name in ("0.weight.grad",)}
    assert shapes == {"0.weight.grad": (4, 3)}


def test_what_autograd_saved_is_a_result_of_the_node_that_made_it() -> None:
    graph = both(nn.LayerNorm(4), torch.randn(2, 4))
    (norm,) = [node for node in graph.nodes if node.op == "layer_norm"]
    (back,) = [node for node in graph.nodes if node.op == "NativeLayerNormBackward0"]
    assert len(norm.outputs) == 3
    assert graph.attrs_of(norm)["saved"] == 2
    assert {graph.values[value].name for value in norm.outputs} == {"layer_norm", "layer_norm:1", "layer_norm:2"}
    assert set(norm.outputs[1:]) < set(back.inputs)
    assert "saved" not in graph.phase("forward").attrs_of(graph.phase("forward").nodes[3])


def test_a_collapsed_backward_stands_for_the_module_that_it_differentiates() -> None:
    net = nn.Sequential(perceptron(), nn.Linear(2, 2))
    graph = both(net, torch.randn(5, 3)).collapse(depth=1).verify()
    made = [(node.name, node.op) for node in graph.nodes if node.kind == "module"]
    assert made == [
        ("0", "Sequential"),
        ("1", "Linear"),
        ("1.backward", "LinearBackward"),
        ("0.backward", "SequentialBackward"),
    ]
    assert differentiated(graph)["0.backward"] == "0"
    assert graph.phase("forward") == trec.capture(net, args=(torch.randn(5, 3),)).collapse(depth=1)


def test_a_module_called_twice_has_two_backward_scopes() -> None:
    fc = nn.Linear(3, 3)
    graph = both(Apply(lambda held, x: held.fc(torch.relu(held.fc(x))), fc=fc), torch.randn(2, 3))
    assert [scope.name for scope in graph.scopes if scope.cls == "LinearBackward"] == ["fc#2.backward", "fc.backward"]
    assert gradients(graph) == {"fc.weight", "fc.bias"}
    (bias,) = [node for node in graph.nodes if node.name == "fc.bias.grad"]
    assert graph.scopes[bias.parent].name == "backward"  # where both calls are differentiated


class Clamped(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.clamp(-1, 1) * 2

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grads[0] * 2 * (x.abs() < 1)


@LEVELS
def test_the_backward_of_a_function_of_the_users_is_one_call(level: Any) -> None:
    net = Apply(lambda held, x: Clamped.apply(held.fc(x)), fc=nn.Linear(3, 3))  # type: ignore[no-untyped-call]
    graph = both(net, torch.randn(2, 3), level=level)
    calls = [scope.cls for scope in graph.scopes if scope.kind == "function"] if level == "aten" else ops(graph)
    assert calls.count("ClampedBackward") == 1
    assert differentiated(graph.level("function"))["backward.ClampedBackward"] == "clamp"
    assert gradients(graph.level("function")) == {"fc.weight", "fc.bias"}


def test_hooks_on_gradients_are_part_of_the_node_that_they_stand_before() -> None:
    def doubled(parameter: Any) -> None:
        parameter.grad.mul_(2)

    net: Any = perceptron()
    net[0].weight.register_hook(lambda grad: grad * 3)
    net[0].bias.register_post_accumulate_grad_hook(doubled)
    net[1].register_full_backward_hook(lambda module, into, out: (into[0] * 4,))
    graph = trec.capture(net, (5, 3), backward=True, level="aten").verify()
    scaled = [node.name for node in graph.nodes if node.op.startswith("aten.mul")]
    assert any(name.startswith("0.weight.grad.") for name in scaled)
    assert any(name.startswith("0.bias.grad.") for name in scaled)
    assert len(scaled) == 3
    assert gradients(graph.level("function")) == {"0.weight", "0.bias", "2.weight", "2.bias"}


def test_writes_in_place_are_differentiated_where_they_were_made() -> None:
    def forward(held: Any, x: Tensor) -> Tensor:
        h = held.fc(x).clone()
        h[:, 0] = 0
        h[:, 1].mul_(2)
        return torch.relu_(h)

    graph = both(Apply(forward, fc=nn.Linear(3, 3)), torch.randn(2, 3))
    found = differentiated(graph)
    assert [found[name] for name in found if "CopySlices" in name] == ["mul_", "__setitem__"]
    assert found["backward.ReluBackward0"] == "relu_"
    assert gradients(graph) == {"fc.weight", "fc.bias"}


def test_frozen_parameters_have_no_gradient_and_tied_ones_have_one() -> None:
    embed, head = nn.Embedding(5, 3), nn.Linear(3, 5)
    head.weight = embed.weight
    head.bias.requires_grad_(False)
    net = Apply(lambda held, ids: held.head(held.embed(ids)), embed=embed, head=head)
    graph = both(net, torch.tensor([[1, 2]]))
    assert gradients(graph) == {"embed.weight"}
    assert ops(graph).count("AccumulateGrad") == 1


def test_statistics_of_batches_and_masks_of_dropout_are_put_back() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.ReLU(inplace=True)).train()
    graph = both(net, torch.randn(6, 3, requires_grad=True))
    assert "NativeBatchNormBackward0" in ops(graph)
    assert "input.grad" in graph.index_of


def test_gradients_that_are_there_already_stay_as_they_are() -> None:
    net, x = perceptron(), torch.randn(5, 3)
    net(x).sum().backward()
    kept = [parameter.grad for parameter in net.parameters()]
    graph = both(net, x)
    assert all(parameter.grad is grad for parameter, grad in zip(net.parameters(), kept, strict=True))
    (added,) = [node for node in graph.nodes if node.name == "0.weight.grad"]
    assert len(added.inputs) == 2  # what was there, and what is added


# ---- how it is asked for


CONTEXTS: dict[str, Any] = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}


@pytest.mark.parametrize("context", CONTEXTS)
def test_gradients_are_followed_whatever_the_caller_does(context: str) -> None:
    net = perceptron()
    with CONTEXTS[context]():
        graph = trec.capture(net, (5, 3), backward=True)
        assert not torch.is_grad_enabled()
    assert gradients(graph) == {"0.weight", "0.bias", "2.weight", "2.bias"}


def test_the_loss_is_what_a_function_makes_of_the_result() -> None:
    criterion, target = nn.CrossEntropyLoss(), torch.tensor([0, 1, 1, 0, 1])
    net = perceptron()
    graph = both(net, torch.randn(5, 3), backward=lambda result: criterion(result, target))
    loss = graph.nodes[graph.index_of["backward.backward"]].inputs[0]
    assert graph.nodes[graph.producers[loss]].op == "cross_entropy"
    assert {graph.phase_of(node) for node in graph.nodes if node.op == "cross_entropy"} == {"backward"}
    assert graph.phase("forward") == trec.capture(net, (5, 3))


def test_outputs_that_are_no_floating_numbers_or_have_no_gradient_are_no_part_of_the_loss() -> None:
    net = Apply(lambda held, x: {"a": held.fc(x), "index": x.argmax(1), "b": [held.fc(x).exp()]}, fc=nn.Linear(3, 3))
    graph = both(net, torch.randn(2, 3))
    assert ops(graph).count("sum") == 2
    assert [node.name for node in graph.nodes if node.kind == "output"] == ["a", "index", "b.0"]


def test_a_backward_pass_on_meta() -> None:
    graph = trec.capture(perceptron(), (5, 3), device="meta", backward=True).verify()
    assert gradients(graph) == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert {graph.type_of(node.outputs[0]).device for node in graph.nodes if node.op == "AccumulateGrad"} == {"meta"}


@pytest.mark.parametrize(
    ("net", "backward", "message"),
    [
        (nn.Flatten(), True, "returned nothing that has a gradient"),
        (nn.Linear(3, 3), lambda result: result, r"a tensor of 6 elements, expected a tensor with one number"),
        (nn.Linear(3, 3), lambda result: 1.0, "returned float"),
        (nn.Linear(3, 3), lambda result: result.detach().sum(), "does not depend on anything that requires a gradient"),
        (nn.Linear(3, 3), 3, "backward takes True, False or a function"),
    ],
)
def test_what_cannot_be_a_loss_is_refused(net: nn.Module, backward: Any, message: str) -> None:
    x = torch.ones(2, 3)
    with unchanged(net, x), pytest.raises(OptionError, match=message):
        trec.capture(net, args=(x,), backward=backward)


def test_what_autograd_raises_is_reported_with_what_ran() -> None:
    class Broken(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Tensor) -> Tensor:
            return x * 2

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            raise ValueError("no way back")

    net, x = Apply(lambda held, x: Broken.apply(held.fc(x)).sum(), fc=nn.Linear(3, 3)), torch.ones(2, 3)  # type: ignore[no-untyped-call]
    with unchanged(net, x), pytest.raises(CaptureError, match=r"ValueError.*no way back") as caught:
        trec.capture(net, args=(x,), backward=True)
    graph = caught.value.graph
    assert graph is not None
    assert graph.verify().phase("forward").nodes[-1].op in ("sum", "output")


# ---- checkpoints


class Checkpointed(nn.Module):
    def __init__(self, *, reentrant: bool) -> None:
        super().__init__()
        self.block, self.head, self.reentrant = perceptron(), nn.Linear(2, 1), reentrant

    def forward(self, x: Tensor) -> Any:
        h = checkpoint(self.block, x, use_reentrant=self.reentrant)
        return self.head(checkpoint(lambda v: torch.sin(v).square(), h, use_reentrant=self.reentrant))


@pytest.mark.parametrize("reentrant", [False, True])
@LEVELS
def test_what_is_computed_again_lies_in_a_region_of_its_own(reentrant: bool, level: Any) -> None:
    net = Checkpointed(reentrant=reentrant)
    graph = both(net, torch.randn(5, 3, requires_grad=True), level=level)
    regions = [scope.name for scope in graph.scopes if scope.cls == "recompute"]
    assert regions == ["recompute", "recompute#2"]
    again = graph.scopes.index(next(scope for scope in graph.scopes if scope.name == "block#2"))
    assert graph.scopes[graph.scopes[again].parent].name == "recompute#2"
    assert {scope.phase for scope in graph.scopes if scope.name.startswith("block.0#2")} == {"backward"}
    inside = [node for node in graph.nodes if "recompute" in graph.scopes[node.parent].name]
    assert {node.op.split(".")[1] for node in inside} >= {"sin"}
    assert gradients(graph.level("function")) == {name for name, _ in net.named_parameters()}
    assert graph.phase("forward") == trec.capture(net, args=(torch.randn(5, 3, requires_grad=True),), level=level)


@pytest.mark.parametrize("autocast", [False, True])
def test_two_runs_give_the_same_bytes(autocast: bool) -> None:
    def run() -> str:
        with ExitStack() as stack:
            if autocast:
                stack.enter_context(torch.autocast("cpu", torch.bfloat16))
            return trec.capture(perceptron(), (5, 3), backward=True, level="aten").to_json()

    assert run() == run()
