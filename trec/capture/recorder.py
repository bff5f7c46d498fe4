"""One recording: its log, its memory of tensors, and the threads that it follows."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from contextlib import ExitStack, contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any
from weakref import WeakMethod

from trec.capture.collectives import rank_meta
from trec.capture.dispatch import OperatorMode
from trec.capture.functions import FunctionMode
from trec.capture.leaves import leaves
from trec.capture.log import Log, ScopeRecord
from trec.capture.modules import ModuleHooks
from trec.capture.naming import Names, walk
from trec.capture.restore.parts import wraps_others
from trec.capture.sources import module_arguments
from trec.capture.thread import Thread
from trec.capture.torch_api import DisableTorchFunction
from trec.capture.unfinished import Unfinished
from trec.capture.values.memory import Memory
from trec.capture.values.packed import Packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch import Tensor

    from trec.capture.log import Call, Place
    from trec.capture.operators import Facts
    from trec.capture.restore.state import State
    from trec.capture.toplevel import TopLevel
    from trec.capture.values.memory import Entry
    from trec.capture.values.storages import Storage
    from trec.ir.types import AttrRow, Level

_recordings: list[Recorder] = []
"""Those that are going on, in any thread, in the order in which they began."""


class Recorder:
    """Everything that modes and hooks share while a model runs."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.active = False
        self.log = Log()
        self.thread = Thread(self.log, 0)
        self._threads = {get_ident(): self.thread}
        self.memory = Memory(self.log, WeakMethod(self.protect_storage), self._threads)
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
        self.heads: list[int] = []
        """Scopes of the module calls that threads of the model's were followed for."""
        self.handed: dict[int, list[int]] = {}
        """Values in each long list that a call has returned, by id of the list."""
        self.exchanges: Counter[tuple[str, str, int, int]] = Counter()
        """How often ranks have communicated so far: by group, and for what goes to one rank by peer and tag."""
        self.unfinished = Unfinished()
        self.distributed = bool(rank_meta())
        """Whether this process is one of several that communicate."""
        self.unseen: set[str] = set()
        """Paths of the modules of the model that were called in threads which are not followed."""
        before: dict[int | None, threading.Thread | None] = dict.fromkeys(sys._current_frames())
        self._before = {**before, **_live_threads()}

    def __enter__(self) -> None:
        _recordings.append(self)

    def __exit__(self, *_: object) -> None:
        _recordings.remove(self)

    @property
    def meta(self) -> AttrRow:
        """Facts of the whole recording."""
        return (("level", self.level), *rank_meta())

    def hooks(self) -> ModuleHooks:
        """Return a context in which every module call opens and closes a scope."""
        return ModuleHooks(self)

    def modes(self, thread: Thread) -> ExitStack:
        """Return a context in which the operators of the running thread are written down."""
        stack = ExitStack()
        for mode in self.new_modes(thread):
            mode.__enter__()
            stack.callback(self._leave, mode)
        return stack

    def new_modes(self, thread: Thread) -> tuple[Any, Any]:
        """Return what watches the operators and the functions of the running thread."""
        return OperatorMode(self, thread), FunctionMode(self, thread)

    def _leave(self, mode: Any) -> None:
        try:
            mode.__exit__(None, None, None)
        except RuntimeError:  # torch has none to end
            if self.state is not None:
                self.state.left.append("what was written after the model took off the modes that watch it")

    def current(self) -> Thread | None:
        """Return the state of the running thread; None if what it does is not part of this recording."""
        return self._threads.get(get_ident()) if self.active else None

    def follow(self, module: Any) -> Thread | None:
        """Begin to follow the running thread, which calls a module, if the call is one of the model's.

        It is if the module belongs to the model, and the thread began during the recording or is given a tensor that
        the recording knows: a thread that lived before and serves others meanwhile keeps its calls, and so does one
        that serves another recording of the same modules.
        """
        ident = get_ident()
        if not self.active or followed_thread():
            return None
        path = self.names.paths.get(id(module)) or self.names.find_copied(module)
        if path is None:
            return None
        rivals = any(id(module) in other.names.paths for other in _recordings if other is not self)
        old = self._is_old(ident)
        if (rivals or old) and not self._knows_any(module_arguments()):
            if old:
                self.unseen.add(path)
            return None
        thread = self._threads[ident] = Thread(self.log, self._scope_around(path))
        return thread

    def _knows_any(self, arguments: Any) -> bool:
        memory = self.memory
        return any(
            memory.known(tensor) is not None and id(tensor) not in memory.origins for _, tensor in leaves(arguments)
        )

    def _is_old(self, ident: int) -> bool:
        """Whether the running thread was there before the recording; identifiers are given again, objects are not."""
        now = _live_threads().get(ident)
        return ident in self._before and self._before[ident] is now

    def _scope_around(self, path: str) -> int:
        """Return the innermost open call of a module that holds the one with this path."""
        open_scopes = [frame.scope for thread in list(self._threads.values()) for frame in list(thread.frames)]
        holding = [scope for scope in open_scopes if _holds(self.log.scopes[scope].path, path)]
        return max(holding, key=lambda scope: (len(self.log.scopes[scope].path), -scope), default=0)

    def finish(self, thread: Thread) -> None:
        """Follow a thread no longer: the module that it was followed for has returned."""
        self._threads.pop(get_ident(), None)

    def note_failed_call(self, call: Call, error: BaseException) -> None:
        """Remember the call that an exception came from; calls around it raise the same one."""
        if self.failed_call is None or self.failed_call[1] is not error:
            self.failed_call = (call, error)

    def settle_failure(self, errors: Iterable[BaseException]) -> None:
        """Keep as failures only what stopped the model, and write down the call that did."""
        raised = [cause for error in errors for cause in _chain(error)]
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

    def forget_failure(self) -> None:
        """Let go of the exception: its frames hold this, and only the collector would find the way round."""
        self.failure = self.failed_call = None

    def stop(self) -> None:
        """Write nothing down any more, in any thread."""
        self.active = False
        for thread in list(self._threads.values()):
            thread.mute += 1
        self.names.settle()
        self.memory.lifetimes.end()

    def protect(self, entry: Entry, thread: Thread) -> None:
        """Keep a copy of what lies in a tensor of the user's before its first write."""
        storage = entry.storage
        if self.state is None or (storage.owner is None and not storage.foreign):
            return
        written = entry.tensor()
        if wraps_others(type(written)):  # each tensor that it holds has a storage of its own
            self._save(written, None, thread)
        else:
            self.protect_storage(storage, thread, written)

    def protect_storage(self, storage: Storage, thread: Thread, written: Tensor | None = None) -> None:
        """Keep a copy of a storage of the user's before its first write.

        Args:
            storage: what is written.
            thread: the thread that writes.
            written: a tensor that lies in it, where none of the user's is known to.
        """
        if not storage.saved:
            storage.saved = True
            self._save(written if storage.owner is None else storage.owner, storage.key, thread)

    def _save(self, owner: Tensor | None, key: int | None, thread: Thread) -> None:
        if owner is None or self.state is None:
            return
        thread.mute += 1
        try:
            self.state.save(owner, key)
        finally:
            thread.mute -= 1

    def open_scope(self, module: Any, thread: Thread, place: Place) -> int:
        """Write down that a module is called; return the index of the new scope."""
        scopes, names, outer = self.log.scopes, self.names, thread.scope
        path = names.paths.get(id(module))
        if path is None:
            path = self._adopt(module, scopes[outer].path, thread)
        call = names.calls.get(path, 0)
        names.calls[path] = call + 1
        kind = type(module)
        native = kind.__module__.startswith("torch.")
        first = len(self.log.types)
        scopes.append(ScopeRecord("module", path, kind.__name__, call, outer, module, first, place, native))
        return len(scopes) - 1

    def _adopt(self, module: Any, around: str, thread: Thread) -> str:
        thread.mute += 1
        try:
            with DisableTorchFunction():
                if self.state is not None:
                    self.state.adopt(walk(module))
                return self.names.adopt(module, around)
        finally:
            thread.mute -= 1


