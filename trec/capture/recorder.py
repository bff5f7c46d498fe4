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
from trec.capture.log import Log, ScopeRecord
from trec.capture.memory import Memory
from trec.capture.naming import Names, walk
from trec.capture.packed import Packed
from trec.capture.sources import module_place
from trec.capture.thread import Thread

if TYPE_CHECKING:
    from trec.capture.log import Call
    from trec.capture.memory import Entry
    from trec.capture.operators import Facts
    from trec.capture.state import State
    from trec.capture.toplevel import TopLevel
    from trec.ir.types import Level

running = threading.local()
"""Whether the running thread makes a recording, in `running.recording`."""


class Recorder:
    """Everything that modes and hooks share while a model runs."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.active = False
        self.log = Log()
        self.memory = Memory(self.log)
        self.names = Names(self.memory)
        self.packed = Packed(self.log, self.names.paths)
        self.lock = threading.RLock()
        self.facts: dict[int, Facts] = {}
        """What is known of each operator that ran, by id; operators live as long as torch."""
        self.expected: Any = None
        """The module whose call the root scope stands for, until it is called."""
        self.failure: tuple[int, BaseException] | None = None
        """Innermost scope that an exception left, and the exception."""
        self.failed_call: tuple[Call, BaseException] | None = None
        """Innermost call of a torch function that raised, and the exception."""
        self.state: State | None = None
        self.top_level: TopLevel | None = None
        """What the calls of modules that no module makes are given and return, where that is not known beforehand."""
        self.thread = Thread(self.log, 0)
        self._threads = {threading.get_ident(): self.thread}
        self._running_before = set(sys._current_frames())
        self.unseen: set[str] = set()
        """Paths of the modules of the model that were called in threads which are not followed."""

    def modes(self, thread: Thread) -> ExitStack:
        """Return a context in which the operators of the running thread are written down."""
        stack = ExitStack()
        stack.enter_context(OperatorMode(self, thread))
        stack.enter_context(FunctionMode(self, thread))
        return stack

    def current(self, module: Any) -> Thread | None:
        """Return the state of the running thread; None if what it does is not part of this recording."""
        if not self.active:
            return None
        ident = get_ident()
        thread = self._threads.get(ident)
        if thread is None and id(module) in self.names.paths and not getattr(running, "recording", False):
            if ident in self._running_before:
                self.unseen.add(self.names.paths[id(module)])
            else:
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
        self.names.settle()

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
        names = self.names
        path = names.paths.get(id(module))
        if path is None:
            thread.mute += 1
            try:
                with DisableTorchFunction():
                    if self.state is not None:
                        self.state.adopt(walk(module))
                    path = names.adopt(module, scopes[outer].path)
            finally:
                thread.mute -= 1
        call = names.calls.get(id(module), 0)
        names.calls[id(module)] = call + 1
        kind = type(module)
        place = None if scopes[outer].native else module_place()
        native = kind.__module__.startswith("torch.")
        first = len(self.log.types)
        scopes.append(ScopeRecord("module", path, kind.__name__, call, outer, module, first, place, native))
        return len(scopes) - 1


def _chain(error: BaseException | None) -> list[BaseException]:
    """Return an exception and those that led to it."""
    found: list[BaseException] = []
    while error is not None and not any(error is other for other in found):
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
