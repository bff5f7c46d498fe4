"""Names of the tensors that a traced program is given and returns, by the containers that they stand in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_unflatten

from trec.capture.inputs import name_outputs
from trec.capture.leaves import leaves
from trec.capture.traced.contents import Number
from trec.capture.traced.flow import Held

if TYPE_CHECKING:
    from collections.abc import Sequence


def names_of_inputs(spec: Any, arguments: Sequence[str] | None, tensors: Sequence[bool]) -> list[str] | None:
    """Return a name for each leaf of the inputs, as recording gives them; None if the containers are not known.

    Args:
        spec: the containers: a tuple of positional arguments and a dict of keyword arguments.
        arguments: names of the arguments in the order of the call.
        tensors: for each leaf, whether it is a tensor.
    """
    if spec is None or arguments is None or spec.num_leaves != len(tensors):
        return None
    stand_ins = [torch.empty(0) if tensor else None for tensor in tensors]
    args, kwargs = tree_unflatten(stand_ins, spec)
    found = [leaf for name, arg in zip(arguments, args, strict=False) for leaf in leaves(arg, name)]
    for key, arg in kwargs.items():
        found.extend(leaves(arg, key))
    names = {id(tensor): name for name, tensor in found}
    return [names.get(id(stand_in), "") for stand_in in stand_ins]


def named_outputs(result: Any, spec: Any = None) -> list[tuple[str, Held]]:
    """Return name and tensor of each tensor of a result, as recording would.

    Args:
        result: contents of what the program returns.
        spec: the containers of the result, if the program returns the leaves alone.
    """
    held: dict[int, Held] = {}
    stand_ins: list[torch.Tensor] = []

    def stand_in(content: Any) -> Any:
        if isinstance(content, Held):
            tensor = torch.empty(0)
            stand_ins.append(tensor)
            held[id(tensor)] = content
            return tensor
        if isinstance(content, dict):
            return {key: stand_in(item) for key, item in content.items()}
        if isinstance(content, (list, tuple)):
            items = [stand_in(item) for item in content]
            return type(content)(*items) if hasattr(content, "_fields") else items
        return None if isinstance(content, Number) else content

    shown = stand_in(result)
    if spec is not None:
        flat = shown if isinstance(shown, (list, tuple)) else [shown]
        if spec.num_leaves == len(flat):
            shown = tree_unflatten(flat, spec)
    named = name_outputs(shown)
    known = {id(tensor) for _, tensor in named}
    rest = [(f"output{count}", tensor) for count, tensor in enumerate(stand_ins) if id(tensor) not in known]
    return [(name, held[id(tensor)]) for name, tensor in (*named, *rest)]
