"""A recorder driven by hand, and what a recording leaves behind: nothing."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

import trec
import trec.torchrecorder as ours
from tests.torchrecorder.drawings import read
from tests.torchrecorder.models import MODELS, ResNet, SampleNet
from tests.torchrecorder.original import torchrecorder as theirs
from trec.errors import CaptureError, OptionError
from trec.torchrecorder import make_dot, record, recorder
from trec.torchrecorder.nodes import LayerNode, OpNode, ParamNode, TensorNode
from trec.torchrecorder.recorder import Recorder

pytestmark = pytest.mark.torch


def by_hand(package: Any, net: nn.Module, shape: tuple[int, ...]) -> Any:
    rec = package.recorder.Recorder()
    rec.register_hooks(net, name="Net")
    data = torch.randn(shape, requires_grad=True)
    rec.add_node(data, depth=0, parent=None, name="Input")
    rec.nodes[net(data)].name = "Output"
    rec.remove_hooks()
    return rec


@pytest.mark.parametrize("name", ["sample", "convolutions", "mlp", "in place", "grouped", "normalised", "transformer"])
@pytest.mark.parametrize("depth", [1, 2])
def test_hooks_and_nodes_set_by_hand_record_as_record_does(name: str, depth: int) -> None:
    make, shape = MODELS[name]
    hand = read(make_dot(by_hand(ours, make(), shape), depth))
    assert hand.nodes == read(theirs.make_dot(by_hand(theirs, make(), shape), depth)).nodes
    assert hand == read(make_dot(record(make(), "Net", shape), depth))


def test_the_functions_work_one_by_one() -> None:
    net = nn.Linear(3, 2)
    rec = Recorder()
    rec.register_hooks(net, name="Net")
    rec.remove_hooks()
    layer = rec.nodes[net]
    assert isinstance(layer, LayerNode)
    data = torch.randn(1, 3, requires_grad=True)
    recorder.tensor_acc(data, rec, layer)
    assert isinstance(rec.nodes[data], TensorNode)
    (given,) = recorder.prehook(net, (data,), rec, layer)
    assert torch.equal(given, data)
    assert rec.nodes[given] is rec.nodes[data]
    assert {type(rec.nodes[param]) for param in net.parameters()} == {ParamNode}
    result = net(given)
    assert recorder.posthook(net, (given,), result, rec, layer) is result
    assert {type(rec.nodes[key]) for key in layer.subnets} == {ParamNode, OpNode}
    assert rec.nodes[result.grad_fn].parent is net
    again = result.exp()
    recorder.op_acc(again.grad_fn, rec, layer)
    assert rec.nodes[again.grad_fn].name == "ExpBackward0"
    assert any(edge[1] is again.grad_fn for edge in rec.edges)


def test_a_leaf_has_a_dummy_that_stands_for_it_and_may_be_written() -> None:
    rec = Recorder()
    leaf = torch.ones(2, requires_grad=True)
    rec.add_node(leaf, name="leaf")
    dummy = recorder.leaf_dummy(leaf, rec)
    assert rec.nodes[dummy] is rec.nodes[dummy.grad_fn] is rec.nodes[leaf]
    dummy.add_(1)
    assert torch.equal(leaf, torch.ones(2))


def test_parameters_are_added_once() -> None:
    net = nn.Linear(3, 2)
    rec = Recorder()
    rec.register_hooks(net)
    recorder.param_acc(net.weight, rec, rec.nodes[net])
    node = rec.nodes[net.weight]
    recorder.param_acc(net.weight, rec, rec.nodes[net])
    assert rec.nodes[net.weight] is node
    assert (node.depth, node.parent, rec.fn_types["Parameter"]) == (1, net, 1)
    rec.remove_hooks()


def test_the_live_view_holds_the_objects_of_the_pass() -> None:
    net = SampleNet()
    rec = record(net, "Net", (1, 3))
    layer = rec.nodes[net.linear_1]
    assert isinstance(layer, LayerNode)
    assert (layer.fn, layer.name, layer.depth, layer.parent) == (net.linear_1, "linear_1\n(Linear)", 1, net)
    operations = [node for node in rec.nodes.values() if isinstance(node, OpNode)]
    assert all(node.fn.next_functions for node in operations)
    tensors = [node.fn for node in rec.nodes.values() if type(node) is TensorNode]
    assert all(isinstance(tensor, torch.Tensor) for tensor in tensors)
    assert set(rec.nodes) == set(rec.fn_set)
    assert "linear_1\n(Linear)(depth=1, fn=Linear, parent=SampleNet, subnets=" in str(layer)


def test_tensors_keep_the_numbers_that_they_had_when_they_passed() -> None:
    net = nn.Sequential(nn.Flatten(), nn.ReLU(inplace=True))
    data = -torch.ones(1, 2)
    rec = record(net, "Net", None, data)
    values = {node.name: node.fn.tolist() for node in rec.nodes.values() if isinstance(node, TensorNode)}
    assert values["Input"] == [[-1, -1]]
    assert values["Output"] == [[0, 0]]


def test_what_cannot_be_drawn_is_refused() -> None:
    rec = Recorder()
    with pytest.raises(OptionError, match="a int has no place"):
        rec.add_node(3)
    with pytest.raises(OptionError, match="joins two objects"):
        rec.add_edge(None, torch.ones(1))


@pytest.mark.parametrize(
    ("net", "shapes", "message"),
    [(print, (1, 3), "takes an nn.Module"), (nn.Linear(3, 2), None, "give input_shapes")],
)
def test_wrong_arguments_are_told(net: Any, shapes: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        record(net, "Net", shapes)


# ---- what is left behind


def hooks(net: nn.Module) -> int:
    tables = ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_always_called", "_forward_hooks_with_kwargs")
    everywhere = nn.modules.module
    count = sum(len(getattr(module, table)) for module in net.modules() for table in tables)
    return count + len(everywhere._global_forward_hooks) + len(everywhere._global_forward_pre_hooks)


@pytest.mark.parametrize("training", [True, False])
def test_the_model_and_its_input_are_as_before(training: bool) -> None:
    net = ResNet().train(training)
    net.fc.weight.requires_grad_(False)
    before = {name: tensor.clone() for name, tensor in net.state_dict().items()}
    data = torch.randn(2, 3, 32, 32)
    copy = data.clone()
    state = torch.get_rng_state()
    record(net, "Net", None, data)
    assert all(torch.equal(tensor, before[name]) for name, tensor in net.state_dict().items())
    assert all(module.training is training for module in net.modules())
    assert [name for name, param in net.named_parameters() if not param.requires_grad] == ["fc.weight"]
    assert torch.equal(data, copy)
    assert (data.requires_grad, data.grad_fn, data.is_leaf) == (False, None, True)
    assert torch.equal(torch.get_rng_state(), state)
    assert hooks(net) == 0


def test_no_hook_stays_when_the_model_fails() -> None:
    net = SampleNet()
    net.linear_3 = nn.Linear(5, 1)
    with pytest.raises(CaptureError, match="in module 'linear_3'") as raised:
        record(net, "Net", (1, 3))
    assert isinstance(raised.value.__cause__, RuntimeError)
    assert raised.value.graph is not None
    assert hooks(net) == 0


def test_a_recording_can_be_saved(tmp_path: Any) -> None:
    rec = record(SampleNet(), "Sample Net", (1, 3))
    assert rec.graph is not None
    rec.graph.save(tmp_path / "sample.trec")
    assert trec.load(tmp_path / "sample.trec") == trec.capture(SampleNet(), (1, 3), name="Sample Net")
