"""The tensors inside arguments and results: containers, dataclasses, and objects that hold tensors as attributes."""

from __future__ import annotations

import types
from collections import OrderedDict, deque
from collections.abc import Mapping
from enum import Enum
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from trec.capture.torch_api import inside_functorch
from trec.capture.torch_api import wrapped_by_functorch as wrapped_by_functorch

OPAQUE = (
    str, bytes, int, float, complex, bool, type(None), type, types.FunctionType, types.ModuleType,
    types.BuiltinFunctionType, types.MethodType, torch.dtype, torch.device, torch.Size, torch.nn.Module, slice, range,
    types.GetSetDescriptorType, types.MemberDescriptorType, property, staticmethod, classmethod,
)  # fmt: skip
"""Types that are never looked into."""

ATOMS = frozenset({
    str, bytes, int, float, complex, bool, type(None), type, types.FunctionType, types.ModuleType,
    types.BuiltinFunctionType, torch.dtype, torch.device, torch.Size, slice, range,
})  # fmt: skip
"""The most frequent of them, told by identity."""

PLAIN_TENSORS = frozenset({Tensor, Parameter})

DEEPEST = 60
MOST_OBJECTS = 100_000


def unwrapped(tensor: Tensor) -> Tensor:
    """Return the tensor that lies in the wrappers of functorch (vmap, grad, jvp), or the tensor itself."""
    while wrapped_by_functorch(tensor):
        tensor = inside_functorch(tensor)
    return tensor


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
    if type(value) in PLAIN_TENSORS:
        return [(name, value)]
    found: list[tuple[str, Tensor]] = []
    _descend(value, name, found, set(), [MOST_OBJECTS])
    return found


def _descend(value: Any, name: str, found: list[tuple[str, Tensor]], around: set[int], budget: list[int]) -> None:
    kind = type(value)  # to ask the object itself for its class could run code of the user's
    if issubclass(kind, Tensor):
        found.append((name, value))
        return
    if issubclass(kind, OPAQUE) or len(around) > DEEPEST or id(value) in around or budget[0] <= 0:
        return
    budget[0] -= 1
    around.add(id(value))
    prefix = f"{name}." if name else ""
    for key, item in _items(value, kind):
        kind = type(item)
        if kind in PLAIN_TENSORS:
            found.append((f"{prefix}{key}", item))
        elif kind not in ATOMS:
            _descend(item, f"{prefix}{key}", found, around, budget)
    around.discard(id(value))


def _items(value: Any, kind: type) -> Any:
    """Return the names and contents of an object; none if it fails to list them."""
    try:
        if kind is list or kind is tuple:
            return enumerate(value)
        if issubclass(kind, dict):
            table = OrderedDict if issubclass(kind, OrderedDict) else dict
            return [(_key(key), item) for key, item in table.items(value)]
        if issubclass(kind, Mapping):
            return [(_key(key), item) for key, item in value.items()]
        for base in (list, tuple, deque):
            if issubclass(kind, base):
                held = list(base.__iter__(value))
                names: Any = _declared(kind, "_fields") if base is tuple else None
                fits = type(names) is tuple and len(names) == len(held)
                return zip(names, held, strict=True) if fits else enumerate(held)
        return _attributes(value, kind)
    except Exception:  # a foreign container that fails to list its items has no leaves for us
        return ()


def _declared(kind: type, name: str) -> Any:
    """Return an attribute of a class, past the attributes of its metaclass."""
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def _key(key: Any) -> str:
    kind = type(key)
    if kind is str:
        return key  # type: ignore[no-any-return]
    if issubclass(kind, Enum):
        return str(object.__getattribute__(key, "__dict__").get("_name_", kind.__name__))
    for base in (str, bool, int, float):
        if issubclass(kind, base):
            return base.__str__(key)
    return kind.__name__


def _attributes(value: Any, kind: type) -> list[tuple[str, Any]]:
    """Return the instance attributes of an object, read past properties, `__getattr__` and `__getattribute__`.

    Those of a dataclass come in the order of its fields, and no others with them.
    """
    held = {name: item for _, name, item in slots(value)}
    try:
        own = object.__getattribute__(value, "__dict__")
    except (AttributeError, TypeError):
        own = None
    if type(own) is dict:
        held.update(own)
    fields = _declared(kind, "__dataclass_fields__")
    if type(fields) is dict:
        return [(name, held[name]) for name in fields if name in held]
    return list(held.items())


def slots(value: Any) -> list[tuple[Any, str, Any]]:
    """Return descriptor, name and value of each of an object's slots that is set."""
    held: list[tuple[Any, str, Any]] = []
    for kind in type(value).__mro__:
        if "__slots__" not in kind.__dict__:
            continue
        for name, descriptor in kind.__dict__.items():
            if type(descriptor) is types.MemberDescriptorType:
                try:
                    held.append((descriptor, name, descriptor.__get__(value)))
                except AttributeError:
                    continue
    return held
