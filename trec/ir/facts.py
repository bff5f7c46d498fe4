"""What several checks want to know about a graph, found out once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from trec.ir.collectives import is_rank

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope

Fault = tuple[str, int, str] | None
"""Table, row and what is wrong with it, to be read after `table[row]`; None if all is well."""

Place = Literal["top", "module", "other"]
"""What a scope is to the nodes in it: the root or the part of a rank, a module or a loop, or anything else."""

Form = tuple[str | int | bool, ...]
"""Kind, op, numbers of inputs and outputs and place of a node, and of which kind and where the scope is it stands for.
"""


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
    def places(self) -> list[Place]:
        """For each scope, what may lie in it."""
        scopes = self.graph.scopes
        found: list[Place] = ["module" if scope.kind == "module" or scope.repeats else "other" for scope in scopes]
        for index in (index for index, scope in enumerate(scopes) if scope.kind == "region"):
            if is_rank(self.graph, index):
                found[index] = "top"
        return ["top", *found[1:]]

    @cached_property
    def special(self) -> dict[Form, Node]:
        """The nodes that are no plain operators, of each form the first, in program order.

        Special is what is of another kind or stands for a scope. The first that is wrong is among these.
        """
        found: dict[Form, Node] = {}
        for node in self.graph.nodes:
            if node.kind != "op" or node.scope >= 0:
                found.setdefault(form(node, self.graph.scopes, self.places), node)
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


def depth(node: Node, scopes: Sequence[Scope], inside: Sequence[int]) -> int:
    """Return the depth that a node should have; `inside` is that of an operator in each scope."""
    return inside[node.parent] if node.scope < 0 else scopes[node.scope].depth


def form(node: Node, scopes: Sequence[Scope], places: Sequence[Place]) -> Form:
    """Return what the checks of special nodes go by: those of one form are right or wrong together."""
    alike = node.kind, node.op, len(node.inputs), len(node.outputs), places[node.parent]
    if node.scope < 0:
        return alike
    scope = scopes[node.scope]
    return *alike, scope.kind, node.scope == 0, node.parent == max(scope.parent, 0)


def position(nodes: Iterable[Node], node: Node) -> int:
    """Return the index of a node among all nodes."""
    return next(index for index, other in enumerate(nodes) if other is node)


def repeated(rows: Iterable[Hashable]) -> int | None:
    """Return the position of the first row that is there a second time; None if there is none."""
    seen: set[Hashable] = set()
    for position, row in enumerate(rows):
        if row in seen:
            return position
        seen.add(row)
    return None
