"""What flows between boxes: all uses of values between the same two boxes are one edge."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from trec.backends.drawing import Boxes
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
    is_new: list[bool]
    """For each value, whether no data input of the box that it comes from has its type."""
    notable: list[int]
    """The edges that join boxes of different clusters, or along which something new flows."""

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
    types: Sequence[int],
    uses: tuple[list[int], list[int]],
) -> Bundles:
    """Return the edges of a graph.

    Args:
        graph: what is drawn.
        boxes: what edges join.
        box_of: for each node the index of its box, -1 if it is hidden.
        shared: boxes that several nodes are drawn in.
        types: for each value, the index of its type.
        uses: for each value, the arrow of its first use, which is overwritten, and that of all others.
    """
    origin, is_new = _origins(graph, boxes, box_of, types)
    found = Bundles(origin, [], [], [], [], {}, is_new, [])
    sources, targets, values, arrows = found.sources, found.targets, found.values, found.arrows
    clusters, (next_use, later_use) = boxes.clusters, uses
    latest = [-1] * len(graph.nodes)
    """For each box, the last edge that comes from it."""
    of_shared: dict[int, defaultdict[int, int]] = {box: defaultdict(lambda: -1) for box in shared}
    count = 0
    for target, node in zip(box_of, graph.nodes, strict=True):
        if target < 0:
            continue
        # An edge from the same box is one to the same box if it is no older than the first one to that box.
        known, first = (of_shared[target], 0) if target in of_shared else (latest, count)
        cluster = clusters[target]
        for value in node.inputs if node.kind != "module" else inputs(node):
            source = origin[value]
            if source < 0:
                continue
            if known[source] >= first:
                found.others.setdefault(known[source], []).append(value)
            else:
                known[source] = count
                if clusters[source] != cluster or is_new[value]:
                    found.notable.append(count)
                count += 1
                sources.append(source)
                targets.append(target)
                values.append(value)
                arrows.append(next_use[value])
            next_use[value] = later_use[value]
    return found


def _origins(graph: Graph, boxes: Boxes, box_of: Sequence[int], types: Sequence[int]) -> tuple[list[int], list[bool]]:
    """Return for each value the box that it comes from, and whether no data input of that box has its type."""
    origin, is_new = [-1] * len(types), [False] * len(types)
    for box, node in zip(box_of, graph.nodes, strict=True):
        read = node.inputs
        if box < 0 and read:
            box = origin[read[0]]
            read = graph.nodes[boxes.nodes[box]].inputs if box >= 0 else ()
        for value in node.outputs:
            origin[value], type_ = box, types[value]
            for given in read:
                if types[given] == type_ and origin[given] >= 0:
                    break
            else:
                is_new[value] = True
    return origin, is_new


def inputs(node: Node) -> Iterable[int]:
    """Return what a node reads; inside a collapsed module a tensor may be read often, but it goes in once."""
    return dict.fromkeys(node.inputs) if node.kind == "module" else node.inputs
