"""Which step each step of a backward pass differentiates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.capture.log import Origin
from trec.ir.types import Derivative

if TYPE_CHECKING:
    from trec.capture.emit.program import Program
    from trec.capture.log import Log


def derivatives(log: Log, program: Program) -> list[Derivative]:
    """Return the operators of backward passes with what they differentiate, by their positions among the steps.

    What adds up a gradient differentiates the parameter or other leaf whose gradient it is.
    """
    known = log.differentiates
    if not known:
        return []
    makers = _makers(program, {*known.values()})
    steps = program.steps
    leaves = {id(step.detail): position for position, step in enumerate(steps) if type(step.detail) is Origin}
    found: list[Derivative] = []
    for position, step in enumerate(steps):
        value = next((known[value] for value in step.outputs if value in known), -1)
        if step.kind != "op" or value < 0:
            continue
        call = step.call if step.group < 0 else program.groups[step.group].call
        origin = None if call is None else call.origin
        forward = makers.get(value, -1) if origin is None else leaves.get(id(origin), -1)
        if 0 <= forward < position:
            found.append(Derivative(position, forward))
    return found


def _makers(program: Program, values: set[int]) -> dict[int, int]:
    """Return for each of the values the first step that makes it, also where only an operator inside it does."""
    found: dict[int, int] = {}
    for position, step in enumerate(program.steps):
        made = [*step.outputs]
        if step.call is not None:
            made += [value for event in step.call.events for value in event[4]]
        for value in values.intersection(made):
            found.setdefault(value, position)
    return found
