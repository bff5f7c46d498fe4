"""What the graph leaves out: links that nothing reads, and a tensor that torch keeps for itself.

A tensor is brought up to date before a function is called with it. If the function then takes only a part of it that
was not written, as a view does, nothing has read the whole. And the first jagged tensor of a process makes one that
torch hands to every operator on jagged tensors, though they take nothing from it.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from trec.capture.log import Call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.capture.log import Event, Log
    from trec.capture.values.memory import Memory


def drop_unread(log: Log, memory: Memory, kept: Iterable[int]) -> None:
    """Take out of a log the updates whose value is neither read nor among those that are kept."""
    hidden = kept_by_torch(memory)
    if log.linked or hidden:
        _Sweep(log, kept, hidden, memory.narrowed).run()


def kept_by_torch(memory: Memory) -> set[int]:
    """Return the values of tensors that torch keeps for itself."""
    dummy: Any = getattr(sys.modules.get("torch.nested._internal.nested_tensor"), "_dummy_instance", None)
    entry = None if dummy is None else memory.known(dummy)
    return set() if entry is None else {entry.value}


class _Sweep:
    """Goes through a log from its end, so that what reads a value is met before what makes it."""

    def __init__(self, log: Log, kept: Iterable[int], hidden: set[int], narrowed: dict[int, list[int]]) -> None:
        self.log, self.hidden, self.narrowed = log, hidden, narrowed
        self.read = bytearray(len(log.types))
        for value in kept:
            self.read[value] = 1

    def run(self) -> None:
        left: list[Event | Call] = []
        for event in reversed(self.log.events):
            if type(event) is Call:
                for value in event.results:
                    self.read[value] |= value not in self.hidden
                inner = [
                    swept
                    for operation in reversed(event.events)
                    if (swept := self._swept(self._narrow(operation))) is not None
                ]
                event.events[:] = reversed(inner)
                if self.hidden and not self.hidden.isdisjoint(event.given):
                    event.given = [value for value in event.given if value not in self.hidden]
                if inner:
                    left.append(event)
            elif (swept := self._swept(event)) is not None:  # type: ignore[arg-type]
                left.append(swept)
        self.log.events[:] = reversed(left)

    def _narrow(self, event: Event) -> Event:
        """Let a view inside a call read no more than the views that were taken past it: `x[0, 1]` is two views."""
        kind, what, scope, _, made, detail, place = event
        if len(made) != 1 or self.read[made[0]] or made[0] not in self.narrowed:
            return event
        return kind, what, scope, list(dict.fromkeys(self.narrowed[made[0]])), made, detail, place

    def _swept(self, event: Event) -> Event | None:
        """Return an event as it is to be, or None if nothing needs it."""
        kind, what, scope, reads, made, detail, place = event
        if made and not any(self.read[value] for value in made):
            if kind == "link" and what != "pass":
                return None
            if self.hidden and self.hidden.issuperset(made):
                self.hidden.update(value for value in reads if not self.read[value])
                return None
        if self.hidden and not self.hidden.isdisjoint(reads):
            reads = [value for value in reads if value not in self.hidden]
            event = (kind, what, scope, reads, made, detail, place)
        for value in reads:
            self.read[value] = 1
        return event
