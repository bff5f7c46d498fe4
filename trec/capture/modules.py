"""Scopes of module calls, by torch's own global hooks: nothing of the user's is patched."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch.nn.modules.module as hooks
from torch import Tensor
from torch._C import DisableTorchFunction

from trec.capture.leaves import leaves, wrapped_by_functorch
from trec.capture.log import UninitializedTensor

if TYPE_CHECKING:
    from trec.capture.recorder import Recorder
    from trec.capture.thread import Thread


class ModuleHooks:
    """A context in which every module call of the recording opens and closes a scope.

    The hooks stand before those of others, so the user's pre-hooks run inside the scope and forward hooks outside.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def __enter__(self) -> None:
        before = hooks.register_module_forward_pre_hook(self._enter)
        after = hooks.register_module_forward_hook(self._leave, with_kwargs=True, always_call=True)
        for handle, table in ((before, hooks._global_forward_pre_hooks), (after, hooks._global_forward_hooks)):
            table.move_to_end(handle.id, last=False)  # type: ignore[attr-defined]
        self._handles = (before, after)

    def __exit__(self, *_: object) -> None:
        for handle in self._handles:
            handle.remove()
            hooks._global_forward_hooks_always_called.pop(handle.id, None)  # torch's own removal leaves these
            hooks._global_forward_hooks_with_kwargs.pop(handle.id, None)

    def _enter(self, module: Any, args: Any) -> None:
        recorder = self.recorder
        thread = recorder.current(module)
        if thread is None:
            return
        modes = None
        if not thread.frames and thread is not recorder.thread:
            modes = recorder.modes(thread)
        with recorder.lock:
            if recorder.expected is module:
                scope, recorder.expected = 0, None  # the root was opened with the recording
            else:
                scope = recorder.open_scope(module, thread)
            call = thread.call
            if call is not None:
                call.split = True
            thread.frames.append((scope, module, thread.scope, call, modes))
            thread.scope, thread.call = scope, None

    def _leave(self, module: Any, args: Any, kwargs: Any = None, result: Any = None) -> None:
        recorder = self.recorder
        thread = recorder.current(module)
        if thread is None:
            return
        frames = thread.frames
        if not frames or (frames[-1][1] is not module and not any(frame[1] is module for frame in frames)):
            return
        entered = None
        while entered is not module:  # frames that a BaseException left behind go with it
            scope, entered, thread.scope, thread.call, modes = frames.pop()
            if modes is not None:
                modes.close()
        if not isinstance(kwargs, dict):  # where the module raised, kwargs are left out of the call
            error = sys.exc_info()[1]
            if error is not None and (recorder.failure is None or recorder.failure[1] is not error):
                recorder.failure = (scope, error)
        elif scope:
            self._pass_through(scope, result, thread)

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
                sources, made, returned = [], [], []
                for tensor in {id(tensor): tensor for _, tensor in leaves(result)}.values():
                    if wrapped_by_functorch(tensor) or isinstance(tensor, UninitializedTensor):
                        continue
                    entry = memory.entry(tensor, thread)
                    returned.append(entry)
                    if entry.value < first:
                        sources.append(entry.value)
                        made.append(thread.rename(entry, len(thread.frames) + 1))
                if made:
                    log.events.append(("link", "pass", scope, sources, made, None, None))
                thread.restore_names(returned)
        finally:
            thread.mute -= 1
