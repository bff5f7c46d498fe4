"""The rows of a graph by column, for checks that run over a million nodes without a loop in Python."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate, chain, compress, count
from operator import attrgetter, ne, or_, sub
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trec.ir.graph import Graph

Fault = tuple[str, int, str] | None
"""Table, row and what is wrong with it, to be read after `table[row]`; None if all is well."""


class Columns:
    """Columns of a graph's tables, made when first asked for."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._columns: dict[tuple[str, str], list[Any]] = {}

    def column(self, table: str, field: str) -> list[Any]:
        """Return one field of every row of a table."""
        key = (table, field)
        found = self._columns.get(key)
        if found is None:
            found = self._columns[key] = list(map(attrgetter(field), getattr(self.graph, table)))
        return found

    def node(self, field: str) -> list[Any]:
        """Return one field of every node."""
        return self.column("nodes", field)

    def scope(self, field: str) -> list[Any]:
        """Return one field of every scope."""
        return self.column("scopes", field)

    @cached_property
    def node_names(self) -> set[str]:
        """The names of all nodes."""
        return set(self.node("name"))

    @cached_property
    def reads(self) -> list[int]:
        """The inputs of all nodes, one after the other."""
        return list(chain.from_iterable(self.node("inputs")))

    @cached_property
    def writes(self) -> list[int]:
        """The outputs of all nodes, one after the other."""
        return list(chain.from_iterable(self.node("outputs")))

    @cached_property
    def in_order(self) -> bool:
        """Whether the nodes produce the values one by one, in order."""
        return self.writes == list(range(len(self.graph.values)))

    @cached_property
    def inside(self) -> list[int]:
        """For each scope, the depth of an operator in it, if the depths of the scopes are right."""
        not_module = list(map(ne, self.scope("kind"), ["module"] * len(self.graph.scopes)))
        not_module[:1] = [False]
        return list(map(sub, map((1).__add__, self.scope("depth")), not_module))

    @cached_property
    def special(self) -> list[int]:
        """Indices of the nodes that are no plain operators: their kind is not `op`, or they stand for a scope."""
        other = map("op".__ne__, self.node("kind"))
        return list(compress(count(), map(or_, other, map((-1).__ne__, self.node("scope")))))


def first(faults: Iterable[object]) -> int | None:
    """Return the position of the first true element; None if there is none."""
    return next(compress(count(), faults), None)


def outside(column: Sequence[int], low: int, high: int) -> int | None:
    """Return the position of the first number that is below `low` or not below `high`; None if there is none."""
    distinct = set(column)
    if not distinct or (min(distinct) >= low and max(distinct) < high):
        return None
    return first([not low <= number < high for number in column])


def foreign(column: Sequence[object], known: frozenset[Any] | set[Any]) -> int | None:
    """Return the position of the first element that is not among the known ones; None if there is none."""
    return None if known.issuperset(column) else first([element not in known for element in column])


def repeated(column: Sequence[object]) -> int | None:
    """Return the position of the first element that equals an earlier one; None if there is none."""
    if len(set(column)) == len(column):
        return None
    seen: set[object] = set()
    for position, element in enumerate(column):
        if element in seen:
            return position
        seen.add(element)
    return None


def owner(rows: Iterable[Sequence[object]], position: int) -> int:
    """Return which row holds the element at that position of all rows put one after the other."""
    return bisect_right(list(accumulate(map(len, rows))), position)
