"""Everything that a forward pass may change, as it was before, and how to put it back."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from trec.capture.leaves import PLAIN_TENSORS
from trec.capture.log import Origin, UninitializedTensor
from trec.capture.naming import TABLES, walk
from trec.capture.restore.alike import Alike, group
from trec.capture.restore.classes import Classes
from trec.capture.restore.containers import Contents
from trec.capture.restore.left import Left
from trec.capture.restore.process import Process
from trec.capture.restore.scripts import Scripts
from trec.capture.restore.tensors import Tensors
from trec.capture.torch_api import DisableTorchDispatch, DisableTorchFunction

if TYPE_CHECKING:
    from trec.capture.values.memory import Memory
    from trec.ir.types import NodeKind


class State:
    """A snapshot of a model, its inputs and the process, taken before and put back after a recording.

    Data are copied only when they are about to be written; everything else is remembered by identity.
    """

    def __init__(self, memory: Memory, modules: list[tuple[str, Any]], arguments: Any) -> None:
        self.memory = memory
        self.left = Left()
        """What could not be looked at, or not be put back."""
        self.modules: list[Any] = []
        """All modules that were looked at."""
        self._alike: list[Alike] = []
        self.contents = Contents()
        self.tensors = Tensors(memory)
        self._classes = Classes()
        self._scripts = Scripts()
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
        names: list[str] = []
        kinds: list[NodeKind] = []
        tensors: list[Any] = []
        for path, module in modules:
            for kind, table in TABLES:
                if held := getattr(module, table):
                    prefix = f"{path}." if path else ""
                    names += [prefix + name for name in held.keys()]  # noqa: SIM118 - a script's can only be asked so
                    kinds += [kind] * len(held)
                    tensors += held.values()
        if named:
            self._name_tensors(names, kinds, tensors)
        ids, entered = [id(module) for _, module in modules], self._entered
        fresh = {
            known: item for known, item in zip(reversed(ids), reversed(modules), strict=True) if known not in entered
        }
        entered.update(ids)
        return [tensor for tensor in tensors if tensor is not None] + self._remember_attributes(
            [*reversed(fresh.values())]
        )

    def _name_tensors(self, names: list[str], kinds: list[NodeKind], tensors: list[Any]) -> None:
        origins, ids = self.memory.origins, list(map(id, tensors))
        if not origins and len(set(ids)) == len(ids) and PLAIN_TENSORS.issuperset(map(type, tensors)):
            origins.update(
                zip(ids, [Origin(kind, [name]) for kind, name in zip(kinds, names, strict=True)], strict=True)
            )
            return
        for name, kind, tensor in zip(names, kinds, tensors, strict=True):
            origin = origins.get(id(tensor))
            if origin is not None:
                if name not in origin.names:
                    origin.names.append(name)
            elif isinstance(tensor, UninitializedTensor):
                self.memory.lazy.add(id(tensor))
            elif tensor is not None:
                origins[id(tensor)] = Origin(kind, [name])

    def _remember_attributes(self, modules: list[tuple[str, Any]]) -> list[Tensor]:
        """Remember modules that were not looked at yet; return the tensors among their attributes."""
        found: list[Tensor] = []
        fresh = [module for _, module in modules]
        self.modules += fresh
        for kind in dict.fromkeys(map(type, fresh)):
            if self._classes.is_new(kind):
                found += self.contents.remember(self._classes.remember(kind), self.left)
        met: list[tuple[int, str, Any]] = []
        for alike in group(fresh):
            self._alike.append(alike)
            if not alike.regular:
                for module in alike.modules:
                    self._scripts.remember(module)
            met += alike.attributes()
        for position, name, value in sorted(met, key=itemgetter(0)):
            if issubclass(type(value), Tensor):  # `isinstance` would ask the object itself
                path = modules[position][0]
                self.memory.labels.setdefault(id(value), f"{path}.{name}" if path else name)
                found.append(value)
            else:
                found += self.contents.remember(value, self.left)
        return found

    # ---- after

    def restore(self) -> None:
        """Put everything back as it was; what cannot be is noted in `left`."""
        left = self.left
        left.attempt("the stacks of modes", self._process.leave_modes, left)
        with DisableTorchFunction():
            for what, step in (
                *[("the attributes of modules", alike.restore) for alike in self._alike],
                ("the attributes of classes", self._classes.restore),
                ("the attributes of scripts", self._scripts.restore),
                ("the contents of containers", self.contents.restore),
                ("what guards of inference mode know of modes", self._process.drop_guards),
                ("tensors", self._restore_tensors),
                ("the process", self._process.restore),
            ):
                left.attempt(what, step, left)
        self._drop()

    def _restore_tensors(self, left: Left) -> None:
        with DisableTorchDispatch(), torch.no_grad():
            self.tensors.restore(left)

    def _drop(self) -> None:
        """Forget everything: where an exception goes on, its frames hold this, and the copies are large."""
        self.contents.drop()
        self.tensors.drop()
        self.modules, self._alike = [], []
