"""Arguments that are no tensors, kept as plain values and given their names."""

from __future__ import annotations

import enum
from functools import lru_cache
from math import copysign, isfinite
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import Parameter

from trec.capture.leaves import add_tensors
from trec.capture.overloads import overload_of, parameters_of

if TYPE_CHECKING:
    from trec.ir.types import Attr, AttrRow

TENSOR = "\x00tensor"
"""Stands in frozen arguments where a tensor stood."""

TRUE, FALSE, FLOAT = "\x00true", "\x00false", "\x00float"
"""Stand for booleans and before whole floats, so that frozen arguments are equal only if they are the same."""

_EXACT = frozenset({int, str, type(None), torch.dtype, torch.device, torch.Size, torch.layout, torch.memory_format})
_NO_TENSORS = frozenset({bool, float, slice, type(Ellipsis), complex})
_LONGEST_TEXT = 200
_LONGEST_SEQUENCE = 64

Frozen = tuple[tuple[Any, ...], tuple[tuple[str, Any], ...]]

Outline = tuple[list[Any], dict[str, Any] | None]
"""Arguments without tensors, not frozen yet."""


def freeze(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Frozen, list[torch.Tensor]]:
    """Return the arguments with every tensor replaced, so that nothing is kept alive, and the tensors in order."""
    tensors: list[torch.Tensor] = []
    positional = []
    for arg in args:
        kind = type(arg)
        if kind is Tensor or kind is Parameter:
            tensors.append(arg)
            positional.append(TENSOR)
        elif kind in _EXACT:
            positional.append(arg)
        else:
            positional.append(_frozen(arg))
            if kind not in _NO_TENSORS:
                add_tensors(arg, tensors)
    if not kwargs:
        return (tuple(positional), ()), tensors
    named = []
    for key, arg in kwargs.items():
        kind = type(arg)
        if kind in _EXACT:
            named.append((key, arg))
        else:
            named.append((key, _frozen(arg)))
            if kind not in _NO_TENSORS:
                add_tensors(arg, tensors)
    return (tuple(positional), tuple(named)), tensors


