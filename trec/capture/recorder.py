"""One recording: its log, its memory of tensors, and the threads that it follows."""

from __future__ import annotations

import sys
import threading
from contextlib import ExitStack, contextmanager
from threading import get_ident
from typing import TYPE_CHECKING, Any
from weakref import WeakMethod

from trec.capture.dispatch import OperatorMode
from trec.capture.functions import FunctionMode
from trec.capture.leaves import leaves
from trec.capture.log import Log, Origin, ScopeRecord, UninitializedTensor
from trec.capture.memory import Memory
from trec.capture.packed import Packed
from trec.capture.parts import wraps_others
from trec.capture.sources import module_arguments
from trec.capture.thread import Thread
from trec.capture.torch_api import DisableTorchFunction
from trec.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

    from trec.capture.log import Call, Place
    from trec.capture.memory import Entry
    from trec.capture.operators import Facts
    from trec.capture.state import State
    from trec.capture.storages import Storage
    from trec.ir.types import Level, NodeKind

TABLES: tuple[tuple[NodeKind, str], ...] = (("param", "_parameters"), ("buffer", "_buffers"))


_recordings: list[Recorder] = []
"""Those that are going on, in any thread, in the order in which they began."""


class Recorder:
    """Everything that modes and hooks share while a model runs."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.active = False
        self.log = Log()
        self.paths: dict[int, str] = {}
        """Path of each module by id; the first one where it has several."""
        self.memory = Memory(self.log, WeakMethod(self.protect_storage))
        self.packed = Packed(self.log, self.paths)
        self.lock = threading.RLock()
        self.facts: dict[int, Facts] = {}
        """What is known of each operator that ran, by id; operators live as long as torch."""
        self.adopted: dict[str, int] = {}
        """How many modules were named after the same place."""
        self.held: list[Any] = []
        """Modules met during the pass, kept so that their ids stay theirs."""
        self.calls: dict[str, int] = {}
        """How often each module was called, by path."""
        self.expected: Any = None
        """The module whose call the root scope stands for, until it is called."""
        self.failure: tuple[int, BaseException] | None = None
        """Innermost scope that an exception left, and the exception."""
        self.failed_call: tuple[Call, BaseException] | None = None
        """Innermost call of a torch function that raised, and the exception."""
        self.state: State | None = None
        self.thread = Thread(self.log, 0)
        self.modules: list[tuple[str, Any]] = []
        """Path and module of every module of the model."""
        self.heads: list[int] = []
        """Scopes of the module calls that threads of the model's were followed for."""
        self.handed: dict[int, list[int]] = {}
        """Values in each long list that a call has returned, by id of the list."""
        self._hooks: dict[int, str] | None = None
        self._threads = {get_ident(): self.thread}
        before: dict[int | None, threading.Thread | None] = dict.fromkeys(sys._current_frames())
        self._before = {**before, **_live_threads()}

    def __enter__(self) -> None:
        _recordings.append(self)

    def __exit__(self, *_: object) -> None:
        _recordings.remove(self)

    def modes(self, thread: Thread) -> ExitStack:
        """Return a context in which the operators of the running thread are written down."""
        stack = ExitStack()
        for mode in (OperatorMode(self, thread), FunctionMode(self, thread)):
            mode.__enter__()  # type: ignore[no-untyped-call]
            stack.callback(self._leave, mode)
        return stack

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
        the recording knows: a thread that lived before and serves others meanwhile keeps its calls. Recordings that
        share modules do not run at once, so no two want the same call.
        """
        ident = get_ident()
        if not self.active or any(ident in other._threads for other in _recordings):
            return None
        path = self.paths.get(id(module)) or self._path_of_copy(module)
        if path is None:
            return None
        rivals = any(id(module) in other.paths for other in _recordings if other is not self)
        if (rivals or self._is_old(ident)) and not self._knows_any(module_arguments()):
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

    def _path_of_copy(self, module: Any) -> str | None:
        """Return the path of the module that this one is a shallow copy of, as the replicas of `DataParallel` are."""
        if self._hooks is None:
            self._hooks = {id(known.__dict__.get("_forward_hooks")): path for path, known in reversed(self.modules)}
        path = self._hooks.get(id(module.__dict__.get("_forward_hooks")))
        if path is not None:
            self.paths[id(module)] = path
            self.held.append(module)
        return path

    def finish(self, thread: Thread) -> None:
        """Follow a thread no longer: the module that it was followed for has returned."""
        self._threads.pop(get_ident(), None)

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
        for thread in list(self._threads.values()):
            thread.mute += 1

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
        scopes, outer = self.log.scopes, thread.scope
        path = self.paths.get(id(module))
        if path is None:
            thread.mute += 1
            with DisableTorchFunction():
                path = self._adopt(module, scopes[outer].path)
            thread.mute -= 1
        call = self.calls.get(path, 0)
        self.calls[path] = call + 1
        kind = type(module)
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


_turn = threading.Condition()
_models: list[Any] = []
"""Models that are being recorded."""


@contextmanager
def turn(net: Any) -> Iterator[None]:
    """Wait until no other recording runs any module of the model: each would undo what the other's run has changed.

    Raises:
        CaptureError: the model itself, in a thread of its own, wants to be recorded.
    """
    if any(get_ident() in other._threads for other in _recordings):
        raise CaptureError("a thread of a model that is being recorded must not record it")
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
