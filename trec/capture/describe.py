"""What a module was constructed with, as it shows itself."""

from __future__ import annotations

import ast
import inspect
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch

from trec.capture.arguments import attribute

if TYPE_CHECKING:
    from trec.ir.types import Attr, AttrRow

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_NO_ARGUMENT = frozenset({"self", "device", "dtype"})
_SPREAD = frozenset({inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD})
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
    held = module.__dict__
    if kind.extra_repr is not torch.nn.Module.extra_repr:
        try:
            text = module.extra_repr()
        except Exception:  # the user's own code
            text = ""
        if type(text) is str and text:
            given, named = _parsed(text)
            if not given:
                return named
            shows = next((cls for cls in kind.__mro__ if "extra_repr" in cls.__dict__), kind)
            names = _argument_names(shows) or _argument_names(kind)
            return (*zip(_matching(names, held, given), given, strict=True), *named)
    if isinstance(module, torch.nn.Sequential):
        layers = [type(layer).__name__ for layer in held["_modules"].values() if layer is not None]
        return (("layers", attribute(tuple(layers[:_MOST_LAYERS]))),) if layers else ()
    return tuple((name, attribute(held[name])) for name in _argument_names(kind) if _is_plain(held.get(name)))


def _is_plain(value: Any) -> bool:
    if issubclass(type(value), (tuple, list)):  # `isinstance` would ask the object itself
        return 0 < len(value) <= 8 and all(issubclass(type(item), _PLAIN) for item in value)
    return issubclass(type(value), _PLAIN)


def _matching(names: tuple[str, ...], held: dict[str, Any], given: tuple[Attr, ...]) -> list[str]:
    """Return the names of positional arguments, in order, without those by which the module holds something else."""
    further = iter(names)
    found = [next((name for name in further if _may_be(held.get(name), value)), "") for value in given]
    return found if all(found) else [*names, *[f"arg{at}" for at in range(len(names), len(given))]][: len(given)]


def _may_be(held: Any, value: Attr) -> bool:
    return not _is_plain(held) or attribute(held) == value


def _argument_names(kind: Any) -> tuple[str, ...]:
    """Return what a constructor takes, and what those take that it hands further arguments on to."""
    names = _names_of.get(kind)
    if names is None:
        found: dict[str, None] = {}
        for cls in kind.__mro__:
            if "__init__" not in cls.__dict__:
                continue
            try:
                parameters = inspect.signature(cls.__init__).parameters.values()
            except (TypeError, ValueError):
                break
            plain = [one.name for one in parameters if one.kind not in _SPREAD]
            found.update(dict.fromkeys(plain))
            if len(plain) == len(parameters):
                break
        names = _names_of[kind] = tuple(name for name in found if name not in _NO_ARGUMENT)
    return names


@lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[tuple[Attr, ...], AttrRow]:
    """Return what stands in a text without a name, and with one."""
    text = _ADDRESS.sub("", text)
    try:
        call = ast.parse(f"f({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        call = None
    if not isinstance(call, ast.Call):
        return (), (("extra", attribute(text)),)
    named = tuple((part.arg or "kwargs", _value(part.value)) for part in call.keywords)
    return tuple(map(_value, call.args)), named


def _value(part: ast.expr) -> Attr:
    try:
        return attribute(ast.literal_eval(part))
    except (ValueError, TypeError, RecursionError):
        return attribute(ast.unparse(part))
