"""Names of the nodes and scopes of a graph: made of paths and functions, unique, and the same in every run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.operators import operator_name
from trec.capture.torch_api import HigherOrderOperator, OpOverload
from trec.ir.builder import unique
from trec.ir.tables import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.capture.emit.program import Program
    from trec.capture.log import Call, Log, ScopeRecord

NAMED = frozenset({"input", "output", "param", "buffer", "constant"})
"""Kinds of steps that are named for what they are, not for what they do."""

LINKS = {"write": "update"}
"""How links are called in the graph, where the log tells them apart."""


class Names:
    """The names of everything in a program."""

    def __init__(self, log: Log, program: Program, root: str) -> None:
        """Name everything.

        Args:
            log: the scopes.
            program: the steps and the function calls.
            root: name of the graph, and so of its root.
        """
        self._log, self._program, self._root = log, program, root
        self.scopes = [""] * len(log.scopes)
        """For each scope of the log, its name."""
        self.steps: list[str] = []
        """For each step, the name of its node."""
        self.groups: list[str] = []
        """For each function call that becomes a scope, its name."""
        self._known: dict[int, str] = {}
        self._taken: dict[str, int] = {}
        self._leaves = {call.leaf for call in _gradients(program)}
        self._makers: dict[int, str] = {}
        """Names of the steps that make the leaves whose gradients are added up, by value."""
        self._name_all()

    def _name_all(self) -> None:
        """Name module calls, then steps and function calls in program order, then operators inside function calls.

        So a function call has the same name whether it becomes a node or a scope. Scopes of later phases are named with
        the first step in them, so that nothing of a forward pass has another name because of what follows it.
        """
        for scope, record in enumerate(self._log.scopes):
            if record.phase == "forward":
                self._name_scope(scope)
        self._name_steps()
        for scope, name in enumerate(self.scopes):
            if not name:
                self._name_scope(scope)
        for position, step in enumerate(self._program.steps):
            if step.group >= 0:
                self.steps[position] = unique(f"{self.groups[step.group]}.{self.op(step.what)}", self._taken)

    def _name_steps(self) -> None:
        around = ["", *[f"{name}." for name in self.scopes[1:]]]
        names, groups, taken = self.steps, self.groups, self._taken
        for step in self._program.steps:
            if not self.scopes[step.scope]:
                around[step.scope] = f"{self._name_scope(step.scope)}."
            if step.group < 0:
                if step.call is not None and step.call.leaf >= 0:
                    name = self._gradient_name(step.call)
                elif step.kind in NAMED and step.what != "constant":
                    name = clean(step.what)
                else:
                    name = around[step.scope] + self.op(step.what)
                names.append(unique(name, taken) if name in taken else name)
                taken.setdefault(name, 0)
            else:
                if step.group == len(groups):
                    call = self._program.groups[step.group].call
                    name = self._gradient_name(call) if call.leaf >= 0 else around[step.scope] + self.op(call.function)
                    groups.append(unique(name, taken))
                names.append("")
            if self._leaves:
                self._makers.update(dict.fromkeys(self._leaves.intersection(step.outputs), names[-1] or groups[-1]))

    def _name_scope(self, scope: int) -> str:
        """Name a call, and before it the one whose backward it holds."""
        record = self._log.scopes[scope]
        name = self.scopes[scope]
        if not name:
            if record.mirrors >= 0:
                name = f"{self._name_scope(record.mirrors)}.backward"
            else:
                name = clean(_call_name(record, self._root))
            name = self.scopes[scope] = unique(name, self._taken)
        return name

    def _gradient_name(self, call: Call) -> str:
        """Return the name of what adds up the gradient of a leaf: that of the leaf, with `.grad`."""
        leaf = self._makers.get(call.leaf, "") if call.origin is None else clean(call.origin.names[0])
        return f"{leaf}.grad" if leaf else "grad"

    def op(self, what: Any) -> str:
        """Return what a function, an operator or a link is called in the graph."""
        name = self._known.get(id(what))  # operators take long to hash
        if name is None:
            name = LINKS.get(what, what) if type(what) is str else function_name(what)
            self._known[id(what)] = name = clean(name)
        return name


def _gradients(program: Program) -> Iterator[Call]:
    """Yield the calls that add up gradients."""
    yield from (step.call for step in program.steps if step.call is not None and step.call.leaf >= 0)
    yield from (group.call for group in program.groups if group.call.leaf >= 0)


def _call_name(record: ScopeRecord, root: str) -> str:
    """Return path and number of a call; the model itself goes by its class where it is not the root."""
    if record.phase != "forward" and record.kind == "region":
        name = f"{record.path}.{record.cls}" if record.path else record.cls
        return f"{name}#{record.call + 1}" if record.call else name
    name = root if record.parent < 0 else record.path or record.cls
    return f"{name}#{record.call + 1}" if record.call or (record.parent >= 0 and not record.path) else name


def function_name(function: Any) -> str:
    """Return the short name of a torch function, the attribute's name for an accessor, the full one of an operator."""
    if isinstance(function, (OpOverload, HigherOrderOperator)):
        return operator_name(function)
    name = getattr(function, "__name__", None) or type(function).__name__
    if name in ("__get__", "__set__", "__delete__"):
        return str(getattr(getattr(function, "__self__", None), "__name__", name))
    return str(name)
