"""A recording of a step of training that also counts and times."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.costs import CostFunctions, CostHooks, CostMode, CostRecorder
from trec.capture.training.modes import TrainingFunctions, TrainingHooks, TrainingMode
from trec.capture.training.recorder import TrainingRecorder

if TYPE_CHECKING:
    from trec.capture.modules import ModuleHooks
    from trec.capture.thread import Thread


class CostTrainingMode(CostMode, TrainingMode):  # type: ignore[no-untyped-call]
    """Writes down every operator with its cost, those of autograd node by node."""


class CostTrainingFunctions(CostFunctions, TrainingFunctions):
    """Gathers the operators of each torch function, and leaves open those that run backward."""


class CostTrainingHooks(CostHooks, TrainingHooks):
    """Opens and closes a scope for every module call, and writes down how long it ran."""

    recorder: CostTrainingRecorder


class CostTrainingRecorder(CostRecorder, TrainingRecorder):
    """A recorder with modes and hooks that measure and follow autograd's engine."""

    def hooks(self) -> ModuleHooks:
        """Return a context in which every module call opens and closes a scope, and is timed."""
        return CostTrainingHooks(self)

    def new_modes(self, thread: Thread) -> tuple[Any, Any]:
        """Return what watches and measures the operators and the functions of the running thread."""
        if thread is not self.thread:
            return super().new_modes(thread)
        self.functions = CostTrainingFunctions(self, thread)
        return CostTrainingMode(self, thread), self.functions
