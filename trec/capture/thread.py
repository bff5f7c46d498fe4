"""Where one thread of the model stands: the module it is in, the torch function it runs, whether it is watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.log import Origin

if TYPE_CHECKING:
    from contextlib import ExitStack

    from torch import Tensor

    from trec.capture.log import Call, Event, Log

_TABLES = (("param", "_parameters"), ("buffer", "_buffers"))


class Frame:
    """A module call that has not returned, and what to go back to when it does."""

    __slots__ = ("call", "module", "modes", "outer", "scope")

    def __init__(self, scope: int, module: Any, outer: int, call: Call | None, modes: ExitStack | None) -> None:
        self.scope, self.module, self.outer, self.call, self.modes = scope, module, outer, call, modes


class Thread:
    """The state of recording in one thread."""

    __slots__ = ("call", "frames", "log", "mute", "scope")

    def __init__(self, log: Log, scope: int) -> None:
        self.log = log
        self.scope = scope
        """Innermost scope that is open."""
        self.call: Call | None = None
        """Torch function that runs."""
        self.frames: list[Frame] = []
        self.mute = 0
        """Above zero while an operator or recording itself runs: nothing is written down."""

    def emit(self, event: Event) -> None:
        """Write an event down in the call that runs, else in the log."""
        if self.call is None:
            self.log.events.append(event)
        else:
            self.call.events.append(event)

    def find_origin(self, tensor: Tensor) -> Origin | None:
        """Return the name of a parameter or buffer that was put into the running module after recording began."""
        if not self.frames:
            return None
        module = self.frames[-1].module
        for kind, table in _TABLES:
            held = getattr(module, table, None)
            if not isinstance(held, dict):
                continue
            for name, candidate in held.items():
                if candidate is tensor:
                    path = self.log.scopes[self.scope].path
                    return Origin(kind, [f"{path}.{name}" if path else name])  # type: ignore[arg-type]
        return None
