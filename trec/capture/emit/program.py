"""From the log to a program: what each function call reads and yields, and which operators stand on their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from trec.capture.emit.bundles import bundle_passes
from trec.capture.emit.placing import SOURCES, place_gradients, place_sources
from trec.capture.log import Call, Event, Log, Origin, Place
from trec.ir.types import NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.capture.operators import Facts

READ, SAVED = 1, 2
"""How a value is read outside of the event that makes it: by other steps, or by autograd, which saved it."""


class Group(NamedTuple):
    """A function call whose operators stay visible: it becomes a scope."""

    call: Call
    inputs: list[int]
    outputs: list[int]


class Step(Struct, gc=False):
    """One node of the program, in terms of the log."""

    kind: NodeKind
    what: Any
    scope: int
    inputs: Sequence[int]
    outputs: Sequence[int]
    detail: Any
    place: Place
    group: int = -1
    """Index of the group that holds it; -1: the module does."""
    error: str | None = None
    """Name of the exception with which it stopped the model."""
    cost: tuple[int, float] | None = None
    """Floating point operations and seconds, where they were measured."""
    saved: int = 0
    """How many of its last outputs are there only for autograd, which saved them."""
    call: Call | None = None
    """The call of a function that it is; None for a single operator and for anything else."""


class Program(NamedTuple):
    """Steps in execution order, and the groups that they refer to."""

    steps: list[Step]
    groups: list[Group]


def plan(
    log: Log, outputs: Iterable[int], made: dict[int, Origin], facts: dict[int, Facts], *, keep_operators: bool
) -> Program:
    """Return the program that a log tells of.

    Args:
        log: what was written down.
        outputs: values that the model returned.
        made: parameters and buffers that came to be during the pass, by value.
        facts: what is known of each operator that ran, by its id.
        keep_operators: whether operators stay visible inside their function calls.
    """
    bundle_passes(log)
    usage = _Usage(log, outputs)
    planner = _Planner(log, usage, facts, keep_operators=keep_operators)
    for position, event in enumerate(log.events):
        if type(event) is Call:
            planner.add_call(position, event)
        elif event[0] not in SOURCES or usage.escapes[event[4][0]]:  # type: ignore[index]
            planner.steps.append(Step(*event))  # type: ignore[misc]
    steps = _insert_made(planner.steps, planner.groups, made, log) if made else planner.steps
    place_sources(steps, log)
    if log.differentiates:
        place_gradients(steps, planner.groups, log)
    if log.costs:
        _add_costs(steps, log.costs)
    return Program(steps, planner.groups)


class _Usage:
    """Which event of the log makes each value, and what other events read it: `READ`, `SAVED` or both."""

    def __init__(self, log: Log, outputs: Iterable[int]) -> None:
        count = len(log.types)
        self.reads = reads = [SAVED if record.autograd else READ for record in log.scopes]
        """For each scope, what it is to be read there."""
        self.maker = maker = [-1] * count
        self.escapes = escapes = bytearray(count)
        for position, event in enumerate(log.events):
            operations: Sequence[Event] = event.events if type(event) is Call else (event,)  # type: ignore[assignment]
            for operation in operations:
                for value in operation[3]:
                    if maker[value] != position:
                        escapes[value] |= reads[operation[2]]
                for value in operation[4]:
                    maker[value] = position
            for value in event.read if type(event) is Call else ():
                escapes[value] |= maker[value] != position
        for value in outputs:
            escapes[value] |= READ


class _Planner:
    def __init__(self, log: Log, usage: _Usage, facts: dict[int, Facts], *, keep_operators: bool) -> None:
        self.log, self.usage, self.facts, self.keep_operators = log, usage, facts, keep_operators
        self.steps: list[Step] = []
        self.groups: list[Group] = []

    def add_call(self, position: int, call: Call) -> None:
        if call.split and call.events:
            for event in call.events:
                self.steps.append(Step(*event))
            return
        events, results = call.events, call.results
        if len(events) == 1 and not self.keep_operators and _is_call(call, events[0]):
            makes = events[0][4]
            step = Step("op", call.function, call.scope, call.given, makes, call.arguments, call.place, call=call)
            self.steps.append(step)
            return
        maker, escapes = self.usage.maker, self.usage.escapes
        leaking = [value for event in events for value in event[4] if escapes[value] and value not in results]
        saved = self._take_saved(call, leaking) if leaking else []
        if leaking and any(maker[value] == position for value in results):
            hoisted = self._hoist(call, leaking)
            if hoisted:
                events = [event for event in events if id(event) not in hoisted]
                leaking = [value for value in leaking if maker[value] == position]
                saved = [value for value in saved if maker[value] == position]
        read = {value: None for event in events for value in event[3] if maker[value] != position}
        read.update({value: None for value in call.read if maker[value] != position})
        inputs = [value for value in call.given if value in read]
        for value in inputs:
            read.pop(value, None)
        inputs.extend(read)
        outputs = [value for value in results if maker[value] == position]
        if len(outputs) > 1:
            outputs = list(dict.fromkeys(outputs))
        if leaking:
            outputs += sorted(leaking)
        if self.keep_operators and events:
            self._keep(call, events, inputs, outputs)
            return
        kind: NodeKind = "host" if call.host and not outputs else "op"
        outputs += saved
        step = Step(kind, call.function, call.scope, inputs, outputs, call.arguments, call.place, error=call.error)
        step.saved = len(saved) if self.log.scopes[call.scope].phase == "forward" else 0
        step.call = call
        if self.log.costs:
            step.cost = _sum_costs([value for event in events for value in event[4]], self.log.costs)
        self.steps.append(step)

    def _take_saved(self, call: Call, leaking: list[int]) -> list[int]:
        """Take out of the values that a call does not return those that only autograd reads, and return them."""
        used = READ | self.usage.reads[call.scope]
        saved = [value for value in leaking if not self.usage.escapes[value] & used]
        if saved:
            leaking[:] = [value for value in leaking if self.usage.escapes[value] & used]
        return sorted(saved)

    def _keep(self, call: Call, events: list[Event], inputs: list[int], outputs: list[int]) -> None:
        group = len(self.groups)
        self.groups.append(Group(call, inputs, outputs))
        for kind, what, scope, reads, makes, detail, place in events:
            if kind == "link" and what == "write" and call.read:
                reads = [*reads, *[value for value in call.read if value not in reads]]
            self.steps.append(Step(kind, what, scope, reads, makes, detail, place, group))

    def _hoist(self, call: Call, leaking: list[int]) -> dict[int, Event]:
        """Put before the call the operators that make values which are used elsewhere though it does not return them.

        Left inside, they would make a false path from every argument of the call to every such use: autocast casts a
        weight inside the first call that needs it, and hands the cast weight to the next.
        """
        producer = {value: event for event in call.events for value in event[4]}
        found: set[int] = set()
        todo = list(leaking)
        while todo:
            event = producer.get(todo.pop())
            if event is not None and id(event) not in found:
                found.add(id(event))
                todo.extend(event[3])
        hoisted = {id(event): event for event in call.events if id(event) in found}
        for event in hoisted.values():
            facts = self.facts.get(id(event[1]))
            if (
                event[1] == "write"
                or (facts is not None and facts.writes)
                or not set(call.results).isdisjoint(event[4])
            ):
                return {}
        for event in hoisted.values():
            self.steps.append(Step(*event))
            for value in event[4]:
                self.usage.maker[value] = -1
        return hoisted


def _is_call(call: Call, event: Event) -> bool:
    """Tell whether a call is no more than its one operator: it reads what was given and makes what is returned."""
    if call.read or event[0] != "op":
        return False
    return event[3] == call.given and list(event[4]) == call.results


def _add_costs(steps: list[Step], costs: dict[int, tuple[int, float]]) -> None:
    """Give each step that is one operator the cost of it; the others have theirs."""
    for step in steps:
        step.cost = step.cost or _sum_costs(step.outputs, costs)


def _sum_costs(made: Sequence[int], costs: dict[int, tuple[int, float]]) -> tuple[int, float] | None:
    found = [costs[value] for value in made if value in costs]
    return (sum([flops for flops, _ in found]), sum([seconds for _, seconds in found])) if found else None


def _insert_made(steps: list[Step], groups: list[Group], made: dict[int, Origin], log: Log) -> list[Step]:
    """Put a node behind the producer of each value that became a parameter, and let later readers read that."""
    renamed: dict[int, int] = {}
    result: list[Step] = []
    begun = 0
    for step in steps:
        if renamed:
            step.inputs = [renamed.get(value, value) for value in step.inputs]
            for group in groups[begun : step.group + 1]:
                group.inputs[:] = [renamed.get(value, value) for value in group.inputs]
        begun = max(begun, step.group + 1)
        result.append(step)
        for value in step.outputs:
            origin = made.get(value)
            if origin is not None:
                renamed[value] = log.like(value)
                result.append(Step(origin.kind, origin.names[0], 0, [value], [renamed[value]], origin, None))
    return result
