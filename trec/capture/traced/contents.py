"""What a node of a traced program holds: a tensor, containers of them, or something that is no tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from torch.fx import Node

from trec.capture.arguments import TENSOR, freeze
from trec.capture.traced.flow import Held as Held

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.capture.arguments import Frozen


class Number(Struct, frozen=True):
    """Something that is no tensor and depends on the run, such as a size."""

    text: str


class Subgraph(Struct, frozen=True):
    """A graph that a higher-order operator is given to run."""

    module: Any
    name: str
    """Name of the attribute that holds it."""


class Parts(dict[int, Held]):
    """A sequence of tensors of unknown length, by the positions that the program picks."""


def mapped(value: Any, function: Callable[[Node], Any]) -> Any:
    """Return an argument with its nodes replaced, in plain containers."""
    if isinstance(value, Node):
        return function(value)
    if isinstance(value, (tuple, list)):
        items = [mapped(item, function) for item in value]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, dict):
        return {key: mapped(item, function) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*[mapped(part, function) for part in (value.start, value.stop, value.step)])
    return value


def tensors_in(content: Any) -> list[Held]:
    """Return the tensors of a content in order, one entry per place."""
    if isinstance(content, Held):
        return [content]
    if isinstance(content, slice):
        content = (content.start, content.stop, content.step)
    if isinstance(content, dict):
        content = content.values()
    elif not isinstance(content, (tuple, list)):
        return []
    return [tensor for item in content for tensor in tensors_in(item)]


def picked(content: Any, key: Any) -> Any:
    """Return what `content[key]` holds."""
    if isinstance(content, Parts) and isinstance(key, slice):
        return content
    if isinstance(content, (list, tuple, dict)):
        try:
            return content[key]
        except (LookupError, TypeError):
            pass
    return Number(f"{content.text}[{key}]" if isinstance(content, Number) else "?")


def frozen_of(args: Any, kwargs: dict[str, Any]) -> Frozen:
    """Return contents as `trec.capture.arguments.freeze` would return the arguments that they stand for."""
    frozen, _ = freeze(tuple(map(_plain, args)), {key: _plain(arg) for key, arg in kwargs.items()})
    return frozen


def _plain(content: Any) -> Any:
    if isinstance(content, Held):
        return TENSOR
    if isinstance(content, Number):
        return content.text
    if isinstance(content, Parts):
        return [TENSOR] * len(content)
    if isinstance(content, (tuple, list)):
        return [_plain(item) for item in content]
    if isinstance(content, slice):
        parts = (content.start, content.stop, content.step)
        return "tensor slice" if tensors_in(content) else slice(*[_plain(part) for part in parts])
    return content.name if isinstance(content, Subgraph) else content
