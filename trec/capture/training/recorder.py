"""A recorder that joins backward passes and steps of optimizers to what they belong to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.recorder import Recorder
from trec.capture.training.engine import Engine
from trec.capture.training.modes import TrainingFunctions, TrainingHooks, TrainingMode
from trec.capture.training.steps import Steps

if TYPE_CHECKING:
    from trec.capture.modules import ModuleHooks
    from trec.capture.thread import Thread
    from trec.ir.types import Level


class TrainingRecorder(Recorder):
    """A recorder with modes and hooks that follow autograd's engine in the thread that it was made in."""

    def __init__(self, level: Level) -> None:
        super().__init__(level)
        self.engine = Engine(self, self.thread)
        self.steps = Steps(self, self.engine)
        self.functions: Any = None
        """The mode of that thread which sees functions."""

    def hooks(self) -> ModuleHooks:
        """Return a context in which every module call opens and closes a scope, and so does each step."""
        return TrainingHooks(self)

    def stop(self) -> None:
        """Write nothing down any more, in any thread."""
        self.engine.end()
        super().stop()

    def new_modes(self, thread: Thread) -> tuple[Any, Any]:
        """Return what watches the operators and the functions of the running thread."""
        if thread is not self.thread:
            return super().new_modes(thread)
        self.functions = TrainingFunctions(self, thread)
        return TrainingMode(self, thread), self.functions
