"""The steps of a program that is read, not run, and how they become the rows of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.ir.types import SOURCE_KINDS, AttrRow, NodeKind, Source

if TYPE_CHECKING:
    from trec.ir.builder import GraphBuilder
    from trec.ir.graph import Graph

PLACED_BY_USE = SOURCE_KINDS - {"input"}


class Step(Struct, gc=False):
    """One node to be."""

    kind: NodeKind
    op: str
    scope: int
    """Index of the scope that holds it, in the builder."""
    inputs: Sequence[int]
    """Numbers of values in the order in which they were first thought of, not of the graph."""
    outputs: Sequence[int]
    attrs: AttrRow = ()
    source: Source | None = None
    name: str = ""
    stands_for: int = -1
    """Index of the scope of a call that is one node; -1 for any other step."""
    spare: Sequence[int] = ()
    """Those of the outputs that are left out if nothing reads them."""


class Steps:
    """Steps in the order of execution, and the type of each value."""

    def __init__(self, builder: GraphBuilder) -> None:
        self.builder = builder
        self.rows: list[Step] = []
        self.types: list[int] = []
        self._followers: dict[int, list[Step]] = {}

    def value(self, type_: int) -> int:
        """Return a new value of a type of the builder."""
        self.types.append(type_)
        return len(self.types) - 1

    def follow(self, value: int, step: Step) -> None:
        """Put a step right behind the one that makes a value, and in its scope, so that it splits no call."""
        self._followers.setdefault(value, []).append(step)

    def build(self) -> Graph:
        """Return the graph: parameters, buffers and constants before their first reader, those unread left out."""
        builder = self.builder
        rows = self._ordered()
        self._place(rows)
        read = {value for step in rows for value in step.inputs}
        numbers: dict[int, int] = {}
        for step in rows:
            if step.spare:
                step.outputs = [value for value in step.outputs if value in read or value not in step.spare]
            made = builder.node(
                step.kind,
                step.op,
                parent=step.scope,
                name=step.name,
                inputs=[numbers[value] for value in step.inputs],
                results=[self.types[value] for value in step.outputs],
                attrs=step.attrs,
                source=step.source,
                scope=step.stands_for,
            )
            numbers.update(zip(step.outputs, made, strict=True))
        return builder.build()

    def _ordered(self) -> list[Step]:
        waiting = {step.outputs[0]: step for step in self.rows if step.kind in PLACED_BY_USE}
        ordered: list[Step] = []
        for step in self.rows:
            if step.kind in PLACED_BY_USE:
                continue
            ordered.extend([waiting.pop(value) for value in dict.fromkeys(step.inputs) if value in waiting])
            ordered.append(step)
            for value in step.outputs if self._followers else ():
                for follower in self._followers.pop(value, ()):
                    follower.scope = step.scope if step.kind not in SOURCE_KINDS else 0
                    ordered.append(follower)
        return ordered

    def _place(self, rows: list[Step]) -> None:
        """Hold each parameter, buffer and constant where all its readers are: their lowest common module."""
        sources = {step.outputs[0]: step for step in rows if step.kind in PLACED_BY_USE}
        for step in sources.values():
            step.scope = -1
        for step in rows:
            for value in step.inputs:
                source = sources.get(value)
                if source is not None:
                    source.scope = step.scope if source.scope < 0 else self._common(source.scope, step.scope)
        for step in sources.values():
            while self.builder.scopes[step.scope].kind == "function":
                step.scope = self.builder.scopes[step.scope].parent

    def _common(self, first: int, second: int) -> int:
        scopes = self.builder.scopes
        while first != second:  # a scope has a higher index than the one around it
            if first > second:
                first = scopes[first].parent
            else:
                second = scopes[second].parent
        return first
