"""Scopes of module calls, by torch's own global hooks: nothing of the user's is patched."""

from __future__ import annotations

import sys
import threading
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from torch import Tensor

from trec.capture import own_hooks
from trec.capture.emit.bundles import HANDED_ON, LISTED, WIDEST
from trec.capture.leaves import leaves, wrapped_by_functorch
from trec.capture.log import UninitializedTensor
from trec.capture.sources import module_frame, module_frames
from trec.capture.thread import Frame
from trec.capture.torch_api import DisableTorchFunction

if TYPE_CHECKING:
    from trec.capture.recorder import Recorder
    from trec.capture.thread import Thread
    from trec.capture.values.memory import Entry


class _DeeperStack:
    """Room on the stack for what torch adds to each module call as soon as there are hooks: a frame for every four."""

    lock = threading.Lock()
    count = 0
    limits = (0, 0)
    """The limit of the user's, and the one that stands while anything is recorded."""

    @classmethod
    def enter(cls) -> None:
        with cls.lock:
            if not cls.count:
                limit = sys.getrecursionlimit()
                cls.limits = (limit, min(limit + limit // 4 + 100, 2**31 - 1))
                sys.setrecursionlimit(cls.limits[1])
            cls.count += 1

    @classmethod
    def leave(cls) -> None:
        with cls.lock:
            cls.count -= 1
            if not cls.count:
                sys.setrecursionlimit(cls.limits[0])


class ModuleHooks:
    """A context in which every module call of the recording opens and closes a scope.

    The hooks stand before those of others, so the user's pre-hooks run inside the scope and forward hooks outside.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __enter__(self) -> None:
        _DeeperStack.enter()
        try:
            self._handles = own_hooks.add(self._enter, self._leave)
        except BaseException:
            _DeeperStack.leave()
            raise

    def __exit__(self, *_: object) -> None:
        try:
            own_hooks.remove(self._handles)
        finally:
            _DeeperStack.leave()

    def _enter(self, module: Any, args: Any) -> None:
        recorder = self.recorder
        thread = recorder.current() or recorder.follow(module)
        if thread is None:
            return
        own, around, place = module_frames()
        frames = thread.frames
        modes = None
        if not frames and thread is not recorder.thread:
            modes = recorder.modes(thread)
        elif frames and frames[-1].own != around:
            thread.drop_abandoned(around)
        with recorder.lock:
            if recorder.top_level is not None:
                recorder.top_level.enter(module, thread)
            if recorder.expected is module:
                scope, recorder.expected = 0, None  # the root was opened with the recording
            else:
                scope = recorder.open_scope(module, thread, place)
                if modes is not None:
                    recorder.heads.append(scope)
            call = thread.split_call()
            frames.append(Frame(scope, module, thread.scope, call, modes, own, around))
            thread.scope, thread.call = scope, None

    def _leave(self, module: Any, args: Any, kwargs: Any = None, result: Any = None) -> None:
        recorder = self.recorder
        thread = recorder.current()
        if thread is None:
            return
        own = module_frame()
        frames = thread.frames
        frame = frames.pop() if frames and frames[-1].own == own else thread.take_frame(own, module)
        if frame is None:
            return
        scope, thread.scope, thread.call = frame.scope, frame.outer, frame.call
        if frame.modes is not None:
            frame.modes.close()
            recorder.finish(thread)
        if not isinstance(kwargs, dict):  # where the module raised, kwargs are left out of the call
            error = sys.exc_info()[1]
            if error is not None and (recorder.failure is None or recorder.failure[1] is not error):
                recorder.failure = (scope, error)
        elif scope:
            self._pass_through(scope, result, thread)
        if recorder.top_level is not None:
            recorder.top_level.leave(scope, result if isinstance(kwargs, dict) else None, thread)

    def _pass_through(self, scope: int, result: Any, thread: Thread) -> None:
        """A module that returns what it was given still lies on the path: give it a node."""
        recorder = self.recorder
        memory, log = recorder.memory, recorder.log
        first = log.scopes[scope].first_value
        if type(result) is Tensor and len(thread.frames) + 1 not in thread.renamed:
            entry = memory.entries.get(id(result))
            if entry is not None and entry.value >= first and entry.tensor() is result:
                return
        thread.mute += 1
        try:
            with recorder.lock, DisableTorchFunction():
                returned: list[Entry] = []
                rest = []
                for part in result if type(result) is tuple else (result,):
                    if type(part) is list and len(part) > WIDEST:
                        self._hand_on(scope, part, thread, returned)
                    else:
                        rest.append(part)
                self._pass(scope, leaves(rest), thread, returned)
                thread.restore_names(returned)
        finally:
            thread.mute -= 1

    def _pass(self, scope: int, found: list[tuple[str, Tensor]], thread: Thread, returned: list[Entry]) -> None:
        memory, first = self.recorder.memory, self.recorder.log.scopes[scope].first_value
        sources, made = [], []
        for tensor in {id(tensor): tensor for _, tensor in found}.values():
            if wrapped_by_functorch(tensor) or isinstance(tensor, UninitializedTensor):
                continue
            entry = memory.entry(tensor, thread)
            returned.append(entry)
            if entry.value < first:
                sources.append(entry.value)
                made.append(thread.rename(entry, len(thread.frames) + 1))
        events = self.recorder.log.events
        if len(made) > WIDEST:
            events.append(("link", "pass", scope, sources, made, None, None))
        else:  # what went through side by side did not meet
            events.extend(
                ("link", "pass", scope, [old], [new], None, None) for old, new in zip(sources, made, strict=True)
            )

    def _hand_on(self, scope: int, held: list[Any], thread: Thread, returned: list[Entry]) -> None:
        """Note that a call returned a list; what a call before it had returned in it already is not gone through again.

        The first tensor stands for these.
        """
        recorder, memory = self.recorder, self.recorder.memory
        entries = [entry for item in held if (entry := memory.entries.get(id(item))) is not None]
        if len(entries) < len(held):  # not a plain list of tensors
            self._pass(scope, leaves(held), thread, returned)
            return
        known = recorder.handed.get(id(held), ())
        start = len(known) if [entry.value for entry in entries[: len(known)]] == known else 0
        before, depth = recorder.log.scopes[scope].first_value, len(thread.frames) + 1
        passing = {id(entry): entry for item in held[start:] if (entry := memory.entry(item, thread)).value < before}
        stand_in = entries[:1] if start else []
        sources = [entry.value for entry in (*stand_in, *passing.values())]
        made = [thread.rename(entry, depth) for entry in (*stand_in, *passing.values())]
        if made:
            recorder.log.events.append(("link", "pass", scope, sources, made, HANDED_ON if start else LISTED, None))
        returned.extend(entries)
        inside = takewhile(lambda entry: id(entry) in passing, entries[start:])
        recorder.handed[id(held)] = [entry.value for entry in (*entries[:start], *inside)]
