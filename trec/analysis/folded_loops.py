"""Loops of which one iteration stands for all, and who can tell which of them it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trec.ir.graph import Graph


class FoldedLoops:
    """The scopes of a graph that stand for several iterations, and what lies in them."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._around: list[int] = []
        """For each scope the innermost loop that it is or lies in; -1 if there is none."""
        for index, scope in enumerate(graph.scopes):
            self._around.append(index if scope.repeats else self._around[scope.parent] if index else -1)

    def hide(self, node: int, scope: int) -> bool:
        """Return whether nothing tells which iteration of a node is meant where it is read in a scope.

        It is so where a loop holds the node and not the scope.
        """
        row = self.graph.nodes[node]
        loop = self._around[row.parent if row.scope < 0 else row.scope]
        around = self._around[scope] if loop >= 0 else loop
        while around > loop:
            around = self._around[self.graph.scopes[around].parent]
        return around != loop
