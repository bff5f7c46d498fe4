"""Everything that a forward pass may change, as it was before, and how to put it back."""

from __future__ import annotations

from collections import OrderedDict
from operator import is_, itemgetter
from typing import TYPE_CHECKING, Any

import torch
from msgspec import Struct
from torch import Tensor

from trec.capture.classes import Classes
from trec.capture.containers import Contents
from trec.capture.leaves import ATOMS
from trec.capture.left import Left
from trec.capture.log import Origin, UninitializedTensor
from trec.capture.naming import TABLES, walk
from trec.capture.process import Process
from trec.capture.refill import refill_dict, refill_set, same
from trec.capture.scripts import Scripts
from trec.capture.tensors import Tensors
from trec.capture.torch_api import DisableTorchDispatch, DisableTorchFunction

if TYPE_CHECKING:
    from trec.capture.memory import Memory

_FRESH = torch.nn.Module().__dict__
_CONTENTS = ("_parameters", "_buffers", "_modules")
_HOOKS = tuple(
    name for name, value in _FRESH.items() if name not in _CONTENTS and type(value) in (dict, OrderedDict, set)
)
"""Tables that are empty in most modules."""
_TABLE_KINDS = frozenset({dict, OrderedDict, set})
_FLAGS = frozenset(name for name, value in _FRESH.items() if type(value) in ATOMS)


class Layout:
    """Names of the attributes of modules that are alike, and where in their order stands what."""

    def __init__(self, names: tuple[str, ...], values: tuple[Any, ...]) -> None:
        self.names = names
        places = {name: position for position, name in enumerate(names)}
        self.regular = all(
            name in places and type(values[places[name]]) in _TABLE_KINDS for name in (*_CONTENTS, *_HOOKS)
        )
        """Whether the modules have the tables that a module has; those of a script are others."""
        known = _FLAGS
        if self.regular:
            known = known.union(_CONTENTS, _HOOKS)
            self.contents = itemgetter(*map(places.__getitem__, _CONTENTS))
            self.hooks = itemgetter(*map(places.__getitem__, _HOOKS))
        self.others = [position for position, name in enumerate(names) if name not in known]
        """Positions of the attributes that may be, or lead to, something that the model writes."""


class Remembered(Struct, gc=False):
    """A module as it was: class, attributes by identity, and the contents of its tables that are not empty."""

    module: Any
    kind: type
    held: dict[str, Any]
    layout: Layout
    values: tuple[Any, ...]
    filled: list[tuple[Any, Any]]
    hooks: list[tuple[Any, Any]] | None
    """Contents of all tables of hooks; None if all are empty."""


