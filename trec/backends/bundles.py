"""What flows between boxes: all uses of values between the same two boxes are one edge."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from trec.backends.drawing import Boxes
    from trec.backends.nesting import Nesting
    from trec.ir.graph import Graph
    from trec.ir.types import Node


class Bundles(Struct, frozen=True):
    """The edges of a drawing in order of their first uses, as columns."""

    origin: list[int]
    """For each value the box that it comes from, seen through hidden nodes; -1 if that is hidden too."""
    sources: list[int]
    """For each edge, the box that it comes from."""
    targets: list[int]
    """For each edge, the box that it goes to."""
    values: list[int]
    """For each edge, the first value that is used."""
    arrows: list[int]
    """For each edge, the arrow that it is drawn as."""
    others: dict[int, list[int]]
    """What is used besides, once for each use, of the edges where there is more than one use."""
    news: list[int]
    """The edges that leave a cluster, or along which something flows whose type nothing has that it was made of."""

    def add(self, source: int, target: int, value: int, arrow: int) -> None:
        """Add an edge."""
        self.sources.append(source)
        self.targets.append(target)
        self.values.append(value)
        self.arrows.append(arrow)


def bundles(
    graph: Graph,
    boxes: Boxes,
    box_of: Sequence[int],
    shared: Collection[int],
    nesting: Nesting,
    types: Sequence[int],
    uses: tuple[list[int], list[int]],
) -> Bundles:
    """Return the edges of a graph.

    Args:
        graph: what is drawn.
        boxes: what edges join.
        box_of: for each node the index of its box, -1 if it is hidden.
        shared: boxes that several nodes are drawn in.
        nesting: the clusters.
        types: for each value, the index of its type.
        uses: for each value, the arrow of its first use, which is overwritten, and that of all others.
    """
    origin = _origins(graph, box_of)
    found = Bundles(origin, [], [], [], [], {}, [])
    sources, targets, values, arrows = found.sources, found.targets, found.values, found.arrows
    is_new, clusters, leaves = _new(graph, boxes, origin, types), boxes.clusters, nesting.leaves
    next_use, later_use = uses
    reads = [node.inputs for node in graph.nodes]
    for index in graph.of_kind.get("module", ()):
        reads[index] = tuple(inputs(graph.nodes[index]))
    latest = [-1] * len(graph.nodes)
    """For each box, the last edge that comes from it."""
    of_shared: dict[int, defaultdict[int, int]] = {box: defaultdict(lambda: -1) for box in shared}
    count = 0
    for target, read in zip(box_of, reads, strict=True):
        if target < 0:
            continue
        # An edge from the same box is one to the same box if it is no older than the first one to that box.
        known, first = (of_shared[target], 0) if target in of_shared else (latest, count)
        cluster = clusters[target]
        for value in read:
            source = origin[value]
            if source < 0:
                continue
            if known[source] >= first:
                found.others.setdefault(known[source], []).append(value)
            else:
                known[source] = count
                if is_new[value] or (clusters[source] != cluster and leaves(clusters[source], cluster)):
                    found.news.append(count)
                count += 1
                sources.append(source)
                targets.append(target)
                values.append(value)
                arrows.append(next_use[value])
            next_use[value] = later_use[value]
    return found


def _origins(graph: Graph, box_of: Sequence[int]) -> list[int]:
    origin = [-1] * len(graph.values)
    for box, node in zip(box_of, graph.nodes, strict=True):
        if box < 0 and node.inputs:
            box = origin[node.inputs[0]]
        for value in node.outputs:
            origin[value] = box
    return origin


def _new(graph: Graph, boxes: Boxes, origin: Sequence[int], types: Sequence[int]) -> bytearray:
    """Return for each value whether it has a type that none of the data inputs of its box has."""
    found = bytearray(len(types))
    reads = [graph.nodes[node].inputs for node in boxes.nodes]
    for value, (box, type_) in enumerate(zip(origin, types, strict=True)):
        if box >= 0:
            for given in reads[box]:
                if types[given] == type_ and origin[given] >= 0:
                    break
            else:
                found[value] = 1
    return found


def inputs(node: Node) -> Iterable[int]:
    """Return what a node reads; inside a collapsed module a tensor may be read often, but it goes in once."""
    return dict.fromkeys(node.inputs) if node.kind == "module" else node.inputs
