"""Everything about a model, its arguments and the process that looking must not change."""

from __future__ import annotations

import random
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

if TYPE_CHECKING:
    from collections.abc import Iterator

Facts = dict[str, Any]

WRAPPED_BY_TORCH = ("manual_seed", "__init__", "__setstate__")
"""Functions that torch itself wraps when it loads its compiler."""


@contextmanager
def unchanged(net: nn.Module, *arguments: Any) -> Iterator[None]:
    """Fail if what runs inside leaves a trace on the model, its arguments or the process."""
    before = facts(net, arguments)
    try:
        yield
    finally:
        after = facts(net, arguments)
        added = {key for key in after if key.startswith("function ") and key not in before}
        different = [key for key in (before.keys() | after.keys()) - added if before.get(key) != after.get(key)]
        assert not different, f"changed: {sorted(different)}"


def facts(net: nn.Module, arguments: Any = ()) -> Facts:
    """Return the state of a model, its arguments and the process as values to compare."""
    found: Facts = {}
    for path, module in list(nn.Module.named_modules(net, remove_duplicate=False)):
        held = module.__dict__
        found[f"dict {path}"] = [(name, id(value)) for name, value in held.items()]
        found[f"class {path}"] = type(module)
        for name, value in held.items():
            if issubclass(type(value), dict):
                found[f"table {path}.{name}"] = [(key, id(item)) for key, item in value.items()]
            elif issubclass(type(value), list):
                found[f"list {path}.{name}"] = [id(item) for item in value]
        for name, tensor in [
            *module.named_parameters(recurse=False),
            *module.named_buffers(recurse=False),
            *held.items(),
        ]:
            if issubclass(type(tensor), Tensor):
                found.update(tensor_facts(tensor, f"{path}.{name}"))
    for index, leaf in enumerate(tree_leaves(arguments)):
        if isinstance(leaf, Tensor):
            found.update(tensor_facts(leaf, f"argument {index}"))
    found.update(process_facts())
    return found


def tensor_facts(tensor: Tensor, name: str) -> Facts:
    found: Facts = {
        f"{name} class": type(tensor),
        f"{name} grad": id(tensor.grad) if tensor.is_leaf and tensor.grad is not None else None,
        f"{name} flags": (tensor.requires_grad, tensor.is_leaf, id(tensor.grad_fn) if tensor.grad_fn else None),
        f"{name} hooks": str(tensor._backward_hooks),
        f"{name} attributes": sorted(name for name in tensor.__dict__ if not name.startswith("_sym_")),  # torch's own
    }
    if torch.nn.parameter.is_lazy(tensor) or tensor.device.type == "meta":
        return found
    if not tensor.is_inference():
        found[f"{name} version"] = tensor._version
    if tensor.is_leaf and tensor.grad is not None:
        found[f"{name} grad bytes"] = content(tensor.grad)
    found[f"{name} bytes"] = content(tensor)
    if tensor.layout is torch.strided and not tensor.is_nested:
        found[f"{name} place"] = (
            tensor.untyped_storage()._cdata,
            tensor.shape,
            tensor.stride(),
            tensor.storage_offset(),
        )
    return found


def content(tensor: Tensor) -> Any:
    """Return the numbers of a tensor in a form that tells a negative zero and the kind of a NaN."""
    tensor = tensor.detach()
    if hasattr(tensor, "__tensor_flatten__"):
        return [content(getattr(tensor, name)) for name in tensor.__tensor_flatten__()[0]]
    if tensor.is_nested:
        return [content(part) for part in tensor.unbind()]
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    if tensor.is_quantized:
        tensor = tensor.int_repr()
    return tensor.resolve_conj().resolve_neg().contiguous().clone().reshape(-1).view(torch.uint8).numpy().tobytes()


def process_facts() -> Facts:
    return {
        "torch generator": torch.get_rng_state().numpy().tobytes(),
        "python generator": random.getstate(),
        "numpy generator": str(np.random.get_state()),
        "grad mode": torch.is_grad_enabled(),
        "inference mode": torch.is_inference_mode_enabled(),
        "default dtype": torch.get_default_dtype(),
        "autocast": (torch.is_autocast_enabled("cpu"), torch.is_autocast_cache_enabled()),
        "threads": threading.active_count(),
        "module hooks": [
            list(table) for name, table in global_hooks().items() if name != "_global_forward_hooks_with_kwargs"
        ],
        "modes": (
            torch._C._len_torch_function_stack(),
            torch._C._len_torch_dispatch_stack(),
            torch._C._is_torch_function_enabled(),
        ),
        **functions(),
    }


def global_hooks() -> dict[str, Any]:
    """Return torch's tables of hooks that hold for every module."""
    tables = vars(nn.modules.module)
    return {name: table for name, table in tables.items() if name.startswith("_global_") and isinstance(table, dict)}


def functions() -> Facts:
    """Return torch's own functions, which nobody may replace; torch itself may add some."""
    places: tuple[Any, ...] = (torch, torch.nn.functional, Tensor, nn.Module, torch.linalg, torch.fft, torch._C._nn)
    return {
        f"function {place.__name__}.{name}": id(value)
        for place in places
        for name, value in vars(place).items()
        if callable(value) and name not in WRAPPED_BY_TORCH
    }
