"""Which steps and calls one statement of the source code made, as far as lines tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.below import common
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from trec.ir.graph import Graph

_Item = tuple[int, str, int]
"""Something that one module did itself: the line, the operator or class, and the last node that ran in it."""


class Statements:
    """The statements that ran in each module.

    Steps and calls that follow one another in one module, from the same line, are taken for one statement. A line that
    does the same twice, or is all that there is, may as well be a loop; there each is a statement of its own.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        items: list[list[_Item]] = [[] for _ in graph.scopes]
        self._of_node = [-1] * len(graph.nodes)
        """For each node, its position among what the module around it did."""
        self._of_scope = [-1] * len(graph.scopes)
        """The same for each call."""
        for index, node in enumerate(graph.nodes):
            if node.kind in SOURCE_KINDS or node.kind == "output":
                continue
            if node.kind != "link":  # which is not of the source code, while the call around it is
                self._of_node[index] = len(items[node.parent])
                items[node.parent].append((node.source, node.op, index))
            scope = node.parent
            while scope > 0:
                row = graph.scopes[scope]
                at, around = self._of_scope[scope], items[row.parent]
                if at < 0 or at < len(around) - 1:
                    at = self._of_scope[scope] = len(around)
                    around.append((row.source, row.cls, index))
                around[at] = (row.source, row.cls, index)
                scope = row.parent
        self._statements = [list(_statements(held)) for held in items]

    def end(self, maker: int, reader: int) -> int:
        """Return the last node of the statement that reads a value, if another one of the same module made it; else -1.

        Until then a local variable holds the value, whatever becomes of it later.
        """
        nodes = self.graph.nodes
        around = common(self.graph, nodes[maker].parent, nodes[reader].parent)
        if self.graph.scopes[around].kind == "function":
            return -1
        made, read = (self._end(index, around) for index in (maker, reader))
        return -1 if made == read else read

    def _end(self, index: int, around: int) -> int:
        """Return the last node of the statement of a module that a node ran in; -1 if there is none."""
        scope, at = self.graph.nodes[index].parent, self._of_node[index]
        while scope != around:
            at, scope = self._of_scope[scope], self.graph.scopes[scope].parent
        return self._statements[around][at] if at >= 0 else -1


def _statements(items: list[_Item]) -> list[int]:
    """Return for each item the last node of its statement."""
    ends: list[int] = []
    start = 0
    for at in range(1, len(items) + 1):
        if at < len(items) and items[at][0] == items[start][0] >= 0:
            continue
        run = items[start:at]
        is_one = len({what for _, what, _ in run}) == len(run) < len(items)
        ends += [run[-1][2]] * len(run) if is_one else [end for _, _, end in run]
        start = at
    return ends
