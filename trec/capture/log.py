"""What recording writes down while the model runs: values, calls of modules and functions, operators, in order.

The log is written in the model's own time, so it holds plain tuples and lists; `trec.capture.assemble` makes the graph
of it when the model has returned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import CodeType

    from trec.ir.types import NodeKind, ScopeKind

Place = tuple["CodeType", int] | None
"""Code object and offset of the instruction that made a call; None: where the enclosing module was called."""

Event = tuple["NodeKind", Any, int, list[int], list[int], Any, Place]
"""Kind, operator or name, scope, values read (once per use), values made, what it was given besides, place."""

ValueType = tuple[Any, Any, Any, Any]
"""Shape, dtype, device and layout of a value, as torch objects."""

STRIDED = torch.strided
UninitializedTensor = torch.nn.parameter.UninitializedTensorMixin


class Origin(NamedTuple):
    """The name of a tensor that belongs to the model or was given to it."""

    kind: NodeKind
    names: list[str]


class ScopeRecord:
    """One call of a module that was entered."""

    __slots__ = ("call", "cls", "error", "first_value", "kind", "module", "parent", "path", "place")

    def __init__(
        self, kind: ScopeKind, path: str, cls: str, call: int, parent: int, module: Any, first_value: int, place: Place
    ) -> None:
        self.kind, self.path, self.cls, self.call, self.parent = kind, path, cls, call, parent
        self.module, self.first_value, self.place = module, first_value, place
        self.error = ""


class Call:
    """One call of a torch function, with the operators that it ran."""

    __slots__ = (
        "arguments", "events", "function", "given", "host", "place", "read", "results", "scope", "split", "tensors",
    )  # fmt: skip

    def __init__(self, function: Any, scope: int, place: Place) -> None:
        self.function, self.scope, self.place = function, scope, place
        self.events: list[Event] = []
        self.arguments: Any = None
        self.tensors: Sequence[torch.Tensor] = ()
        """Tensors among the arguments; dropped when the call returns, so that nothing is kept alive."""
        self.given: Sequence[int] = ()
        """Values of those tensors at the moment of the call."""
        self.read: tuple[int, ...] = ()
        """Values that the call depends on though none of its operators reads them."""
        self.results: Sequence[int] = ()
        self.split = False
        """A module was entered inside: its operators must stand singly, or the graph could have a cycle."""
        self.host = False


class Log:
    """Everything written down during one recording."""

    def __init__(self) -> None:
        self.events: list[Event | Call] = []
        self.types: list[ValueType] = []
        self.scopes: list[ScopeRecord] = []

    def value(self, tensor: torch.Tensor) -> int:
        """Return a new value with the type of the tensor."""
        types = self.types
        try:
            types.append((tensor.shape, tensor.dtype, tensor.device, tensor.layout))
        except RuntimeError:  # a lazy parameter has no shape yet, a strided nested tensor never has one
            types.append((_partial_shape(tensor), tensor.dtype, tensor.device, tensor.layout))
        return len(types) - 1

    def like(self, value: int) -> int:
        """Return a new value with the type of another."""
        self.types.append(self.types[value])
        return len(self.types) - 1


def _partial_shape(tensor: torch.Tensor) -> tuple[Any, ...]:
    if isinstance(tensor, UninitializedTensor):
        return ("?",)
    try:
        return (tensor.size(0), *["?"] * (tensor.dim() - 1))
    except RuntimeError:
        return ("?",)
