"""Where steps lie that belong to no call of their own: what brings tensors in, and what adds up gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.capture.emit.program import Group, Step
    from trec.capture.log import Call, Log

SOURCES = frozenset({"param", "buffer", "constant"})


class _Scopes:
    """The scopes of a log, and which of them are nested in which."""

    def __init__(self, log: Log) -> None:
        self.parents = [record.parent for record in log.scopes]
        self.depths = [0] * len(self.parents)
        for scope, parent in enumerate(self.parents):
            if scope:
                self.depths[scope] = self.depths[parent] + 1

    def common(self, first: int, second: int) -> int:
        """Return the innermost scope around two scopes; the other one if one of them is -1."""
        if first < 0 or second < 0:
            return max(first, second)
        parents, depths = self.parents, self.depths
        while first != second:
            if depths[first] >= depths[second]:
                first = parents[first]
            else:
                second = parents[second]
        return first


def place_sources(steps: list[Step], log: Log) -> None:
    """Hold each parameter, buffer and constant where all its readers are: their lowest common module.

    What reads it in another phase than forward counts only if nothing else does.
    """
    scopes = _Scopes(log)
    forward = [record.phase == "forward" for record in log.scopes]
    sources = {step.outputs[0]: step for step in steps if step.kind in SOURCES and step.group < 0}
    for step in sources.values():
        step.scope = -1
    later: list[tuple[Step, int]] = []
    for step in steps:
        scope = step.scope
        for value in step.inputs:
            source = sources.get(value)
            if source is not None and source.scope != scope:
                if forward[scope]:
                    source.scope = scope if source.scope < 0 else scopes.common(source.scope, scope)
                else:
                    later.append((source, scope))
    unread = {id(source) for source, _ in later if source.scope < 0}
    for source, scope in later:
        if id(source) in unread:
            source.scope = scopes.common(source.scope, scope)
    for step in sources.values():
        step.scope = max(step.scope, 0)


def place_gradients(steps: list[Step], groups: list[Group], log: Log) -> None:
    """Hold what adds up a gradient in the mirror of the scope in which all forward readers of the leaf are."""
    scopes = _Scopes(log)
    calls = [step.call for step in steps if step.call is not None and step.call.leaf >= 0]
    calls += [group.call for group in groups if group.call.leaf >= 0]
    readers = _forward_readers(steps, {call.leaf for call in calls}, log)
    passes = [-1] * len(log.scopes)
    mirrors: dict[tuple[int, int], int] = {}
    for scope, record in enumerate(log.scopes):
        if record.autograd:
            passes[scope] = scope if record.mirrors < 0 else passes[record.parent]
            mirrors[passes[scope], max(record.mirrors, 0)] = scope
    for call in calls:
        region, around = passes[call.scope], -1
        for scope in readers.get(call.leaf, ()):
            if (region, scope) in mirrors:  # the others are differentiated in other passes
                around = scopes.common(around, scope)
        call.scope = mirrors.get((region, around), call.scope)
    _move(steps, groups, calls)


def _forward_readers(steps: list[Step], leaves: set[int], log: Log) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for step in steps:
        if log.scopes[step.scope].phase == "forward":
            for value in leaves.intersection(step.inputs):
                found.setdefault(value, []).append(step.scope)
    return found


def _move(steps: list[Step], groups: list[Group], calls: Iterable[Call]) -> None:
    """Let steps lie where their calls do."""
    moved = {id(call): call.scope for call in calls}
    for step in steps:
        call = step.call if step.group < 0 else groups[step.group].call
        if call is not None and id(call) in moved:
            step.scope = call.scope
