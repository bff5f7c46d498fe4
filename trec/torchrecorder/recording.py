"""Record a model: the live view and the ordinary graph, in one forward pass."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from trec.capture.api import capture
from trec.capture.inputs import make_inputs
from trec.capture.leaves import leaves
from trec.capture.torch_api import DisableTorchDispatch, DisableTorchFunction
from trec.errors import OptionError
from trec.torchrecorder.exchange import exchanged
from trec.torchrecorder.hooks import posthook, prehook
from trec.torchrecorder.nodes import LayerNode, ParamNode
from trec.torchrecorder.recorder import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from torch import Tensor
    from torch.nn import Module


def record(
    net: Module,
    name: str,
    input_shapes: tuple[int, ...] | list[tuple[int, ...]] | None,
    input_data: Any = None,
) -> Recorder:
    """Run a model once and return what it did.

    The model, its inputs and the process are left as they were. The model runs in its own mode, with gradients, so that
    autograd names what it does.

    Args:
        net: the model.
        name: its name on pictures.
        input_shapes: sizes of one random input, or a list of such tuples for several; None if there is `input_data`.
        input_data: a tensor, or a tuple of positional arguments; anything else, such as a list or a dict of tensors,
            is the only argument.

    Returns:
        The live view; its `graph` is the same pass as an ordinary graph, which can be saved.

    Raises:
        CaptureError: the model raised.
        OptionError: there are neither shapes nor data, or they are of another form.
    """
    if not isinstance(net, torch.nn.Module):
        raise OptionError(f"record takes an nn.Module, not {type(net).__name__}")
    if input_data is not None:
        data = input_data if isinstance(input_data, tuple) else (input_data,)
        single = isinstance(input_data, torch.Tensor)
    elif input_shapes is not None:
        data = make_inputs(net, input_shapes, None, None)
        single = isinstance(input_shapes, tuple)
    else:
        raise OptionError("give input_shapes, such as (1, 3, 224, 224), or input_data: the model needs inputs to run")
    rec = Recorder()
    tensors = [tensor for _, tensor in leaves(data)]
    copies = {id(tensor): _copy(tensor) for tensor in tensors}

    def begin() -> None:
        _give_inputs(rec, tensors, copies, single)

    try:
        rec.register_hooks(net, name=name)
        with torch.inference_mode(False), torch.enable_grad(), _hooks(rec, net, begin), rec.history, rec.reshapes:
            rec.graph = capture(net, args=exchanged(data, copies), name=name)
    finally:
        rec.remove_hooks()
    _name_outputs(rec)
    return rec


def _copy(tensor: Tensor) -> Tensor:
    """Return a tensor that may become part of autograd's graph in place of the user's."""
    with torch.inference_mode(False), torch.no_grad():
        return tensor.detach().clone()


class _Begin(torch.autograd.Function):
    """Makes a tensor part of autograd's graph in place, so that the model may write to it and autograd follows."""

    @staticmethod
    def forward(ctx: Any, tensor: Tensor, anchor: Tensor) -> Tensor:
        ctx.mark_dirty(tensor)
        return tensor

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


def _give_inputs(rec: Recorder, tensors: list[Tensor], copies: dict[int, Tensor], single: bool) -> None:
    """Give the inputs their nodes, just before the model runs; what an earlier run left is forgotten."""
    rec.restart()
    single = single or len(tensors) == 1
    anchor = torch.zeros((), requires_grad=True)
    for index, tensor in enumerate(tensors):
        if tensor in rec.nodes:
            continue
        rec.add_node(tensor, name="Input" if single else f"Input-{index + 1}")
        copy = copies[id(tensor)]
        rec.add_dummy(copy, tensor)
        if copy.is_floating_point() or copy.is_complex():
            with suppress(
                RuntimeError
            ):  # some kinds of tensors refuse; what is made of them has the names of functions
                _Begin.apply(copy, anchor)  # type: ignore[no-untyped-call]
                rec.add_dummy(copy.grad_fn, tensor)


@contextmanager
def _hooks(rec: Recorder, net: Module, begin: Callable[[], None]) -> Iterator[None]:
    """Call `begin` before the model runs, and record scripted modules, which take no hooks of their own."""
    scripts: dict[Module, LayerNode] = {
        node.fn: node for node in rec.nodes.values() if isinstance(node, LayerNode) and node.pre is None
    }

    def before(module: Module, inputs: Any) -> None:
        if module is net and rec.call.outer is None:
            with DisableTorchFunction(), DisableTorchDispatch():
                begin()
        if module in scripts:
            prehook(module, inputs, rec, scripts[module])

    def after(module: Module, inputs: Any, outputs: Any) -> None:
        if module in scripts:
            posthook(module, inputs, outputs, rec, scripts[module])

    handles = (register_module_forward_pre_hook(before), register_module_forward_hook(after))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def _name_outputs(rec: Recorder) -> None:
    """Name what the model returned; what it was given, holds, or returned before gets a node of its own once more."""
    taken = {*rec.received}
    for index, key in enumerate(rec.returned):
        name = "Output" if rec.single else f"Output-{index + 1}"
        if key in taken or isinstance(rec.nodes[key], ParamNode):
            again = key.detach()
            rec.add_node(again, name=name)
            rec.add_edge(key, again)
        else:
            rec.nodes[key].name = name
        taken.add(key)
