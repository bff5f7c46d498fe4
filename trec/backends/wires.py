"""Uses of values to edges between boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from trec.backends import labels
from trec.backends.changes import change_of_uses, shows_diff
from trec.backends.drawing import Box, Cluster, Edge, Stroke
from trec.backends.several_runs import partial_uses
from trec.ir.types import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.backends.boxes import Painter
    from trec.backends.changes import Change
    from trec.backends.plan import Plan
    from trec.ir.graph import Graph
    from trec.ir.types import Node

_PLAIN, _DASHED, CARRIED, _ADDED, _REMOVED = range(5)
_STROKES: dict[str | None, int] = {"added": _ADDED, "removed": _REMOVED}
_STATE = frozenset({"param", "buffer", "constant"})
_LABELLED = _STATE | {"input"}


class _Bundle(Struct, gc=False):
    """All uses between the same two boxes."""

    value: int
    """The first value that is used."""
    others: tuple[int, ...]
    """What is used besides, once for each use."""
    alike: bool
    """Whether all values have one shape."""
    main: bool


def connect(
    graph: Graph,
    plan: Plan,
    painter: Painter,
    boxes: list[Box],
    box_of: list[int],
    clusters: list[Cluster],
    *,
    shapes: Literal["changes", "all", "none"],
    tensors: Literal["edges", "nodes", "none"],
) -> tuple[list[Edge], tuple[Stroke, ...]]:
    """Return the edges, each pair of boxes joined once, and the strokes that they are drawn with.

    With `tensors="nodes"` a box is added for each tensor that an operator or module hands on.
    """
    origin = _origins(graph, box_of)
    bundles = _bundles(graph, box_of, origin)
    changes = change_of_uses(graph, box_of, origin) if shows_diff(graph) else {}
    wires = _Wires(graph, painter, boxes, clusters, origin, changes, partial_uses(graph, box_of, origin))
    wires.leave_room(bundles)
    if tensors == "nodes":
        edges = wires.through_tensors(bundles, _readers(graph, box_of, origin))
    else:
        edges = [wires.edge(source, target, bundle, shapes) for (source, target), bundle in bundles.items()]
    loops: dict[tuple[int, int], str] = {}
    for carried in graph.carried:
        source, target = origin[carried.value], box_of[carried.node]
        if source >= 0 and target >= 0:
            loops.setdefault((source, target), graph.values[carried.value].name)
    edges += [Edge(*pair, "", name, CARRIED, main=False) for pair, name in loops.items()]
    theme = painter.style.theme
    strokes = [Stroke(theme.edge), Stroke(theme.edge, "dashed"), Stroke(theme.carried, "dashed")]
    if shows_diff(graph):
        strokes += [Stroke(theme.changes["added"].border), Stroke(theme.changes["removed"].border, "dashed")]
    return edges, tuple(strokes)


def _origins(graph: Graph, box_of: list[int]) -> list[int]:
    """Return for each value the box that it comes from, seen through hidden nodes; -1 if that is hidden too."""
    origin = [-1] * len(graph.values)
    for index, node in enumerate(graph.nodes):
        box = box_of[index]
        if box < 0 and node.inputs:
            box = origin[node.inputs[0]]
        for value in node.outputs:
            origin[value] = box
    return origin


def _bundles(graph: Graph, box_of: list[int], origin: list[int]) -> dict[tuple[int, int], _Bundle]:
    bundles: dict[tuple[int, int], _Bundle] = {}
    used: set[int] = set()
    producers = graph.producers
    for index, node in enumerate(graph.nodes):
        target = box_of[index]
        if target < 0:
            continue
        for value in _inputs(node):
            source = origin[value]
            if source < 0:
                continue
            bundle = bundles.get((source, target))
            if bundle is None:
                main = value not in used and graph.nodes[producers[value]].kind not in _STATE
                bundles[source, target] = _Bundle(value, (), True, main)
            else:
                bundle.others += (value,)
                bundle.alike = bundle.alike and graph.values[bundle.value].type == graph.values[value].type
            used.add(value)
    return bundles


def _inputs(node: Node) -> Iterable[int]:
    """Return what a node reads; inside a collapsed module a tensor may be read often, but it goes in once."""
    return dict.fromkeys(node.inputs) if node.kind == "module" else node.inputs


def _readers(graph: Graph, box_of: list[int], origin: list[int]) -> dict[int, dict[int, int]]:
    """Return for each value that has a box of origin the boxes that read it, and how many uses each has."""
    readers: dict[int, dict[int, int]] = {}
    for index, node in enumerate(graph.nodes):
        target = box_of[index]
        if target >= 0:
            for value in _inputs(node):
                if origin[value] >= 0:
                    uses = readers.setdefault(value, {})
                    uses[target] = uses.get(target, 0) + 1
    return readers


class _Wires:
    """Make the edges of one drawing."""

    def __init__(
        self,
        graph: Graph,
        painter: Painter,
        boxes: list[Box],
        clusters: list[Cluster],
        origin: list[int],
        changes: dict[tuple[int, int], Change],
        partial: set[tuple[int, int]],
    ) -> None:
        self.graph, self.painter, self.boxes, self.origin = graph, painter, boxes, origin
        self.diff, self.partial = changes, partial
        self.parents = [cluster.parent for cluster in clusters]
        self.depths: list[int] = []
        for parent in self.parents:
            self.depths.append(0 if parent < 0 else self.depths[parent] + 1)
        self.labelled: set[int] = set()
        self._changed: dict[int, bool] = {}
        self.flows: dict[tuple[int, ...], int] = {}
        """Number of each bundle of several values."""
        self._nodes = [graph.nodes[box.node] for box in boxes]
        self.room = [0] * len(boxes)
        self._fed = [False] * len(boxes)
        self._left: dict[tuple[int, int], bool] = {}
        self._notes = [
            f"{labels.shape(type_, type_.dtype) or UNKNOWN}, {type_.dtype}, {type_.device}" for type_ in graph.types
        ]

    def node(self, box: int) -> Node:
        """Return the node that a box is drawn for."""
        return self._nodes[box]

    def edge(self, source: int, target: int, bundle: _Bundle, shapes: str) -> Edge:
        """Return the edge for a bundle of uses."""
        first, last = self.node(source), self.node(target)
        label = self.label(source, target, first, last, bundle, shapes)
        stroke = _DASHED if "host" in (first.kind, last.kind) or (source, target) in self.partial else _PLAIN
        stroke = _STROKES.get(self.diff.get((source, target)), stroke)
        length = 1
        if self.room[target] and self.chain(source) < 0 and self.boxes[source].cluster != self.boxes[target].cluster:
            length = self.room[target] + 1
        flow = -1
        if bundle.others:
            flow = self.flows.setdefault((source, bundle.value, *bundle.others), len(self.flows))
        return Edge(source, target, label, self.note(bundle.value), stroke, bundle.main, length, flow)

    def leave_room(self, bundles: dict[tuple[int, int], _Bundle]) -> None:
        """Find how many ranks of parameters, and of operators on nothing but parameters, stand above each box.

        Where the flow enters a cluster that has some, it is kept apart from them by as many ranks, or else they would
        stand beside the box that it comes from, and push the cluster out of line with it.
        """
        for source, target in bundles:
            chain = self.chain(source)
            if chain < 0:
                self._fed[target] = True
            else:
                self.room[target] = max(self.room[target], chain + 1)

    def chain(self, box: int) -> int:
        """Return how many operators lie between parameters and a box of nothing else; -1 for a box of the flow."""
        if self.node(box).kind in _STATE:
            return 0
        return -1 if self._fed[box] or not self.room[box] else self.room[box]

    def note(self, value: int) -> str:
        """Return what the tooltip of a value says."""
        row = self.graph.values[value]
        return f"{row.name}: {self._notes[row.type]}"

    def label(self, source: int, target: int, first: Node, last: Node, bundle: _Bundle, shapes: str) -> str:
        """Return what is written along an edge."""
        count = f"×{len(bundle.others) + 1}" if bundle.others else ""
        if shapes == "none" or not bundle.alike:
            return count
        if shapes == "changes":
            if first.kind in _LABELLED or last.kind == "output" or bundle.value in self.labelled:
                return count
            if not (self.changes(first, bundle.value) or self.leaves(source, target)):
                return count
            self.labelled.add(bundle.value)
        shape = self.painter.shape(bundle.value)
        return f"{shape} ({count})" if count and shape else shape or count

    def changes(self, node: Node, value: int) -> bool:
        """Tell whether a value has a type that none of its producer's data inputs has."""
        known = self._changed.get(value)
        if known is None:
            values, origin = self.graph.values, self.origin
            type_ = values[value].type
            known = type_ not in [values[given].type for given in node.inputs if origin[given] >= 0]
            self._changed[value] = known
        return known

    def leaves(self, source: int, target: int) -> bool:
        """Tell whether an edge goes out of the cluster that its source is in."""
        pair = (self.boxes[source].cluster, self.boxes[target].cluster)
        if pair[0] < 0 or pair[0] == pair[1]:
            return False
        known = self._left.get(pair)
        if known is None:
            known = self._left[pair] = self.common(*pair) != pair[0]
        return known

    def common(self, one: int, other: int) -> int:
        """Return the innermost cluster around two clusters; -1 if there is none."""
        while one != other:
            if other < 0 or (one >= 0 and self.depths[one] >= self.depths[other]):
                one = self.parents[one]
            else:
                other = self.parents[other]
        return one

    def through_tensors(
        self, bundles: dict[tuple[int, int], _Bundle], readers: dict[int, dict[int, int]]
    ) -> list[Edge]:
        """Return the edges by way of tensor boxes; what is drawn as a tensor already, or returned, gets none."""
        edges: list[Edge] = []
        strokes = {pair: self.edge(*pair, bundle, "none").stroke for pair, bundle in bundles.items()}
        for value, uses in readers.items():
            source = self.origin[value]
            inner = [target for target in uses if self.node(target).kind != "output"]
            middle = source
            if inner and self.node(source).kind not in _LABELLED:
                middle = len(self.boxes)
                cluster = self.boxes[source].cluster
                for target in uses:
                    cluster = self.common(cluster, self.boxes[target].cluster)
                stroke = _DASHED if self.node(source).kind == "host" else _PLAIN
                edges.append(Edge(source, middle, "", self.note(value), stroke, main=True))
            for target, count in uses.items():
                label = f"×{count}" if count > 1 else ""
                edges.append(Edge(middle, target, label, self.note(value), strokes[source, target], main=True))
            if middle != source:
                self.boxes.append(self.painter.tensor(value, cluster))
        return edges
