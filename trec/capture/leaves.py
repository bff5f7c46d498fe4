"""The tensors inside arguments and results: containers, dataclasses, and objects that hold tensors as attributes."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import torch
from torch import Tensor

OPAQUE = (
    str, bytes, int, float, complex, bool, type(None), type, types.FunctionType, types.ModuleType,
    types.BuiltinFunctionType, types.MethodType, torch.dtype, torch.device, torch.Size, torch.nn.Module, slice, range,
)  # fmt: skip
"""Types that are never looked into."""

DEEPEST = 60
MOST_OBJECTS = 100_000

wrapped_by_functorch = torch._C._functorch.is_functorch_wrapped_tensor


def add_tensors(value: Any, found: list[Tensor]) -> None:
    """Append the tensors of lists, tuples and dicts, as torch functions and operators take them."""
    if isinstance(value, Tensor):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            add_tensors(item, found)
    elif isinstance(value, dict):
        for item in value.values():
            add_tensors(item, found)


def leaves(value: Any, name: str = "") -> list[tuple[str, Tensor]]:
    """Return name and tensor of every leaf of an argument or a result, in order.

    Mappings, sequences and dataclasses are descended, other objects through their attributes, past properties and
    `__getattr__`. A tensor that stands twice is there twice.

    Args:
        value: what to look into.
        name: name of the whole; that of a leaf is followed by keys, positions and attribute names, set off by dots.
    """
    found: list[tuple[str, Tensor]] = []
    _descend(value, name, found, [], [MOST_OBJECTS])
    return found


def _descend(value: Any, name: str, found: list[tuple[str, Tensor]], around: list[int], budget: list[int]) -> None:
    kind = type(value)
    if issubclass(kind, Tensor):
        found.append((name, value))
        return
    if issubclass(kind, OPAQUE) or len(around) > DEEPEST or id(value) in around or budget[0] <= 0:
        return
    budget[0] -= 1
    around.append(id(value))
    for key, item in _items(value):
        _descend(item, f"{name}.{key}" if name else str(key), found, around, budget)
    around.pop()


def _items(value: Any) -> list[tuple[Any, Any]]:
    try:
        if isinstance(value, Mapping):
            return [(_key(key), item) for key, item in list(value.items())]
        if isinstance(value, (list, tuple, deque)):
            names = getattr(type(value), "_fields", None) if isinstance(value, tuple) else None
            if isinstance(names, tuple) and len(names) == len(value):
                return list(zip(names, value, strict=True))
            return list(enumerate(value))
        held = attributes(value)
        if is_dataclass(value):
            return [(field.name, held.get(field.name)) for field in fields(value)]
        return list(held.items())
    except Exception:  # a foreign container that fails to list its items has no leaves for us
        return []


def _key(key: Any) -> str:
    return key if type(key) is str else str(key) if isinstance(key, (int, float, bool)) else type(key).__name__


def attributes(value: Any) -> dict[str, Any]:
    """Return the instance attributes of an object, read past properties, `__getattr__` and `__getattribute__`."""
    held = slots(value)
    try:
        own = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        return held
    return {**held, **own} if isinstance(own, dict) else held


def slots(value: Any) -> dict[str, Any]:
    """Return the values of an object's slots that are set."""
    held: dict[str, Any] = {}
    for kind in type(value).__mro__:
        names = kind.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else tuple(names):
            descriptor = kind.__dict__.get(name)
            if isinstance(descriptor, types.MemberDescriptorType):
                try:
                    held[name] = descriptor.__get__(value)
                except AttributeError:
                    continue
    return held
