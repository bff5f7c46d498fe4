"""What runs before and after each call of a module."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn import Module, Parameter

from trec.capture.leaves import leaves
from trec.capture.restore.parts import wraps_others
from trec.capture.torch_api import DisableTorchDispatch, DisableTorchFunction, wrapped_by_functorch
from trec.torchrecorder.nodes import ParamNode, TensorNode
from trec.torchrecorder.walk import op_acc, param_acc, tensor_acc

if TYPE_CHECKING:
    from torch import Tensor

    from trec.torchrecorder.calls import Call, Origin
    from trec.torchrecorder.nodes import LayerNode
    from trec.torchrecorder.recorder import Recorder


def leaf_dummy(tensor: Tensor, rec: Recorder) -> Tensor:
    """Return a tensor of the same numbers that may be written in place, and stands for the given one.

    Autograd lets nothing write to a leaf that requires a gradient.

    Args:
        tensor: a tensor that has a node.
        rec: the recording.
    """
    dummy = tensor.clone()
    rec.add_dummy(dummy, tensor)
    if dummy.grad_fn is not None:
        rec.add_dummy(dummy.grad_fn, tensor)
    return dummy


def prehook(module: Module, inputs: Any, rec: Recorder, node: LayerNode) -> Any:
    """Note that a module is called: its parameters, its inputs, and what ran before to make these.

    Args:
        module: the module.
        inputs: its positional arguments, or a single one.
        rec: the recording.
        node: the node of the module.

    Returns:
        The inputs. In the outermost call, leaves that require a gradient are exchanged for `leaf_dummy` of them.
    """
    with DisableTorchFunction(), DisableTorchDispatch():
        for name, param in module.named_parameters(recurse=False):
            param_acc(param, rec, node)
            rec.nodes[param].name = name
        given: dict[Origin, Any] = {}
        for tensor in _tensors(inputs):
            origin = rec.history.origin(tensor)
            given[origin] = _given(tensor, origin, rec, node)
        call = rec.enter(node, given)
        if call.outer is None or call.outer.outer is not None or not torch.is_grad_enabled():
            return inputs
        if isinstance(inputs, tuple):
            return tuple([_writable(value, call, rec) for value in inputs])
        return _writable(inputs, call, rec)


def _tensors(value: Any) -> list[Tensor]:
    """Return the tensors in arguments or results, but for those that `vmap` and its like hand to what they run."""
    return [tensor for _, tensor in leaves(value) if not wrapped_by_functorch(tensor)]


def _given(tensor: Tensor, origin: Origin, rec: Recorder, node: LayerNode) -> Any:
    """Return the key of a tensor that a module is given; it gets a node if it has none at this moment."""
    call = rec.call
    key = call.find(origin)
    if key is None:
        key = call.handed.get(origin)
    if key is None and isinstance(known := rec.nodes.get(origin.source), TensorNode):
        key = known.fn
    if key is not None:
        return key
    around = rec.nodes.get(node.parent, rec.nodes[None])
    if origin.source is tensor:
        if isinstance(tensor, Parameter):
            return rec.find_leaf(tensor, around)
        tensor_acc(tensor, rec, node)
        return tensor
    known = rec.nodes.get(tensor)
    key = call.handed[origin] = _made(tensor, origin, rec, node, around, "" if known is None else known.name)
    return key


def _made(tensor: Tensor, origin: Origin, rec: Recorder, node: LayerNode, around: Any, name: str = "") -> Any:
    """Add a tensor beside a module, and what made it; return its key, a copy that keeps the numbers of this moment.

    Args:
        tensor: the tensor.
        origin: what it comes from.
        rec: the recording.
        node: the node of the module that is given the tensor or returns it.
        around: the node of the module whose `forward` made it.
        name: its name, if it has one already: what is written in place is the same tensor at another moment.
    """
    key = tensor
    if not wraps_others(type(tensor)):  # whose copies run operators of its own
        key = tensor.detach().clone()
        if key.is_floating_point() or key.is_complex():
            key.requires_grad_()
    if name:
        rec.add_again(key, name, node)
    else:
        tensor_acc(key, rec, node)
    rec.add_dummy(tensor, key)
    if rec.is_drawn(origin, rec.call):
        op_acc(origin.source, rec, around)
        rec.add_edge(origin.source, key)
    return key


def _writable(value: Any, call: Call, rec: Recorder) -> Any:
    """Return an argument of the outermost call in a form that the model may write to."""
    if isinstance(value, Parameter) or not (isinstance(value, torch.Tensor) and value.is_leaf and value.requires_grad):
        return value
    dummy = leaf_dummy(value, rec)
    call.given[rec.history.origin(dummy)] = value
    call.tensors[rec.history.origin(dummy)] = value
    return dummy


def posthook(module: Module, inputs: Any, outputs: Any, rec: Recorder, node: LayerNode) -> Any:
    """Note that a module returned: what ran in it since, and its outputs.

    Args:
        module: the module.
        inputs: its positional arguments.
        outputs: what it returned; None if it raised.
        rec: the recording.
        node: the node of the module.

    Returns:
        The outputs.
    """
    with DisableTorchFunction(), DisableTorchDispatch():
        call = rec.resume(node)
        found = [(tensor, rec.history.origin(tensor)) for tensor in _tensors(outputs)]
        keys = [_returned(tensor, origin, rec, node) for tensor, origin in found]
        outer = rec.leave()
        for (_, origin), key in zip(found, keys, strict=True):
            if not isinstance(rec.nodes[key], ParamNode):
                outer.tensors[origin] = key
        if outer.outer is None:
            rec.returned, rec.received = keys, list(call.given.values())
            rec.single = isinstance(outputs, torch.Tensor)
    return outputs


def _returned(tensor: Tensor, origin: Origin, rec: Recorder, node: LayerNode) -> Any:
    """Return the key of a tensor that a module returns, which from now on stands beside the module."""
    call = rec.call
    key = call.find(origin)
    if origin in call.given or (key is not None and origin not in call.tensors):
        return key
    if key is None:
        key = call.handed.get(origin)
    if key is not None:
        rec.move(key, node)
        return key
    if isinstance(known := rec.nodes.get(origin.source), TensorNode):
        return known.fn
    if origin.source is tensor:
        if isinstance(tensor, Parameter):
            return rec.find_leaf(tensor, node)
        tensor_acc(tensor, rec, node)
        key = tensor
    else:
        key = _made(tensor, origin, rec, node, node)
    rec.nodes[key].call = call.outer
    return key


def backhook(module: Module, grad_inputs: Any, grad_outputs: Any, rec: Recorder, node: LayerNode) -> None:
    """Do nothing: gradients are not recorded.

    Args:
        module: a module.
        grad_inputs: gradients of its inputs.
        grad_outputs: gradients of its outputs.
        rec: a recording.
        node: the node of the module.
    """