def followed_thread() -> bool:
    """Return whether what the running thread does is part of a recording."""
    return any(get_ident() in other._threads for other in _recordings)


_turn = threading.Condition()
_models: list[Any] = []
"""Models that are being recorded."""


@contextmanager
def turn(net: Any) -> Iterator[None]:
    """Wait until no other capture runs any module of the model: each would undo what the other's run has changed."""
    with _turn:
        _turn.wait_for(lambda: not any(_share_modules(net, other) for other in _models))
        _models.append(net)
    try:
        yield
    finally:
        with _turn:
            del _models[next(index for index, other in enumerate(_models) if other is net)]
            _turn.notify_all()


def _share_modules(first: Any, second: Any) -> bool:
    ids = {id(module) for _, module in walk(first)}
    return any(id(module) in ids for _, module in walk(second))


def _live_threads() -> dict[int | None, threading.Thread]:
    return {thread.ident: thread for thread in threading.enumerate()}


def _holds(outer: str, path: str) -> bool:
    return path.startswith(f"{outer}.") if outer else path != ""


def _chain(error: BaseException | None) -> list[BaseException]:
    """Return an exception and those that led to it."""
    found: list[BaseException] = []
    while error is not None and not any(error is other for other in found):
        found.append(error)
        error = error.__cause__ or error.__context__
    return found
