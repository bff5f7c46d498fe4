"""What recording writes down while the model runs: values, calls of modules and functions, operators, in order.

The log is written in the model's own time, so it holds plain tuples and lists; `trec.capture.emit` makes the graph of
it when the model has returned.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType
from typing import Any

import torch
from msgspec import Struct

from trec.capture.spread import local_part
from trec.capture.torch_api import UninitializedTensor as UninitializedTensor
from trec.ir.types import AttrRow, NodeKind, Phase, ScopeKind

Place = tuple[CodeType, int] | None
"""Code object and offset of the instruction that made a call; None: where the enclosing module was called."""

Event = tuple[NodeKind, Any, int, Sequence[int], Sequence[int], Any, Place]
"""Kind, operator or name, scope, values read (once per use), values made, what it was given besides, place."""

ValueType = tuple[Any, Any, Any, Any]
"""Shape, dtype, device and layout of a value, as torch objects."""

STRIDED = torch.strided


class Origin(Struct, gc=False):
    """The name of a tensor that belongs to the model or was given to it."""

    kind: NodeKind
    names: list[str]
    facts: AttrRow = ()
    """How it lies on several ranks, if it does."""


class ScopeRecord(Struct, gc=False):
    """One call of a module that was entered."""

    kind: ScopeKind
    path: str
    cls: str
    call: int
    parent: int
    module: Any
    """The module; once it has returned and is not held, its description."""
    first_value: int
    """How many values there were when the call began."""
    place: Place
    native: bool
    """Whether torch itself defines the module, so that no line of the user's is in its forward."""
    phase: Phase = "forward"
    mirrors: int = -1
    """The scope whose backward it holds; -1 for any other scope."""
    autograd: bool = False
    """Whether what lies in it is run by autograd, not computed again for it."""


class Call(Struct, gc=False):
    """One call of a torch function, with the operators that it ran."""

    function: Any
    scope: int
    place: Place
    events: list[Event]
    arguments: int | None = None
    """Index into `Log.argument_rows`."""
    tensors: Sequence[torch.Tensor] = ()
    """Tensors among the arguments; dropped when the call returns, so that nothing is kept alive."""
    given: Sequence[int] = ()
    """Values of those tensors at the moment of the call."""
    read: tuple[int, ...] = ()
    """Values that the call depends on though none of its operators reads them."""
    results: Sequence[int] = ()
    split: bool = False
    """A module was entered inside: its operators must stand singly, or the graph could have a cycle."""
    host: bool = False
    """One of its operators returned no tensor."""
    wrote: bool = False
    """One of its operators wrote an argument."""
    error: str | None = None
    """Name of the exception with which it stopped the model."""
    leaf: int = -1
    """Value of the parameter or other leaf whose gradient it adds up; -1 for any other call."""
    origin: Origin | None = None
    """Name of that leaf, if it belongs to the model."""


class Lifetime(Struct, eq=False, gc=False):
    """One storage that an operator made."""

    values: list[int]
    """The values that lay in it, in the order in which they were made."""
    bytes: int
    """Its size."""
    end: int = -1
    """How many values had been made when it was known that nothing but autograd holds it; -1 if something did."""
    freed: int = -1
    """How many values had been made when it was given back; -1 if it was there to the end."""
    held: int = -1
    """The newest value when it was last known to be held; -1 where `end` is exact because autograd keeps nothing."""
    looked: int = -1
    """The newest value when it was last looked at."""
    references: int = 0
    """How many references there were in C++ then."""
    is_reserve: bool = False
    """Whether it would be empty if autograd did not need it."""


class Log:
    """Everything written down during one recording; what repeats is kept once, which saves memory and so time."""

    def __init__(self) -> None:
        self.events: list[Event | Call] = []
        self.scopes: list[ScopeRecord] = []
        self.types: list[int] = []
        """For each value the index of its type in `type_keys`."""
        self.type_keys: list[ValueType] = []
        self.type_index: dict[ValueType, int] = {}
        self.argument_rows: list[tuple[Any, Any]] = []
        """Functions with arguments that they were given, frozen, each combination once."""
        self.costs: dict[int, tuple[int, float]] = {}
        """By the first value that it made, the floating point operations of an operator and the seconds it ran."""
        self.seconds: dict[int, float] = {}
        """Seconds that a call of a module took, by scope."""
        self.lifetimes: list[Lifetime] = []
        """Those of the storages that operators made."""
        self.watched: dict[tuple[int, ...], int] = {}
        """By kind of call, which is its arguments and the types of what it is given, when one was watched."""
        self.unwatched: list[tuple[int, tuple[int, ...]]] = []
        """When calls were made of which another of the same kind was watched, and their kind."""
        self.followed = True
        """Whether they are all there."""
        self.differentiates: dict[int, int] = {}
        """For what autograd made in a backward pass, a value that the operator made which it differentiates."""
        self._argument_index: dict[tuple[int, Any], int] = {}
        self.linked = False
        """Whether there are links that perhaps nothing reads."""

    def value(self, tensor: torch.Tensor) -> int:
        """Return a new value with the type of the tensor, or of what this rank has of it."""
        tensor = local_part(tensor)
        try:
            key = (tensor.shape, tensor.dtype, tensor.device, tensor.layout)
        except RuntimeError:  # a lazy parameter has no shape yet, a strided nested tensor never has one
            key = (_partial_shape(tensor), tensor.dtype, tensor.device, tensor.layout)  # type: ignore[assignment]
        try:
            index = self.type_index.get(key)
        except TypeError:  # symbolic sizes cannot be hashed
            key = _named(key)
            index = self.type_index.get(key)
        if index is None:
            index = self.add_type(key)
        types = self.types
        types.append(index)
        return len(types) - 1

    def add_type(self, key: ValueType) -> int:
        """Return the index of a type that is new."""
        index = self.type_index[key] = len(self.type_keys)
        self.type_keys.append(key)
        return index

    def type_of(self, value: int) -> ValueType:
        """Return the type of a value."""
        return self.type_keys[self.types[value]]

    def like(self, value: int) -> int:
        """Return a new value with the type of another."""
        self.types.append(self.types[value])
        return len(self.types) - 1

    def arguments(self, function: Any, frozen: Any) -> int:
        """Return the index of the frozen arguments of a function."""
        key = (id(function), frozen)
        try:
            index = self._argument_index.get(key)
        except TypeError:  # symbolic sizes cannot be hashed
            frozen = _named(frozen)
            key = (id(function), frozen)
            index = self._argument_index.get(key)
        if index is None:
            index = self._argument_index[key] = len(self.argument_rows)
            self.argument_rows.append((function, frozen))
        return index


def _named(key: Any) -> Any:
    """Return the same with the names of symbolic sizes for the sizes."""
    if isinstance(key, tuple):
        return tuple(map(_named, key))
    return str(key) if isinstance(key, (torch.SymInt, torch.SymFloat, torch.SymBool)) else key


def _partial_shape(tensor: torch.Tensor) -> tuple[Any, ...]:
    if isinstance(tensor, UninitializedTensor):
        return ("?",)
    try:
        return (tensor.size(0), *["?"] * (tensor.dim() - 1))
    except RuntimeError:
        return ("?",)
