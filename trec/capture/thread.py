"""Where one thread of the model stands: the module it is in, the torch function it runs, whether it is watched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.log import Origin

if TYPE_CHECKING:
    from contextlib import ExitStack

    from torch import Tensor

    from trec.capture.log import Call, Event, Log
    from trec.ir.types import NodeKind

_TABLES: tuple[tuple[NodeKind, str], ...] = (("param", "_parameters"), ("buffer", "_buffers"))


Frame = tuple[int, Any, int, "Call | None", "ExitStack | None"]
"""A module call that has not returned: its scope, the module, and what to go back to: scope, function, modes to end."""


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
        module = self.frames[-1][1]
        for kind, table in _TABLES:
            held = getattr(module, table, None)
            if not isinstance(held, dict):
                continue
            for name, candidate in held.items():
                if candidate is tensor:
                    path = self.log.scopes[self.scope].path
                    return Origin(kind, [f"{path}.{name}" if path else name])
        return None
