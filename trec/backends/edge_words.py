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
    from trec.ir.types import NodeKind

SAID: tuple[NodeKind, ...] = ("param", "buffer", "constant", "input")
"""Kinds of nodes whose boxes say the shape already."""


def edge_words(
    graph: Graph,
    bundles: Bundles,
    boxes: Boxes,
    nesting: Nesting,
    types: Sequence[int],
    words: Sequence[str],
    which: Shapes,
) -> dict[int, str]:
    """Return what is written along each edge that has words.

    Args:
        graph: what is drawn.
        bundles: the edges.
        boxes: what they join.
        nesting: the clusters.
        types: for each value, the index of its type.
        words: the shape of each tensor type as it is written.
        which: shapes that are written: those that change or leave a module, all or none.
    """
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
        told = _news(graph, bundles, boxes, nesting, mixed)
    found = counts.copy()
    for edge in told:
        if edge not in mixed:
            shape, count = words[types[bundles.values[edge]]], counts.get(edge, "")
            found[edge] = f"{shape} ({count})" if count and shape else shape or count
    return found


def _news(graph: Graph, bundles: Bundles, boxes: Boxes, nesting: Nesting, mixed: set[int]) -> Iterator[int]:
    """Yield the edges along which a shape is told: of each value the first where it is new, or leaves a cluster."""
    nodes, clusters = graph.nodes, boxes.clusters
    told: set[int] = set()
    for edge in bundles.notable:
        value, source, target = bundles.values[edge], bundles.sources[edge], bundles.targets[edge]
        if value in told or edge in mixed:
            continue
        if nodes[boxes.nodes[source]].kind in SAID or nodes[boxes.nodes[target]].kind == "output":
            continue
        if bundles.is_new[value] or nesting.leaves(clusters[source], clusters[target]):
            told.add(value)
            yield edge
