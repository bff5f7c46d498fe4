"""How long what was made is there, in terms of the nodes of a graph."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

from trec.capture.emit.placing import SOURCES
from trec.ir.types import Lifetime

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trec.capture import log as recorded
    from trec.capture.emit.program import Program, Step
    from trec.capture.log import Event, Log
    from trec.ir.types import Value


def lifetimes(
    log: Log, program: Program, names: Sequence[str], numbers: Sequence[int], values: Sequence[Value]
) -> tuple[Lifetime, ...]:
    """Return the lifetime of each storage that a value of the graph lies in, and what steps need while they run.

    Where a backward pass was recorded, this is as it was: autograd keeps storages for it. Else it is the program
    alone, as it runs under `torch.no_grad()`, which does not need them so long.

    Args:
        log: what was written down.
        program: its steps.
        names: names of the steps.
        numbers: for each value the index of the one of the graph; -1 if there is none.
        values: the values of the graph.
    """
    order = _Order(program.steps)
    found: list[Lifetime] = []
    made: dict[int, list[recorded.Lifetime]] = {}
    """Storages by the step that made them."""
    hidden: dict[int, None] = {}
    """Steps that made some which no value of the graph lies in."""
    for lifetime in log.lifetimes:
        at = order.at(lifetime.values[0])
        if at < 0:
            continue
        made.setdefault(at, []).append(lifetime)
        seen = tuple([values[number].name for value in lifetime.values if (number := numbers[value]) >= 0])
        if not seen:
            hidden[at] = None
            continue
        end = lifetime.freed if log.differentiates else lifetime.end
        held = ""
        if lifetime.held >= 0 and lifetime.freed != end and not log.differentiates:
            held = names[order.at(lifetime.held)]
        found.append(Lifetime(seen, order.last(end, names), lifetime.bytes, names[at], held))
    for at in hidden:
        call = program.steps[at].call
        shown = [numbers[lifetime.values[0]] >= 0 or any(numbers[v] >= 0 for v in lifetime.values) for lifetime in made[at]]
        size = _workspace(made[at], shown, () if call is None else call.events)
        if size:
            found.append(Lifetime((), names[at], size, names[at]))
    return tuple(found)


class _Order:
    """The steps in the order in which they ran: each began with a value, by which times are told."""

    def __init__(self, steps: Sequence[Step]) -> None:
        begun = sorted([(first, at) for at, step in enumerate(steps) if (first := _begin(step)) is not None])
        self.firsts = [first for first, _ in begun]
        self.steps = [at for _, at in begun]
        self.latest = list(accumulate(self.steps, max))

    def at(self, value: int) -> int:
        """Return the step that ran when a value was made; -1 if none did."""
        position = bisect_right(self.firsts, value) - 1
        return self.steps[position] if position >= 0 else -1

    def last(self, end: int, names: Sequence[str]) -> str:
        """Return the name of the last step that began before so many values were made; empty for the last of all."""
        ran = len(self.firsts) if end < 0 else bisect_left(self.firsts, end)
        return names[self.latest[ran - 1]] if 0 < ran < len(self.firsts) else ""


def _begin(step: Step) -> int | None:
    """Return the first value that an operator made; None if it made none."""
    if step.kind in SOURCES:
        return None
    events = step.call.events if step.call is not None else ()
    return min([*step.outputs, *[value for event in events for value in event[4]]], default=None)


def _workspace(made: Sequence[recorded.Lifetime], shown: Sequence[bool], events: Sequence[Event]) -> int:
    """Return the most bytes that a step took at once, beyond what it leaves.

    Args:
        made: the storages that its operators made.
        shown: for each, whether a value of the graph lies in it.
        events: the operators.
    """
    position = {value: index for index, event in enumerate(events) for value in event[4]}
    read = {value: index for index, event in enumerate(events) for value in event[3]}
    firsts = [event[4][0] for event in events if event[4]]
    change = [0] * (len(events) + 2)
    left = 0
    for lifetime, is_shown in zip(made, shown, strict=True):
        begin = position.get(lifetime.values[0], 0)
        change[begin] += lifetime.bytes
        if is_shown:
            left += lifetime.bytes
            continue
        ran = bisect_left(firsts, lifetime.freed) if lifetime.freed >= 0 else len(firsts)
        if ran < len(firsts) or lifetime.held < 0:
            last = position[firsts[ran - 1]] if ran else begin
        else:  # autograd keeps it
            last = max([begin, position.get(lifetime.held, 0), *[read.get(value, 0) for value in lifetime.values]])
        change[max(begin, last) + 1] -= lifetime.bytes
    return max(0, max(accumulate(change)) - left)
