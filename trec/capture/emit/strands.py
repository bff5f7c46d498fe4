"""What several threads did at once, put into one order that is the same every time.

A strand is one module call in a thread of the model's, with all that it ran. Which of them came first is chance, so
each stands where the first of its results is read; what nobody reads comes last, by the names of the modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.log import Call

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.capture.log import Log, ScopeRecord

_FLOATING = frozenset({"param", "buffer", "constant"})


def order_strands(log: Log, heads: list[int], outputs: list[int]) -> list[int]:
    """Rewrite the log as if the strands had run one after another; return the new index of each scope.

    Args:
        log: what was written down, as it happened.
        heads: scopes of the module calls that began the strands.
        outputs: values that the model returned, in order.
    """
    strands = _strands(log.scopes, heads)
    merge = _Merge(log, strands, len(heads) + 1)
    names = [log.scopes[head].path for head in heads]
    unread = sorted(range(1, len(heads) + 1), key=lambda strand: names[strand - 1])
    log.events = list(merge.events(outputs, unread))
    places = {strand: place for place, strand in enumerate(dict.fromkeys(merge.started))}
    order = sorted(range(len(strands)), key=lambda scope: places[strands[scope]])
    order = _parents_first(order, log.scopes)
    moved = [0] * len(order)
    for new, old in enumerate(order):
        moved[old] = new
    _move_scopes(log, order, moved)
    return moved


def _strands(scopes: list[ScopeRecord], heads: list[int]) -> list[int]:
    """Return the strand of each scope; 0 is the thread that called the model."""
    numbers = {head: number for number, head in enumerate(heads, 1)}
    strands: list[int] = []
    for index, scope in enumerate(scopes):
        strands.append(numbers.get(index, strands[scope.parent] if index else 0))
    return strands


class _Merge:
    """Goes along the first strand, and along the others as far as their results are asked for."""

    def __init__(self, log: Log, strands: list[int], count: int) -> None:
        self.sequences: list[list[Any]] = [[] for _ in range(count)]
        self.made: dict[int, tuple[int, int]] = {}
        """Strand and position of the event that makes each value."""
        for event in log.events:
            if type(event) is not Call and event[0] in _FLOATING:  # type: ignore[index]
                strand = len(self.sequences)  # who reads a parameter first is chance
                self.sequences.append([])
            else:
                strand = strands[event.scope if type(event) is Call else event[2]]  # type: ignore[index]
            for value in _makes(event):
                self.made.setdefault(value, (strand, len(self.sequences[strand])))
            self.sequences[strand].append(event)
        self.done = [0] * len(self.sequences)
        self.started: list[int] = []
        self.count = count

    def events(self, outputs: list[int], unread: list[int]) -> Iterator[Any]:
        """Yield all events, each after those that made what it reads."""
        yield from self._until(0, len(self.sequences[0]) - 1)
        for value in outputs:
            if value in self.made:
                yield from self._until(*self.made[value])
        for strand in [*unread, *range(self.count, len(self.sequences))]:
            yield from self._until(strand, len(self.sequences[strand]) - 1)
        self.started.extend(range(self.count))

    def _until(self, strand: int, position: int) -> Iterator[Any]:
        todo = [(strand, position)]
        while todo:
            strand, position = todo[-1]
            at = self.done[strand]
            if at > position:
                todo.pop()
                continue
            event = self.sequences[strand][at]
            wanted = next((where for value in _reads(event) if (where := self._missing(value, strand))), None)
            if wanted is not None:
                todo.append(wanted)
                continue
            if not at and strand < self.count:
                self.started.append(strand)
            self.done[strand] += 1
            yield event

    def _missing(self, value: int, strand: int) -> tuple[int, int] | None:
        where = self.made.get(value)
        return where if where is not None and where[0] != strand and where[1] >= self.done[where[0]] else None


def _operations(event: Any) -> Any:
    return event.events if type(event) is Call else (event,)


def _makes(event: Any) -> Iterator[int]:
    for operation in _operations(event):
        yield from operation[4]


def _reads(event: Any) -> Iterator[int]:
    for operation in _operations(event):
        yield from operation[3]
    if type(event) is Call:
        yield from event.read


def _parents_first(order: list[int], scopes: list[ScopeRecord]) -> list[int]:
    """Return the scopes in the same order, but each after its parent."""
    placed: dict[int, None] = {}
    for scope in order:
        chain = []
        while scope >= 0 and scope not in placed:
            chain.append(scope)
            scope = scopes[scope].parent
        placed.update(dict.fromkeys(reversed(chain)))
    return list(placed)


def _move_scopes(log: Log, order: list[int], moved: list[int]) -> None:
    """Give the scopes their new places, and number the calls of each module anew."""
    calls: dict[str, int] = {}
    log.scopes = [log.scopes[old] for old in order]
    log.seconds = {moved[scope]: seconds for scope, seconds in log.seconds.items()}
    for scope in log.scopes:
        scope.parent = moved[scope.parent] if scope.parent >= 0 else -1
        scope.mirrors = moved[scope.mirrors] if scope.mirrors >= 0 else -1
        if scope.kind == "module":
            scope.call = calls.get(scope.path, 0)
            calls[scope.path] = scope.call + 1
    events: list[Any] = []
    for event in log.events:
        if type(event) is Call:
            event.scope = moved[event.scope]
            event.events = [_moved(operation, moved) for operation in event.events]
            events.append(event)
        else:
            events.append(_moved(event, moved))
    log.events = events


def _moved(event: Any, moved: list[int]) -> Any:
    return (*event[:2], moved[event[2]], *event[3:])
