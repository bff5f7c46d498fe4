"""What a diff says of calls that become single nodes, and of the arrows into them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.diff_graph import CHANGE, INSIDE, READ_BEFORE, READ_NOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, Node

_BY_CHANGE = {"added": READ_NOW, "removed": READ_BEFORE}


def shows_changes(graph: Graph) -> bool:
    """Return whether a graph is the union of two."""
    return any(name == CHANGE for name, _ in graph.meta)


def with_marks(
    graph: Graph, made: Iterable[Node], members: Mapping[str, Sequence[int]], attrs: list[AttrRow]
) -> list[Node]:
    """Return collapsed calls that tell whether anything in them changed, and what they read only now or only before.

    An input is so marked where all that is inside reads it in the same one of the two graphs.

    Args:
        graph: the union that is collapsed.
        made: the nodes that stand for calls.
        members: by the name of each of these, the nodes inside it.
        attrs: rows of attributes, to which new ones are appended.
    """
    changed = {index for index, row in enumerate(graph.attrs) if CHANGE in dict(row)}
    around = _around(graph, changed)
    marked = []
    for node in made:
        said: dict[int, set[str]] = {}
        for index in members[node.name]:
            for value, mark in zip(graph.nodes[index].inputs, _reads(graph, graph.nodes[index]), strict=True):
                said.setdefault(value, set()).add(mark)
        row = list(attrs[node.attrs])
        for mark in (READ_NOW, READ_BEFORE):
            ports = tuple([port for port, value in enumerate(node.inputs) if said.get(value) == {mark}])
            row += [(mark, ports)] if ports else []
        if graph.scopes[node.scope].attrs not in changed and (
            node.scope in around or any(graph.nodes[index].attrs in changed for index in members[node.name])
        ):
            row.append((CHANGE, INSIDE))
        if len(row) > len(attrs[node.attrs]):
            attrs.append(tuple(row))
            node = replace(node, attrs=len(attrs) - 1)
        marked.append(node)
    return marked


def _around(graph: Graph, rows: set[int]) -> set[int]:
    """Return the scopes in which another has one of some rows of attributes, whether anything ran in that or not."""
    found = set[int]()
    for index in range(len(graph.scopes) - 1, 0, -1):
        if index in found or graph.scopes[index].attrs in rows:
            found.add(graph.scopes[index].parent)
    return found


def _reads(graph: Graph, node: Node) -> list[str]:
    """Return for each input of a node in which of the two graphs alone it is read; empty where in both."""
    facts = dict(graph.attrs[node.attrs])
    marks = [_BY_CHANGE.get(str(facts.get(CHANGE)), "")] * len(node.inputs)
    for name in (READ_NOW, READ_BEFORE):
        ports = facts.get(name)
        for port in ports if isinstance(ports, tuple) else ():
            if isinstance(port, int) and 0 <= port < len(marks):
                marks[port] = name
    return marks
