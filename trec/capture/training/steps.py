"""Steps of optimizers, by torch's own global hooks: each is a region in the phase `optimizer`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

if TYPE_CHECKING:
    from trec.capture.recorder import Recorder
    from trec.capture.training.engine import Engine


class Steps:
    """The steps that the code makes, but for those that a model makes in its forward."""

    def __init__(self, recorder: Recorder, engine: Engine) -> None:
        self.recorder, self.engine = recorder, engine
        self._open: list[tuple[Any, int]] = []
        """Optimizers whose step runs, and the scopes to go back to."""
        self._counts: dict[str, int] = {}

    def watch(self) -> tuple[Any, Any]:
        """Call the hooks below around each step from now on; return handles that take them off."""
        return register_optimizer_step_pre_hook(self._enter), register_optimizer_step_post_hook(self._leave)

    def _enter(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        engine, thread = self.engine, self.engine.thread
        if self.recorder.current() is not thread or thread.frames or not engine.enabled:
            return
        engine.flush()
        outer, name = thread.scope, type(optimizer).__name__
        count = self._counts[name] = self._counts.get(name, 0) + 1
        thread.scope = engine.open(name, "optimizer", count - 1, engine.optimize(), None)
        engine.stepping += 1
        self._open.append((optimizer, outer))

    def _leave(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        if self._open and self._open[-1][0] is optimizer and self.recorder.current() is self.engine.thread:
            self.engine.flush()
            self.engine.stepping -= 1
            self.engine.thread.scope = self._open.pop()[1]
