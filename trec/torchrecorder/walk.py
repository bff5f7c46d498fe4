"""The walk from a tensor back over what made it, as far as it is not there yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from trec.torchrecorder.history import Step

if TYPE_CHECKING:
    from torch import Tensor

    from trec.torchrecorder.recorder import Recorder


def op_acc(gf: Any, rec: Recorder, node: Any) -> None:
    """Add an operation, and all those before it that are not there yet, with the edges between them.

    The leaves of autograd's graph stand for the tensors that they hold.

    Args:
        gf: the operation, the `grad_fn` of a tensor; nothing is done for None.
        rec: the recording.
        node: the module that ran them.
    """
    if gf is None or gf in rec.nodes or _leaf(gf, rec, node) is not None:
        return
    rec.add_node(gf, node.depth + 1, node.fn)
    todo = [(gf, rec.history.sources(gf))]
    while todo:
        target, sources = todo[-1]
        for origin in sources:
            key = rec.find(origin, rec.call)
            if key is None:
                key = _leaf(origin.source, rec, node)
            if key is None:
                key = origin.source
                if isinstance(key, (Step, torch.Tensor)) and not rec.is_drawn(origin, rec.call):
                    continue
                rec.add_node(key, node.depth + 1, node.fn)
                rec.add_edge(key, target)
                todo.append((key, rec.history.sources(key)))
                break
            rec.add_edge(key, target)
        else:
            todo.pop()


def _leaf(gf: Any, rec: Recorder, node: Any) -> Any:
    """Return the key of the tensor that a leaf of autograd's graph holds; None for anything else."""
    variable = getattr(gf, "variable", None)
    if not isinstance(variable, torch.Tensor):
        return None
    key = rec.find_leaf(variable, node)
    rec.add_dummy(gf, key)
    return key


def tensor_acc(tensor: Tensor, rec: Recorder, node: Any) -> None:
    """Add a tensor that a module was given or returned, if it is not there yet.

    Args:
        tensor: the tensor.
        rec: the recording.
        node: the module; the tensor stands beside it, not in it.
    """
    if tensor not in rec.nodes:
        rec.add_node(tensor, node.depth, node.parent)


def param_acc(param: Tensor, rec: Recorder, node: Any) -> None:
    """Add a parameter, if it is not there yet.

    Args:
        param: the parameter.
        rec: the recording.
        node: the module that holds it.
    """
    if param not in rec.nodes:
        rec.add_node(param, node.depth + 1, node.fn)
