"""Tensors as boxes of their own, between what makes them and what reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends.arrows import DASHED, PLAIN
from trec.backends.bundles import Bundles, inputs
from trec.backends.drawing import Boxes
from trec.backends.edge_words import SAID

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trec.backends.arrows import Arrows
    from trec.backends.boxes import Painter
    from trec.backends.nesting import Nesting
    from trec.ir.graph import Graph

Readers = dict[int, dict[int, int]]
"""For each value the boxes that read it, and how many uses each has."""


def through_tensors(
    painter: Painter,
    boxes: Boxes,
    nesting: Nesting,
    origin: Sequence[int],
    readers: Readers,
    strokes: Mapping[tuple[int, int], int],
    arrows: Arrows,
) -> tuple[Boxes, Bundles]:
    """Return the boxes with those of tensors, and the edges; what is drawn as a tensor already, or returned, gets none.

    Args:
        painter: what makes boxes.
        boxes: those of nodes.
        nesting: the clusters.
        origin: for each value the box that it comes from.
        readers: what reads each value.
        strokes: those that are not plain, by pairs of boxes of nodes.
        arrows: what edges look like.
    """
    kinds = [painter.graph.nodes[node].kind for node in boxes.nodes]
    found = Bundles(list(origin), [], [], [], [], {}, [], [])
    faces, names, clusters = list(boxes.face), list(boxes.names), list(boxes.clusters)
    for value, uses in readers.items():
        source = middle = origin[value]
        if kinds[source] not in SAID and any(kinds[target] != "output" for target in uses):
            middle = len(faces)
            cluster = clusters[source]
            for target in uses:
                cluster = nesting.common(cluster, clusters[target])
            name, face = painter.faces.tensor(value)
            names.append(name)
            faces.append(face)
            clusters.append(cluster)
            found.add(source, middle, value, arrows.of(value, "", DASHED if kinds[source] == "host" else PLAIN))
        for target, count in uses.items():
            label = f"×{count}" if count > 1 else ""
            found.add(middle, target, value, arrows.of(value, label, strokes.get((source, target), PLAIN)))
    nodes = [*boxes.nodes, *[-1] * (len(faces) - len(boxes))]
    return Boxes(tuple(painter.faces), faces, names, clusters, nodes), found


def readers_of(graph: Graph, box_of: Sequence[int], origin: Sequence[int]) -> Readers:
    """Return what reads each value that has a box of origin."""
    readers: Readers = {}
    for target, node in zip(box_of, graph.nodes, strict=True):
        if target >= 0:
            for value in inputs(node):
                if origin[value] >= 0:
                    uses = readers.setdefault(value, {})
                    uses[target] = uses.get(target, 0) + 1
    return readers
