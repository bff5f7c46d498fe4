"""What a tensor consists of: its storage, or the tensors inside one that has none of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from trec.capture.leaves import PLAIN_TENSORS, slots, wrapped_by_functorch
from trec.capture.log import STRIDED
from trec.capture.torch_api import plain_dispatch, swap_tensors

_PARTS = {
    torch.sparse_coo: ("_indices", "_values"),
    torch.sparse_csr: ("crow_indices", "col_indices", "values"),
    torch.sparse_bsr: ("crow_indices", "col_indices", "values"),
    torch.sparse_csc: ("ccol_indices", "row_indices", "values"),
    torch.sparse_bsc: ("ccol_indices", "row_indices", "values"),
}


def wraps_others(kind: type) -> bool:
    """Tell whether a class of tensors runs its operators in Python, on tensors that it holds."""
    handler: Any = plain_dispatch
    return kind not in PLAIN_TENSORS and getattr(kind, "__torch_dispatch__", handler) is not handler


def parts_of(tensor: Tensor) -> list[Tensor]:
    """Return the tensors that hold the numbers of a tensor: itself, if it has a storage."""
    kind = type(tensor)
    if wraps_others(kind):
        held = [*object.__getattribute__(tensor, "__dict__").values(), *(value for _, _, value in slots(tensor))]
        return [part for value in held if issubclass(type(value), Tensor) for part in parts_of(value)]
    names = _PARTS.get(tensor.layout)
    if names is not None:
        return [getattr(Tensor, name)(tensor.detach()) for name in names]
    return [tensor] if tensor.layout is STRIDED else []


def storages_of(tensor: Tensor) -> list[torch.UntypedStorage]:
    """Return the storages that hold the numbers of a tensor."""
    return [Tensor.untyped_storage(part) for part in parts_of(tensor)]


def alias_of(tensor: Tensor) -> Tensor | None:
    """Return another tensor of the very same numbers and form; None where torch itself does not know the form."""
    if wraps_others(type(tensor)) or wrapped_by_functorch(tensor):
        return None
    if tensor.layout in _PARTS and tensor.layout is not torch.sparse_coo:  # resized, its parts change in every alias
        rows, columns, values = [part.detach() for part in parts_of(tensor)]
        make = torch.sparse_compressed_tensor
        return make(rows, columns, values, _SHAPE(tensor), layout=tensor.layout, check_invariants=False)
    return Tensor.detach(tensor)


def form_of(tensor: Tensor) -> list[Any]:
    """Return where the numbers of a tensor lie and how they are read, as something to compare."""
    form: list[Any] = [tensor.layout, tensor.dtype]
    if tensor.layout is torch.sparse_coo:
        form.append(tensor.is_coalesced())
    if tensor.is_nested:
        return [*form, tensor.untyped_storage()._cdata, tensor._nested_tensor_size().tolist()]
    form.append(_SHAPE(tensor))
    for part in parts_of(tensor):
        form += [part.untyped_storage()._cdata, part.storage_offset(), _SHAPE(part), part.stride()]
        form += [part.is_conj(), part.is_neg()]
    return form


_SHAPE = Tensor.shape.__get__  # type: ignore[attr-defined]


def become(tensor: Tensor, alias: Tensor) -> None:
    """Let a tensor have the numbers and the form of another."""
    if tensor.layout in _PARTS and tensor.layout is not torch.sparse_coo:
        tensor.resize_as_sparse_(alias)  # `data` would take over the shape alone
    else:
        tensor.data = alias
    if form_of(tensor) != form_of(alias):
        raise RuntimeError("torch does not let it take its old form")


def become_leaf(tensor: Tensor) -> None:
    """Take the history off a tensor that had none, also where it is a view: those torch detaches only as a whole."""
    base = tensor._base
    if base is None:
        tensor.detach_()
        return
    if not base.is_leaf:
        base.detach_()
    with torch.enable_grad():  # made without, it could not be written where gradients are wanted
        fresh = base.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    swap_tensors(tensor, fresh)


def leaves_behind(tensor: Tensor) -> list[Tensor]:
    """Return the leaves of the graph that a tensor was made by: a backward in the model gives them gradients."""
    todo: list[Any] = [tensor.grad_fn]
    seen: set[Any] = set()
    found = []
    while todo and len(seen) < _MOST_NODES:
        node = todo.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        variable = getattr(node, "variable", None)
        if isinstance(variable, Tensor) and type(node).__name__ == "AccumulateGrad":
            found.append(variable)
        todo.extend(node for node, _ in node.next_functions)
    return found


_MOST_NODES = 100_000