def outline(args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Outline | None:
    """Return the arguments with every tensor replaced, to be frozen later if they are wanted; None if it takes longer.

    This is for the operators inside function calls, few of which are drawn on their own.
    """
    positional = []
    for arg in args:
        kind = type(arg)
        if kind is Tensor or kind is Parameter:
            positional.append(TENSOR)
        elif kind in _EXACT or kind in _NO_TENSORS:
            positional.append(arg)
        else:
            return None
    if kwargs and not all(type(arg) in _EXACT or type(arg) in _NO_TENSORS for arg in kwargs.values()):
        return None
    return positional, kwargs


def _frozen(value: Any, depth: int = 0) -> Any:
    kind = type(value)
    if kind in _EXACT:
        return value
    if kind is bool:
        return TRUE if value else FALSE
    if isinstance(value, torch.Tensor):
        return TENSOR
    if kind is float:
        if not isfinite(value) or (not value and copysign(1, value) < 0):
            return repr(value)
        return (FLOAT, value) if value.is_integer() else value
    if kind is slice:
        parts = (value.start, value.stop, value.step)
        if any(isinstance(part, torch.Tensor) for part in parts):
            return "tensor slice"
        return ":".join("" if part is None else str(part) for part in parts[: 3 if parts[2] is not None else 2])
    if value is Ellipsis:
        return "..."
    if kind in (tuple, list):
        if len(value) > _LONGEST_SEQUENCE or depth > 3:
            return f"{kind.__name__} of {len(value)}"
        return tuple([_frozen(item, depth + 1) for item in value])
    return _described(value)


def _described(value: Any) -> Any:
    """Return a short stable text for a value of any other type; foreign code is never asked for its repr."""
    if isinstance(value, (int, float, str)) and not isinstance(value, enum.Enum):
        return next(plain(value) for plain in (bool, int, float, str) if isinstance(value, plain))
    if isinstance(value, complex):
        return repr(complex(value))
    if isinstance(value, enum.Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, type):
        return value.__qualname__
    if isinstance(value, (FunctionType, BuiltinFunctionType, MethodType)):
        return getattr(value, "__qualname__", "function")
    if isinstance(value, (torch.SymInt, torch.SymFloat, torch.SymBool)):
        return str(value)
    return f"<{type(value).__name__}>"


def attribute(value: Any, depth: int = 0) -> Attr:
    """Return a frozen argument, or any plain value, as an attribute of the IR."""
    if value is None or type(value) is bool:
        return value
    if type(value) is int:
        return value if -(2**63) <= value < 2**63 else str(value)
    if type(value) is str:
        return value if len(value) <= _LONGEST_TEXT else value[: _LONGEST_TEXT - 1] + "…"
    if type(value) is float:
        return value if isfinite(value) else repr(value)
    if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
        return str(value).removeprefix("torch.")
    if isinstance(value, torch.device):
        return str(value)
    if isinstance(value, (tuple, list)):
        if depth == 3:
            return str(len(value))
        return tuple([attribute(item, depth + 1) for item in value])  # type: ignore[misc]
    return attribute(_shown(_frozen(value)))


def schema_of(function: Any, frozen: Frozen) -> Any:
    """Return the schema of an operator, or that of the overload which a function of torch leads to; None if unknown."""
    schema = getattr(function, "_schema", None)
    if schema is not None:
        return schema
    positional, keywords = frozen
    return overload_of(function, tuple(map(_kind, positional)), tuple((name, _kind(value)) for name, value in keywords))


@lru_cache(maxsize=4096)
def name_arguments(function: Any, frozen: Frozen) -> AttrRow:
    """Return the frozen arguments that are no tensors, with the names that the function gives them; none twice."""
    positional, keywords = frozen
    given = tuple((key, _kind(value)) for key, value in keywords)
    parameters = parameters_of(function, tuple(map(_kind, positional)), given)
    row: dict[str, Attr] = {}
    taken = dict(keywords)
    for position, value in enumerate(positional):
        name, is_list = parameters[position] if position < len(parameters) else (f"arg{position}", False)
        if name in taken:
            name = f"arg{position}"
        taken[name] = value
        last = position == len(parameters) - 1 < len(positional) - 1
        if (
            is_list and last and type(value) in (int, str) and value is not TENSOR
        ):  # view(2, -1), or with a size by its name
            row[name] = attribute(positional[position:])
            break
        if not _only_tensors(value):
            row[name] = attribute(_shown(value))
    row.update((key, attribute(_shown(value))) for key, value in keywords if not _only_tensors(value))
    written = _written_by_keyword(function)
    out = tuple([value for key, value in keywords if key in written and _only_tensors(value)])
    if out:  # nothing else tells of it: what is overwritten is not read
        row["out"] = attribute(_shown(out[0] if len(out) == 1 else out))
    return tuple(row.items())


def _written_by_keyword(function: Any) -> frozenset[str]:
    """Return the keywords of what a function overwrites: `out`, or the other names that operators have for it."""
    schema = getattr(function, "_schema", None)
    arguments = schema.arguments if schema is not None else ()
    written = [
        row.name for row in arguments if row.kwarg_only and row.alias_info is not None and row.alias_info.is_write
    ]
    return frozenset(["out", *written])


def _only_tensors(value: Any) -> bool:
    if type(value) is tuple:
        return bool(value) and all(map(_only_tensors, value))
    return value is TENSOR


def _shown(value: Any) -> Any:
    if type(value) is str:
        return _MEANING.get(value, value)
    if type(value) is not tuple:
        return value
    return value[1] if value and value[0] is FLOAT else tuple(map(_shown, value))


_MEANING: dict[str, Any] = {TENSOR: "tensor", TRUE: True, FALSE: False}


def _kind(value: Any) -> str:
    """Return in one word what an argument is, to choose among overloads."""
    if type(value) is tuple:
        if value and value[0] is FLOAT:
            return "float"
        return "tensors" if value and all(item is TENSOR for item in value) else "list"
    if value is TENSOR:
        return "Tensor"
    return "bool" if value is TRUE or value is FALSE else type(value).__name__
