"""What several checks want to know about a graph, found out once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from trec.ir.graph import Graph
    from trec.ir.types import Node

Fault = tuple[str, int, str] | None
"""Table, row and what is wrong with it, to be read after `table[row]`; None if all is well."""


class Facts:
    """A graph, and what its checks have in common."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    @cached_property
    def names(self) -> set[str]:
        """The names of all nodes."""
        return {node.name for node in self.graph.nodes}

    @cached_property
    def inside(self) -> list[int]:
        """For each scope, the depth of an operator in it, if the depths of the scopes are right."""
        return [
            scope.depth + 1 if scope.kind == "module" or scope.parent < 0 else scope.depth
            for scope in self.graph.scopes
        ]

    @cached_property
    def special(self) -> list[tuple[int, Node]]:
        """The nodes, each after its index, that are no plain operators: of another kind, or standing for a scope."""
        found = []
        for index, node in enumerate(self.graph.nodes):
            if node.kind != "op" or node.scope >= 0:
                found.append((index, node))
        return found

    @cached_property
    def production(self) -> tuple[int | None, int]:
        """The first node that produces another value than the next one, if any, and how many came before."""
        following, count = 0, len(self.graph.values)
        for index, node in enumerate(self.graph.nodes):
            for value in node.outputs:
                if value != following or following == count:
                    return index, following
                following += 1
        return None, following


def repeated(rows: Iterable[Hashable]) -> int | None:
    """Return the position of the first row that is there a second time; None if there is none."""
    seen: set[Hashable] = set()
    for position, row in enumerate(rows):
        if row in seen:
            return position
        seen.add(row)
    return None
