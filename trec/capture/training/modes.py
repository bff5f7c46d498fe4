"""What watches a step of training: the modes and hooks of a recording, which ask autograd where it stands as well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from trec.capture.dispatch import OperatorMode
from trec.capture.functions import FunctionMode
from trec.capture.leaves import add_tensors
from trec.capture.modules import ModuleHooks
from trec.capture.sources import caller_place
from trec.capture.torch_api import current_autograd_node, function_modes, next_sequence_number

if TYPE_CHECKING:
    from torch import Tensor

    from trec.capture.thread import Thread
    from trec.capture.training.recorder import TrainingRecorder

BACKWARD = frozenset({torch.Tensor.backward, torch.autograd.backward, torch.autograd.grad})
"""Functions that run autograd's engine."""


class TrainingMode(OperatorMode):  # type: ignore[no-untyped-call]
    """Writes down every operator, those of autograd node by node, and which nodes of autograd each one made."""

    def __init__(self, recorder: TrainingRecorder, thread: Thread) -> None:
        super().__init__(recorder, thread)
        self.engine = recorder.engine
        self.types = recorder.log.types

    def _handle(self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None) -> Any:
        thread, engine = self.thread, self.engine
        if thread.mute:
            return func(*args, **kwargs) if kwargs else func(*args)
        if thread.call is engine.call:
            node = current_autograd_node()
            if node is None:
                engine.leave_node()
            elif not engine.turn(node, func):
                return func(*args, **kwargs) if kwargs else func(*args)
        before, number = len(self.types), next_sequence_number()
        result = super()._handle(func, types, args, kwargs)
        if len(self.types) > before:
            if engine.forward >= 0:
                self.log.differentiates.update(dict.fromkeys(range(before, len(self.types)), engine.forward))
            if number > engine.last_number:
                engine.note(number, thread.scope)
        return result


# Assigned later, as in `trec.capture.dispatch`.
TrainingMode.__torch_dispatch__ = TrainingMode._handle  # type: ignore[assignment,method-assign]


class TrainingFunctions(FunctionMode):
    """Gathers the operators of each torch function; functions that run backward are left open, node by node."""

    def __init__(self, recorder: TrainingRecorder, thread: Thread) -> None:
        super().__init__(recorder, thread)
        self.engine = recorder.engine

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        thread, engine = self.thread, self.engine
        if thread.mute:
            return func(*args, **kwargs) if kwargs else func(*args)
        if not engine.running and not thread.frames and engine.enabled:
            if func in BACKWARD:
                return engine.run(func, args, kwargs or {}, caller_place(2))
            if engine.gradients or engine.stepping:
                return self._outside(func, types, args, kwargs)
        result = super().__torch_function__(func, types, args, kwargs)
        number = next_sequence_number()
        if number > engine.last_number:
            engine.note(number, thread.scope)
        return result

    def _outside(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Return the result of a function that no module calls; what it does to gradients belongs to the optimizer."""
        engine, thread = self.engine, self.thread
        tensors: list[Tensor] = []
        add_tensors(args, tensors)
        add_tensors(kwargs, tensors)
        followed = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        outer, first = thread.scope, len(self.log.types)
        if followed:
            thread.scope = 0
        elif not engine.stepping:
            entries = [self.memory.known(tensor) for tensor in tensors]
            if not any(entry is not None and entry.value in engine.gradients for entry in entries):
                return super().__torch_function__(func, types, args, kwargs)
            thread.scope = engine.optimize()
        try:
            return super().__torch_function__(func, types, args, kwargs)
        finally:
            thread.scope = outer
            if not followed and not engine.stepping:
                leaves = [self.memory.known(tensor) for tensor in tensors if tensor.requires_grad]
                engine.gradients.update(range(first, len(self.log.types)))
                engine.gradients.difference_update([entry.value for entry in leaves if entry is not None])


class TrainingHooks(ModuleHooks):
    """Opens and closes a scope for every module call, also for those that compute something again in a backward pass.

    There, functions are seen only while such a module runs: torch takes their mode off in functions, as `backward` is.
    """

    recorder: TrainingRecorder

    def __enter__(self) -> None:
        super().__enter__()
        self._again: list[tuple[int, Any]] = []
        """Numbers of open frames, and the modes that end when there are fewer."""
        self._after: list[int] = []
        """Scopes of steps to go back to when no module runs any more."""
        self._steps = self.recorder.steps.watch()

    def __exit__(self, *_: object) -> None:
        for handle in self._steps:
            handle.remove()
        super().__exit__()

    def _enter(self, module: Any, args: Any) -> None:
        recorder, engine = self.recorder, self.recorder.engine
        if recorder.current() is not engine.thread:
            super()._enter(module, args)
            return
        thread = engine.thread
        again = engine.enter_module(module)
        if engine.stepping and not thread.frames and not again:  # what a step calls is forward
            self._after.append(thread.scope)
            thread.scope = 0
        super()._enter(module, args)
        if again:
            recorder.log.scopes[thread.scope].phase = "backward"
            if recorder.functions not in function_modes():
                recorder.functions.__enter__()
                self._again.append((len(thread.frames), recorder.functions))
        elif engine.within_loss:
            recorder.log.scopes[thread.scope].phase = "backward"
        elif len(thread.frames) == 1:
            engine.optimizing = -1

    def _leave(self, module: Any, args: Any, kwargs: Any = None, result: Any = None) -> None:
        super()._leave(module, args, kwargs, result)
        thread = self.recorder.engine.thread
        if not (self._after or self._again) or self.recorder.current() is not thread:
            return
        if self._after and not thread.frames:
            thread.scope = self._after.pop()
        if self._again and len(thread.frames) < self._again[-1][0]:
            _, mode = self._again.pop()
            mode.__exit__(None, None, None)
