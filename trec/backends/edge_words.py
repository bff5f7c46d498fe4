"""What is written along edges: the shape of what flows where it is new, and how many uses an edge stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trec.backends.bundles import Bundles
    from trec.backends.drawing import Boxes
    from trec.backends.nesting import Nesting
    from trec.backends.options import Shapes
    from trec.ir.graph import Graph

SAID = frozenset({"param", "buffer", "constant", "input"})
"""Kinds of nodes whose boxes say the shape already."""


def edge_words(
    graph: Graph, bundles: Bundles, boxes: Boxes, nesting: Nesting, words: Sequence[str], which: Shapes
) -> dict[int, str]:
    """Return what is written along each edge that has words.

    Args:
        graph: what is drawn.
        bundles: the edges.
        boxes: what they join.
        nesting: the clusters.
        words: the shape of each tensor type as it is written.
        which: shapes that are written: those that change or leave a module, all or none.
    """
    types = [value.type for value in graph.values]
    counts = {edge: f"×{len(others) + 1}" for edge, others in bundles.others.items()}
    mixed = {
        edge
        for edge, others in bundles.others.items()
        if any(types[value] != types[bundles.values[edge]] for value in others)
    }
    if which == "none":
        return counts
    told: Iterable[int] = range(len(bundles.values))
    if which == "changes":
        told = _news(graph, bundles, boxes, nesting, types, mixed)
    found = counts.copy()
    for edge in told:
        if edge not in mixed:
            shape, count = words[types[bundles.values[edge]]], counts.get(edge, "")
            found[edge] = f"{shape} ({count})" if count and shape else shape or count
    return found


def _news(
    graph: Graph, bundles: Bundles, boxes: Boxes, nesting: Nesting, types: Sequence[int], mixed: set[int]
) -> Iterator[int]:
    """Yield the edges along which a shape is told: of each value the first where it is new, or leaves a cluster."""
    nodes, clusters = graph.nodes, boxes.clusters
    quiet = [nodes[node].kind in SAID for node in boxes.nodes]
    told = [box >= 0 and quiet[box] for box in bundles.origin]
    new = _new(graph, boxes, bundles.origin, types)
    ends = zip(bundles.values, bundles.sources, bundles.targets, strict=True)
    for edge, (value, source, target) in enumerate(ends):
        if told[value] or not (new[value] or clusters[source] != clusters[target]):
            continue
        if nodes[boxes.nodes[target]].kind == "output" or edge in mixed:
            continue
        if new[value] or nesting.leaves(clusters[source], clusters[target]):
            told[value] = True
            yield edge


def _new(graph: Graph, boxes: Boxes, origin: Sequence[int], types: Sequence[int]) -> list[bool]:
    """Return for each value whether it has a type that none of the data inputs of its box has."""
    nodes, found = graph.nodes, [True] * len(types)
    for value, box in enumerate(origin):
        if box >= 0:
            type_ = types[value]
            for given in nodes[boxes.nodes[box]].inputs:
                if types[given] == type_ and origin[given] >= 0:
                    found[value] = False
                    break
    return found
