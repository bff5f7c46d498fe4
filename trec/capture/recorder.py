"""One recording: its log, its memory of tensors, and the threads that it follows."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack
from threading import get_ident
from typing import TYPE_CHECKING, Any

from torch._C import DisableTorchFunction

from trec.capture.dispatch import OperatorMode
from trec.capture.functions import FunctionMode
from trec.capture.log import Log, Origin, ScopeRecord, UninitializedTensor
from trec.capture.memory import Memory
from trec.capture.modules import ModuleHooks
from trec.capture.packed import Packed
from trec.capture.sources import module_place
from trec.capture.thread import Thread

if TYPE_CHECKING:
    from trec.capture.log import Call
    from trec.capture.memory import Entry
    from trec.capture.operators import Facts
    from trec.capture.state import State
    from trec.ir.types import AttrRow, Level, NodeKind

TABLES: tuple[tuple[NodeKind, str], ...] = (("param", "_parameters"), ("buffer", "_buffers"))


class Recorder:
    """Everything that modes and hooks share while a model runs."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.active = False
        self.log = Log()
        self.paths: dict[int, str] = {}
        """Path of each module by id; the first one where it has several."""
        self.memory = Memory(self.log)
        self.packed = Packed(self.log, self.paths)
        self.lock = threading.RLock()
        self.facts: dict[int, Facts] = {}
        """What is known of each operator that ran, by id; operators live as long as torch."""
        self.adopted: dict[str, int] = {}
        """How many modules were named after the same place."""
        self.held: list[Any] = []
        """Modules met during the pass, kept so that their ids stay theirs."""
        self.calls: dict[int, int] = {}
        """How often each module was called, by id."""
        self.expected: Any = None
        """The module whose call the root scope stands for, until it is called."""
        self.failure: tuple[int, BaseException] | None = None
        """Innermost scope that an exception left, and the exception."""
        self.failed_call: tuple[Call, BaseException] | None = None
        """Innermost call of a torch function that raised, and the exception."""
        self.state: State | None = None
        self.thread = Thread(self.log, 0)
        self._threads = {threading.get_ident(): self.thread}
        self._running_before = set(sys._current_frames())

    @property
    def meta(self) -> AttrRow:
        """Facts of the whole recording."""
        return (("level", self.level),)

    def modes(self, thread: Thread) -> ExitStack:
        """Return a context in which the operators of the running thread are written down."""
        stack = ExitStack()
        self.enter_modes(stack, thread)
        return stack

    def enter_modes(self, stack: ExitStack, thread: Thread) -> None:
        """Put in place what watches the operators and functions of the running thread."""
        stack.enter_context(OperatorMode(self, thread))
        stack.enter_context(FunctionMode(self, thread))

    def hooks(self) -> ModuleHooks:
        """Return a context in which every module call opens and closes a scope."""
        return ModuleHooks(self)

    def current(self, module: Any) -> Thread | None:
        """Return the state of the running thread; None if what it does is not part of this recording."""
        if not self.active:
            return None
        ident = get_ident()
        thread = self._threads.get(ident)
        if thread is None and ident not in self._running_before and id(module) in self.paths:
            thread = self._threads[ident] = Thread(self.log, self.thread.scope)
        return thread

    def note_failed_call(self, call: Call, error: BaseException) -> None:
        """Remember the call that an exception came from; calls around it raise the same one."""
        if self.failed_call is None or self.failed_call[1] is not error:
            self.failed_call = (call, error)

    def settle_failure(self, error: BaseException | None) -> None:
        """Keep as failures only what stopped the model, and write down the call that did."""
        raised = _chain(error)
        if self.failure is not None and not any(self.failure[1] is other for other in raised):
            self.failure = None
        if self.failed_call is None:
            return
        call, cause = self.failed_call
        if not any(cause is other for other in raised):
            self.failed_call = None
            return
        call.error, call.read = type(cause).__name__, (*call.read, *call.given)
        if not call.events:
            self.log.events.append(call)

    def stop(self) -> None:
        """Write nothing down any more, in any thread."""
        self.active = False
        for thread in self._threads.values():
            thread.mute += 1

    def protect(self, entry: Entry, thread: Thread) -> None:
        """Keep a copy of a storage of the user's before its first write."""
        storage = entry.storage
        owner = storage.owner if storage.owner is not None or not storage.foreign else entry.tensor()
        if owner is None or storage.saved or self.state is None:
            return
        storage.saved = True
        thread.mute += 1
        try:
            self.state.save(owner, storage.key)
        finally:
            thread.mute -= 1

    def open_scope(self, module: Any, thread: Thread) -> int:
        """Write down that a module is called; return the index of the new scope."""
        scopes, outer = self.log.scopes, thread.scope
        path = self.paths.get(id(module))
        if path is None:
            thread.mute += 1
            with DisableTorchFunction():
                path = self._adopt(module, scopes[outer].path)
            thread.mute -= 1
        call = self.calls.get(id(module), 0)
        self.calls[id(module)] = call + 1
        kind = type(module)
        place = None if scopes[outer].native else module_place()
        native = kind.__module__.startswith("torch.")
        first = len(self.log.types)
        scopes.append(ScopeRecord("module", path, kind.__name__, call, outer, module, first, place, native))
        return len(scopes) - 1

    def _adopt(self, module: Any, around: str) -> str:
        """Name a module that was met only when it was called, and its parameters, after where it was called."""
        base = f"{around}.<{type(module).__name__}>" if around else f"<{type(module).__name__}>"
        count = self.adopted[base] = self.adopted.get(base, 0) + 1
        path = base if count == 1 else f"{base}{count}"
        below_it = walk(module)
        if self.state is not None:
            self.state.adopt(below_it)
        for below, child in below_it:
            whole = f"{path}.{below}" if below else path
            if self.paths.setdefault(id(child), whole) != whole:
                continue
            self.held.append(child)
            for kind, table in TABLES:
                for name, tensor in dict(getattr(child, table)).items():
                    if tensor is None or isinstance(tensor, UninitializedTensor):
                        continue
                    if id(tensor) not in self.memory.origins:
                        self.memory.christen(tensor, Origin(kind, [f"{whole}.{name}"]))
        return path


def _chain(error: BaseException | None) -> list[BaseException]:
    """Return an exception and those that led to it."""
    found: list[BaseException] = []
    while error is not None and not any(error is other for other in found):
        found.append(error)
        error = error.__cause__ or error.__context__
    return found


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
        children = list(module._modules.items())
        todo.extend(
            (f"{path}.{name}" if path else name, child) for name, child in reversed(children) if child is not None
        )
    return found
