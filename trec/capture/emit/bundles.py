"""Long lists that a model hands on from call to call: one value for all that went through a call untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from trec.capture.log import Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.capture.log import Event, Log

WIDEST = 32
"""So many tensors may go through a call with a value of their own for each."""

LISTED, HANDED_ON = "listed", "handed on"
"""Mark the pass of a long list: with all its tensors, and later only with the first and those that are new."""


def bundle_passes(log: Log) -> None:
    """Rewrite the log so that what it says of lists handed on grows with the calls, not with calls times tensors.

    A call that returned many tensors as they were makes one value of them all, a bundle, which the next such call
    reads. Only where a tensor is read is it taken out of the bundle again: by a link that reads the tensor as it was
    before the first such call, and the bundle. All that a call handed on meets in its node.
    """
    if any(_is_wide(event) for event in log.events):
        log.events = list(_bundled(log))


def _is_wide(event: Event | Call) -> bool:
    if isinstance(event, Call) or event[1] != "pass" or event[0] != "link":
        return False
    return event[5] in (LISTED, HANDED_ON) or len(event[4]) > WIDEST


def _bundled(log: Log) -> Iterator[Any]:
    held: dict[int, tuple[int, list[int]]] = {}
    """For each value that lies in a bundle, what it was before, and the newest value of the bundle."""
    for event in log.events:
        if not _is_wide(event):
            for value in _reads(event):
                if value in held:
                    before, bundle = held.pop(value)
                    scope = event.scope if isinstance(event, Call) else event[2]
                    yield "link", "alias", scope, [before, *bundle], [value], None, None
            yield event
            continue
        _, _, scope, sources, made, mark, _ = cast("Event", event)
        fresh = _bundle(log, made[0])
        bundle = held[sources[0]][1] if mark == HANDED_ON and sources[0] in held else [fresh]
        reads: dict[int, None] = {}
        for source, value in zip(sources, made, strict=True):
            before, around = held.get(source, (source, [source]))
            reads[around[0]] = None
            held[value] = (before, bundle)
        bundle[0] = fresh
        yield "link", "pass", scope, list(reads), [fresh], None, None


def _bundle(log: Log, like: int) -> int:
    _, dtype, device, layout = log.type_of(like)
    key = (("?",), dtype, device, layout)
    index = log.type_index.get(key)
    log.types.append(log.add_type(key) if index is None else index)
    return len(log.types) - 1


def _reads(event: Any) -> Iterator[int]:
    for operation in event.events if type(event) is Call else (event,):
        yield from operation[3]
    if type(event) is Call:
        yield from event.read
