"""How long what was made is there, in terms of the nodes of a graph."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

import torch

from trec.capture.emit.placing import SOURCES
from trec.capture.log import Call
from trec.ir.types import Lifetime

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.capture import log as recorded
    from trec.capture.emit.program import Program, Step
    from trec.capture.log import Event, Log
    from trec.ir.types import Value


_ATTENTION, _META = torch.nn.functional.scaled_dot_product_attention, torch.device("meta")
_ENGINE = frozenset({torch.autograd.grad, torch.autograd.backward, torch.Tensor.backward})
"""Functions that run a backward pass."""


def lifetimes(
    log: Log, program: Program, names: Sequence[str], numbers: Sequence[int], values: Sequence[Value]
) -> tuple[Lifetime, ...]:
    """Return the lifetime of each storage that a value of the graph lies in, and what steps need while they run.

    Where a backward pass was recorded, or the model runs one itself, this is as it was: autograd keeps storages for it.
    Else it is the program alone, as it runs under `torch.no_grad()`, which does not need them so long. What attention
    needs while it runs on `meta` is left out: there it is taken apart, while it is one kernel on any real device.

    Args:
        log: what was written down.
        program: its steps.
        names: names of the steps.
        numbers: for each value the index of the one of the graph; -1 if there is none.
        values: the values of the graph.
    """
    kept = bool(log.differentiates) or any(type(event) is Call and event.function in _ENGINE for event in log.events)
    order = _Order(program.steps, names)
    found: list[Lifetime] = []
    made: dict[int, list[tuple[recorded.Lifetime, bool]]] = {}
    """Storages by the step that made them, each with whether a value of the graph lies in it."""
    for lifetime in log.lifetimes:
        at = order.at(lifetime.values[0])
        if at < 0 or (lifetime.is_reserve and not kept):
            continue
        seen = tuple([values[number].name for value in lifetime.values if (number := numbers[value]) >= 0])
        call = program.steps[at].call
        if call is not None and not (call.function is _ATTENTION and log.type_of(lifetime.values[0])[2] == _META):
            made.setdefault(at, []).append((lifetime, bool(seen)))
        if seen:
            last = order.last(lifetime.freed if kept else lifetime.end)
            held = names[order.at(lifetime.held)] if lifetime.held >= 0 and not kept else ""
            found.append(Lifetime(seen, last, lifetime.bytes, names[at], held))
    sizes: dict[int, int] = {}
    for at, storages in made.items():
        call = program.steps[at].call
        if call is not None and not all(is_seen for _, is_seen in storages):
            sizes[at] = _workspace(storages, call.events, is_kept=kept)
    for time, kind in log.unwatched:
        sizes[order.at(time)] = sizes.get(order.at(log.watched[kind]), 0)
    found += [Lifetime((), names[at], size, names[at]) for at, size in sizes.items() if size]
    return tuple(found)


class _Order:
    """The steps in the order in which they ran: each began with a value, by which times are told."""

    def __init__(self, steps: Sequence[Step], names: Sequence[str]) -> None:
        begun = [(first, at) for at, step in enumerate(steps) if (first := _begin(step)) >= 0]
        begun.sort()
        self.firsts = [first for first, _ in begun]
        self.steps = [at for _, at in begun]
        latest = [names[at] for at in accumulate(self.steps, max)]
        self.latest = ["", *latest[:-1], ""]
        """For each number of steps that have begun, the name of the last; empty for none and for all."""

    def at(self, value: int) -> int:
        """Return the step that ran when a value was made; -1 if none did."""
        position = bisect_right(self.firsts, value)
        return self.steps[position - 1] if position else -1

    def last(self, end: int) -> str:
        """Return the name of the last step that began before so many values were made; empty for the last of all."""
        return self.latest[bisect_left(self.firsts, end)] if end >= 0 else ""


def _begin(step: Step) -> int:
    """Return the first value that an operator made; -1 if it made none."""
    if step.kind in SOURCES:
        return -1
    for event in step.call.events if step.call is not None else ():
        if event[4]:
            return event[4][0]
    return step.outputs[0] if step.outputs else -1


def _workspace(made: Sequence[tuple[recorded.Lifetime, bool]], events: Sequence[Event], *, is_kept: bool) -> int:
    """Return the most bytes that a step took at once, beyond what it leaves.

    Args:
        made: the storages that its operators made, each with whether a value of the graph lies in it.
        events: the operators.
        is_kept: whether what autograd keeps counts.
    """
    position = {value: index for index, event in enumerate(events) for value in event[4]}
    read = {value: index for index, event in enumerate(events) for value in event[3]}
    firsts = [event[4][0] for event in events if event[4]]
    change = [0] * (len(events) + 2)
    left = 0
    for lifetime, is_seen in made:
        begin = position.get(lifetime.values[0], 0)
        change[begin] += lifetime.bytes
        if is_seen:
            left += lifetime.bytes
            continue
        ran = bisect_left(firsts, lifetime.freed) if lifetime.freed >= 0 else len(firsts)
        if ran < len(firsts) or lifetime.held < 0 or is_kept:
            last = position[firsts[ran - 1]] if ran else begin
        else:  # autograd keeps it
            last = max([begin, position.get(lifetime.held, 0), *[read.get(value, 0) for value in lifetime.values]])
        change[max(begin, last) + 1] -= lifetime.bytes
    return max(0, max(accumulate(change)) - left)
