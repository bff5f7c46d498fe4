"""How long what was made is there, in terms of the nodes of a graph."""

from __future__ import annotations

from bisect import bisect_left
from itertools import accumulate
from typing import TYPE_CHECKING

from trec.capture.emit.placing import SOURCES
from trec.ir.types import Lifetime

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trec.capture.emit.program import Program, Step
    from trec.capture.log import Log


def lifetimes(log: Log, program: Program, steps: Sequence[str], values: Mapping[int, str]) -> tuple[Lifetime, ...]:
    """Return the lifetime of each storage that a value of the graph lies in.

    None is returned where autograd kept storages for a backward pass that was not recorded: the program alone, as it
    runs under `torch.no_grad()`, does not need them so long.

    Args:
        log: what was written down.
        program: its steps.
        steps: their names.
        values: names of the values that steps yield.
    """
    if log.saves and not log.differentiates:
        return ()
    begun = sorted([(first, at) for at, step in enumerate(program.steps) if (first := _begin(step)) is not None])
    firsts = [first for first, _ in begun]
    last = list(accumulate([at for _, at in begun], max))
    found = []
    for lifetime in log.lifetimes or ():
        seen = tuple([values[value] for value in lifetime.values if value in values])
        if seen:
            ran = len(firsts) if lifetime.end < 0 else bisect_left(firsts, lifetime.end)
            node = steps[last[ran - 1]] if 0 < ran < len(firsts) else ""
            found.append(Lifetime(seen, node, lifetime.bytes))
    return tuple(found)


def _begin(step: Step) -> int | None:
    """Return the first value that an operator made; None if it made none."""
    if step.kind in SOURCES:
        return None
    events = step.call.events if step.call is not None else ()
    return min([*step.outputs, *[value for event in events for value in event[4]]], default=None)
