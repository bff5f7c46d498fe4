"""Links that nothing reads are left out of the graph.

A tensor is brought up to date before a function is called with it. If the function then takes only a part of it that
was not written, as a view does, nothing has read the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.capture.log import Call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.capture.log import Event, Log


def drop_unread(log: Log, kept: Iterable[int]) -> None:
    """Take out of a log the updates whose value is neither read nor among those that are kept."""
    if not log.linked:
        return
    read = bytearray(len(log.types))
    for value in kept:
        read[value] = 1
    left: list[Event | Call] = []
    for event in reversed(log.events):
        if type(event) is Call:
            for value in event.results:
                read[value] = 1
            inner = [operation for operation in reversed(event.events) if _is_read(operation, read)]
            event.events[:] = reversed(inner)
            left.append(event)
        elif _is_read(event, read):  # type: ignore[arg-type]
            left.append(event)
    log.events[:] = reversed(left)


def _is_read(event: Event, read: bytearray) -> bool:
    if event[0] == "link" and event[1] != "pass" and not any(read[value] for value in event[4]):
        return False
    for value in event[3]:
        read[value] = 1
    return True
