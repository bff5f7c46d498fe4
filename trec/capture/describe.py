"""What a module was constructed with, as it shows itself."""

from __future__ import annotations

import ast
import inspect
import re
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch

from trec.capture.arguments import attribute

if TYPE_CHECKING:
    from trec.ir.types import Attr, AttrRow

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_NO_ARGUMENT = frozenset({"self", "device", "dtype"})
_MOST_LAYERS = 16
_names_of: WeakKeyDictionary[type, tuple[str, ...]] = WeakKeyDictionary()
"""Names of the constructor arguments of each class; a class of the user's goes when it would have gone."""
_PLAIN = (bool, int, float, str)


def describe(module: Any) -> AttrRow:
    """Return the constructor arguments of a module: what `extra_repr` shows, else attributes named as arguments.

    Of a `Sequential` these are the classes of what it was given, as `layers`. User code that raises here costs only its
    attributes.
    """
    kind: Any = type(module)
    if kind.extra_repr is not torch.nn.Module.extra_repr:
        try:
            text = module.extra_repr()
        except Exception:  # the user's own code
            text = ""
        if type(text) is str and text:
            return _parsed(_argument_names(kind), text)
    held = module.__dict__
    if isinstance(module, torch.nn.Sequential):
        layers = [type(layer).__name__ for layer in held["_modules"].values() if layer is not None]
        return (("layers", attribute(tuple(layers[:_MOST_LAYERS]))),) if layers else ()
    return tuple((name, attribute(held[name])) for name in _argument_names(kind) if _is_plain(held.get(name)))


def _is_plain(value: Any) -> bool:
    if issubclass(type(value), (tuple, list)):  # `isinstance` would ask the object itself
        return 0 < len(value) <= 8 and all(issubclass(type(item), _PLAIN) for item in value)
    return issubclass(type(value), _PLAIN)


def _argument_names(kind: Any) -> tuple[str, ...]:
    names = _names_of.get(kind)
    if names is None:
        try:
            parameters = inspect.signature(kind.__init__).parameters
        except (TypeError, ValueError):
            parameters = MappingProxyType({})
        names = _names_of[kind] = tuple(name for name in parameters if name not in _NO_ARGUMENT)
    return names


@lru_cache(maxsize=4096)
def _parsed(names: tuple[str, ...], text: str) -> AttrRow:
    text = _ADDRESS.sub("", text)
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if not isinstance(call, ast.Call):
        return (("extra", attribute(text)),)
    row: list[tuple[str, Attr]] = []
    for position, part in enumerate(call.args):
        row.append((names[position] if position < len(names) else f"arg{position}", _value(part)))
    row.extend((part.arg or "kwargs", _value(part.value)) for part in call.keywords)
    return tuple(row)


def _value(part: ast.expr) -> Attr:
    try:
        return attribute(ast.literal_eval(part))
    except (ValueError, TypeError, RecursionError):
        return attribute(ast.unparse(part))
