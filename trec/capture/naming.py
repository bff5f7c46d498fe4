"""Paths of modules, and names of the parameters, buffers and attributes that lie in them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref

from msgspec import Struct
from torch import Tensor

from trec.capture.describe import describe
from trec.capture.log import Origin, UninitializedTensor
from trec.ir.types import AttrRow, NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.capture.thread import Thread
    from trec.capture.values.memory import Memory

TABLES: tuple[tuple[NodeKind, str], ...] = (("param", "_parameters"), ("buffer", "_buffers"))


class Description(Struct):
    """What a module shows of itself."""

    row: AttrRow


class Names:
    """What modules are called, and the tensors in them.

    No module is kept alive by it. A tensor is kept as long as the module that it was named after, so its id stays its
    own; a weak reference would do, but no tensor that has one can be swapped by the user's own code.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.paths: dict[int, str] = {}
        """Path of each module by id; the first one where it has several."""
        self.calls: dict[str, int] = {}
        """How often each module was called, by path."""
        self._adopted: dict[str, int] = {}
        """How many modules were named after the same place."""
        self._descriptions: dict[int, Description] = {}
        self._alive: dict[int, ref[Any]] = {}
        self._net: list[tuple[str, ref[Any]]] = []
        """Every path of the model and the module there, where there is one."""
        self._copies: dict[int, ref[Any]] = {}
        """Shallow copies of modules of the model, by id."""
        self._by_hooks: dict[int, str] | None = None
        """Path of each module of the model, by the id of its table of hooks, which copies of it share."""
        self._kept: dict[int, list[Tensor]] = {}
        """The tensors that are named after a module, by its id."""

    def place(self, modules: list[tuple[str, Any]]) -> None:
        """Note where the modules of the model stand, before anything runs."""
        for path, module in modules:
            self.paths.setdefault(id(module), path)
            self._net.append((path, ref(module)))

    def name(self, net: Any) -> None:
        """Name the model, all modules in it and their tensors, before anything runs."""
        modules = walk(net)
        self.place(modules)
        for path, module in modules:
            self._name_module(path, module)

    def adopt(self, module: Any, around: str) -> str:
        """Name a module that was met only when it was called, and what it holds, after where it was called."""
        base = f"{around}.<{type(module).__name__}>" if around else f"<{type(module).__name__}>"
        count = self._adopted[base] = self._adopted.get(base, 0) + 1
        path = base if count == 1 else f"{base}{count}"
        for below, child in walk(module):
            whole = f"{path}.{below}" if below else path
            if self.paths.get(id(child), whole) == whole:
                self._name_module(whole, child)
        return path

    def find_copied(self, module: Any) -> str | None:
        """Return the path of the module that this one is a shallow copy of, as the replicas of `DataParallel` are."""
        if self._by_hooks is None:
            hooks = [(known.__dict__.get("_forward_hooks"), path) for path, known in reversed(self.model())]
            self._by_hooks = {id(table): path for table, path in hooks}
        path = self._by_hooks.get(id(module.__dict__.get("_forward_hooks")))
        if path is not None:
            self.paths[id(module)] = path
            self._copies[id(module)] = ref(module, partial(self._forget, id(module)))
        return path

    def describe(self, module: Any) -> Description:
        """Return a description of a module that can take its place: it is as of now, or of the end if it lives on."""
        found = self._descriptions.get(id(module))
        if found is None:
            found = self._descriptions[id(module)] = Description(describe(module))
        return found

    def _name_module(self, path: str, module: Any) -> None:
        first = self.paths.setdefault(id(module), path) == path
        named = self._kept.setdefault(id(module), [])
        for kind, table in TABLES:
            for name, tensor in list(getattr(module, table).items()):
                if tensor is not None:
                    self._name_tensor(Origin(kind, [f"{path}.{name}" if path else name]), tensor, named)
        if first and not self.memory.holds:
            for name, value in list(module.__dict__.items()):
                if isinstance(value, Tensor) and self.memory.own(value):
                    named.append(value)
                    self.memory.labels.setdefault(id(value), f"{path}.{name}" if path else name)
        if first:
            self._alive[id(module)] = ref(module, partial(self._forget, id(module)))

    def _name_tensor(self, origin: Origin, tensor: Any, named: list[Tensor]) -> None:
        memory = self.memory
        if isinstance(tensor, UninitializedTensor):
            if not memory.holds:
                memory.lazy.add(id(tensor))
            return
        known = memory.origins.get(id(tensor))
        if known is None:
            if not memory.holds:
                memory.own(tensor)
            memory.christen(tensor, origin)
            named.append(tensor)
        elif origin.names[0] not in known.names:
            known.names.extend(origin.names)

    def _forget(self, module: int, _: Any) -> None:
        for table in (self.paths, self._descriptions, self._alive, self._copies):
            table.pop(module, None)
        for tensor in self._kept.pop(module, ()):
            self.memory.release(id(tensor))

    def model(self) -> list[tuple[str, Any]]:
        """Return every path of the model and the module there, as far as they are still there."""
        return _living(self._net)

    def met(self) -> list[tuple[str, Any]]:
        """Return path and module of all that were named, as far as they are still there."""
        return _living([(self.paths[known], alive) for known, alive in list(self._alive.items())])

    def settle(self) -> None:
        """Describe the modules as they are at the end, and follow their lives no longer."""
        for known, description in list(self._descriptions.items()):
            module = self._alive[known]() if known in self._alive else None
            if module is not None:
                description.row = describe(module)
        self._alive.clear()
        self._copies.clear()

    def made(self, modules: Iterable[tuple[str, Any]], thread: Thread) -> dict[int, Origin]:
        """Return the parameters and buffers that came to be during the recording, by the value that they hold."""
        found: dict[int, Origin] = {}
        memory = self.memory
        for path, module in modules:
            for kind, table in TABLES:
                for key, tensor in (getattr(module, table) or {}).items():
                    if tensor is None or id(tensor) in memory.introduced or isinstance(tensor, UninitializedTensor):
                        continue
                    if memory.known(tensor) is not None:
                        value = memory.entry(tensor, thread).value
                        found.setdefault(value, Origin(kind, [])).names.append(f"{path}.{key}" if path else key)
        return found


def _living(rows: Iterable[tuple[str, ref[Any]]]) -> list[tuple[str, Any]]:
    return [(path, module) for path, alive in rows if (module := alive()) is not None]


def walk(root: Any) -> list[tuple[str, Any]]:
    """Return path and module of a module and all below it, parents first, every path of a shared one.

    Modules are told apart by identity alone; a module that contains itself is entered once.
    """
    todo, seen, found = [("", root)], set(), []
    while todo:
        path, module = todo.pop()
        found.append((path, module))
        if id(module) in seen:
            continue
        seen.add(id(module))
        if children := module._modules:
            prefix = f"{path}." if path else ""
            below = [(prefix + name, child) for name, child in children.items() if child is not None]
            todo += reversed(below)
    return found
