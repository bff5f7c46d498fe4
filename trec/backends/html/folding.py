"""Which calls of a graph are equal, so that one of them can stand for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def alike(graph: Graph) -> dict[int, int]:
    """Return for each call that `graph.fold()` would leave out the one that stands for it, both as indices of scopes.

    Only calls that are whole iterations are found, not stretches of several calls, nor what repeats inside of these.
    What is in two such calls corresponds in order.
    """
    index_of = {scope.name: index for index, scope in enumerate(graph.scopes)}
    counts = _sizes(graph)
    found: dict[int, int] = {}
    folded = graph.fold().scopes
    in_stretch = bytearray(len(folded) + 1)  # one more for the scope -1
    for index, scope in enumerate(folded):
        first = index_of.get(scope.name)
        in_stretch[index] = in_stretch[scope.parent] or first is None
        if in_stretch[index] or first is None or not scope.repeats or graph.scopes[first].repeats:
            continue
        others = [index_of.get(name, -1) for name in scope.repeats]
        if all(other >= 0 and counts[other] == counts[first] for other in others):
            found.update(dict.fromkeys(others, first))
    return found


def _sizes(graph: Graph) -> list[tuple[int, int]]:
    """Return how many scopes and nodes are in each scope."""
    scopes, nodes = [1] * len(graph.scopes), [0] * len(graph.scopes)
    for node in graph.nodes:
        nodes[node.parent] += 1
    for index in range(len(scopes) - 1, 0, -1):
        parent = graph.scopes[index].parent
        scopes[parent] += scopes[index]
        nodes[parent] += nodes[index]
    return list(zip(scopes, nodes, strict=True))