class State:
    """A snapshot of a model, its inputs and the process, taken before and put back after a recording.

    Data are copied only when they are about to be written; everything else is remembered by identity.
    """

    def __init__(self, memory: Memory, modules: list[tuple[str, Any]], arguments: Any) -> None:
        self.memory = memory
        self.left = Left()
        """What could not be looked at, or not be put back."""
        self.modules: list[Remembered] = []
        self.contents = Contents()
        self.tensors = Tensors(memory)
        self._classes = Classes()
        self._scripts = Scripts()
        self._layouts: dict[Any, Layout] = {}
        self._entered: set[int] = set()
        self._process = Process()
        found = self._remember_modules(modules, named=True)
        self._own(found)
        self.reached = len(self.contents.boxes)
        """How many of the boxes belong to the model; those behind them were given to it."""
        found = self.contents.remember(arguments, self.left)
        self._own(found)
        self._process.begin()

    # ---- before

    def adopt(self, modules: list[tuple[str, Any]]) -> None:
        """Remember modules that were met only when they were called."""
        if any(id(module) not in self._entered for _, module in modules):
            self._own(self._remember_modules(modules, named=False))

    def own(self, tensor: Tensor) -> None:
        """Remember a tensor of the user's: its place, flags and gradient."""
        if id(tensor) not in self.memory.owned:
            self._own([tensor])

    def save(self, tensor: Tensor, address: int | None) -> None:
        """Copy the data of a tensor of the user's that is about to be written, or of the storage at an address."""
        self.own(tensor)
        with DisableTorchDispatch():
            self.tensors.save(tensor, address)

    def _own(self, tensors: list[Tensor]) -> None:
        """Remember tensors and what hangs on them, and modules that turned up on the way."""
        while tensors or self.contents.modules:
            further: list[Tensor] = []
            with DisableTorchDispatch():  # modes of the user's see nothing of what recording does
                held = self.tensors.add(tensors)
            for attributes in held:
                further += self.contents.remember([*attributes.values()], self.left)
            hidden, self.contents.modules = self.contents.modules, []
            for module in hidden:
                if id(module) not in self._entered:
                    further += self._remember_modules(walk(module), named=False)
            tensors = further

    def _remember_modules(self, modules: list[tuple[str, Any]], *, named: bool) -> list[Tensor]:
        """Remember modules; return the tensors among their parameters, buffers and attributes."""
        found: list[Tensor] = []
        entered = self._entered
        for path, module in modules:
            for kind, table in TABLES:
                if held := getattr(module, table):
                    if named:
                        self._name_tensors(f"{path}." if path else "", kind, held)
                    found += [tensor for tensor in held.values() if tensor is not None]
            if id(module) not in entered:
                entered.add(id(module))
                found += self._remember_module(path, module)
        return found

    def _name_tensors(self, prefix: str, kind: Any, held: Any) -> None:
        origins = self.memory.origins
        for name, tensor in held.items():
            origin = origins.get(id(tensor))
            if origin is not None:
                if prefix + name not in origin.names:
                    origin.names.append(prefix + name)
            elif isinstance(tensor, UninitializedTensor):
                self.memory.lazy.add(id(tensor))
            elif tensor is not None:
                origins[id(tensor)] = Origin(kind, [prefix + name])

    def _remember_module(self, path: str, module: Any) -> list[Tensor]:
        held = object.__getattribute__(module, "__dict__")
        names = tuple(held)
        values = tuple(held.values())
        key = (names, type(held.get("_modules")))
        layout = self._layouts.get(key)
        if layout is None:
            layout = self._layouts[key] = Layout(names, values)
        filled, hooks = [], None
        if layout.regular:
            filled = [(table, table.copy()) for table in layout.contents(values) if table]
            if any(tables := layout.hooks(values)):
                hooks = [(table, table.copy()) for table in tables]
        else:
            self._scripts.remember(module)
        kind = type(module)
        self.modules.append(Remembered(module, kind, held, layout, values, filled, hooks))
        found = self.contents.remember(self._classes.remember(kind), self.left) if self._classes.is_new(kind) else []
        for position in layout.others:
            value = values[position]
            if type(value) in ATOMS:
                continue
            if issubclass(type(value), Tensor):  # `isinstance` would ask the object itself
                name = layout.names[position]
                self.memory.labels.setdefault(id(value), f"{path}.{name}" if path else name)
                found.append(value)
            else:
                found += self.contents.remember(value, self.left)
        return found

    # ---- after

    def restore(self) -> None:
        """Put everything back as it was; what cannot be is noted in `left`."""
        left = self.left
        self._process.leave_modes(left)
        with DisableTorchFunction():
            for row in self.modules:
                if not _is_unchanged(row):
                    left.attempt(f"the attributes of a {row.kind.__name__}", _restore_module, row)
            self._classes.restore(left)
            self._scripts.restore(left)
            self.contents.restore(left)
            self._process.drop_guards()
            with DisableTorchDispatch(), torch.no_grad():
                self.tensors.restore(left)
            self._process.restore(left)
        self._drop()

    def _drop(self) -> None:
        """Forget everything: where an exception goes on, its frames hold this, and the copies are large."""
        self.contents.drop()
        self.tensors.drop()
        self.modules.clear()


def _is_unchanged(row: Remembered) -> bool:
    module, layout, values = row.module, row.layout, row.values
    now = row.held
    if not (
        type(module) is row.kind
        and len(now) == len(values)
        and all(map(is_, now.values(), values))
        and tuple(now) == layout.names
        and object.__getattribute__(module, "__dict__") is now
    ):
        return False
    if not layout.regular:
        return True
    if row.hooks is not None or any(layout.hooks(values)):
        return False
    tables = [table for table in layout.contents(values) if table]
    return len(tables) == len(row.filled) and all(same(table, old) for table, old in row.filled)


def _restore_module(row: Remembered) -> None:
    module, layout, values = row.module, row.layout, row.values
    if type(module) is not row.kind:
        object.__setattr__(module, "__class__", row.kind)
    if object.__getattribute__(module, "__dict__") is not row.held:
        object.__setattr__(module, "__dict__", row.held)
    refill_dict(row.held, dict(zip(layout.names, values, strict=True)))
    if not layout.regular:
        return
    kept = {id(table) for table, _ in row.filled}
    for table in layout.contents(values):
        if id(table) not in kept:
            refill_dict(table, {})
    for table, old in row.filled:
        refill_dict(table, old)
    for table, old in row.hooks or [(table, type(table)()) for table in layout.hooks(values)]:
        (refill_set if type(table) is set else refill_dict)(table, old)
