"""One scope laid out: where its members stand and what way the nets between them take.

Everything here runs downwards; `trec.layout.arrange` turns the outcome for other directions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.layout.alignment import align
from trec.layout.columns import Gap, in_columns
from trec.layout.diagram import Point
from trec.layout.ordering import order
from trec.layout.placement import Joint, place
from trec.layout.ranks import Layers, layered
from trec.layout.routing import Line
from trec.layout.stacking import stack

if TYPE_CHECKING:
    from trec.layout.nesting import Net
    from trec.layout.shape import Shape
    from trec.layout.stacking import Bands

BESIDE = 8.0
"""Half the room between two boxes of one layer, in points, as all lengths here."""
_LANE = 5.0
"""Half the room beside a net that passes a layer."""
_TRUNK = 20.0
"""How much more than a net the trunk of a scope keeps to one line."""
_STRAIGHT = 0.01
"""Least distance sideways that counts as one."""
_PORT = 9.0
"""Room between two nets where they reach a box."""


class Content(Struct):
    """A scope laid out, seen from its top left corner, without its frame."""

    width: float
    height: float
    length: int
    """How many layers it has."""
    centres: list[Point]
    """Centre of each member."""
    into: list[float]
    """Where each net enters at the top."""
    out: list[float]
    """Where each net leaves at the bottom."""
    into_ways: list[int]
    """For each net that enters, how many layers the longest way from there passes."""
    out_ways: list[int]
    """For each net that leaves, how many layers the longest way to there passes."""
    lines: list[dict[int, Line]]
    """For each net, the way to each member that it leads to; under -1 that out of the scope."""
    labels: dict[int, Point]
    """For each net with a text in this scope, the centre of the text."""
    crossings: int


def lay_out(
    nets: tuple[Net, ...],
    shapes: tuple[Shape, ...],
    entries: tuple[int, ...] = (),
    *,
    sideways: bool = False,
    wrap: float = 0,
) -> Content:
    """Return a scope laid out.

    Args:
        nets: what runs between the members.
        shapes: the members in the order in which they run.
        entries: the nets that enter, in the order in which they are put at first; empty for the inner ones first.
        sideways: whether the outcome will be turned, so that texts stand over nets rather than beside them.
        wrap: wanted length of a column; 0 for one column of any length.
    """
    first = frozenset([index for index, shape in enumerate(shapes) if shape.first])
    layers = layered(shapes, nets, first)
    if entries:
        layers.rows[0] = [layers.entries[position] for position in entries]
    joints = _joints(layers, shapes)
    widths = [max(shape.width, 1.0) for shape in shapes]
    pieces = []
    for joint in joints:
        leaves = joint.leaves / widths[joint.upper] if joint.leaves else 0.0
        arrives = joint.arrives / widths[joint.lower] if joint.arrives else 0.0
        pieces.append((joint.upper, joint.lower, leaves, arrives))
    order(layers, pieces)
    straight = align(layers)
    joints = _spread(layers, shapes, joints, straight)
    extents = _extents(layers, shapes, sideways=sideways)
    gaps = [BESIDE if vertex < layers.members else _LANE for vertex in range(len(layers.layer))]
    across = place(layers, joints, straight, extents, gaps, _springs(layers))
    left = min([x - extent[0] for x, extent in zip(across, extents, strict=True)], default=0.0)
    right = max([x + extent[1] for x, extent in zip(across, extents, strict=True)], default=0.0)
    across = [x - left for x in across]
    bands = stack(layers, shapes, joints, across, sideways=sideways)
    centres = [(across[member], bands.middles[member]) for member in range(layers.members)]
    labels = {}
    for index, chain in enumerate(layers.chains):
        label = layers.labels.get(chain[0]) if chain else None
        if label is not None:
            x, y = across[chain[0]], bands.middles[chain[0]]
            labels[index] = (x - 2 - label[1] / 2, y) if sideways else (x + 4 + label[0] / 2, y)
    content = Content(
        right - left,
        bands.bottoms[-1] if bands.bottoms else 0.0,
        len(layers.rows),
        centres,
        [across[vertex] for vertex in layers.entries],
        [across[vertex] for vertex in layers.exits],
        layers.entry_ways,
        layers.exit_ways,
        _lines(layers, nets, shapes, joints, across, bands),
        labels,
        layers.crossings,
    )
    if not wrap:
        return content
    texts = {index: nets[index].label or (0.0, 0.0) for index in labels}
    if sideways:
        texts = {index: (height, width) for index, (width, height) in texts.items()}
    return in_columns(content, shapes, texts, _gaps(layers, bands), wrap)


def _gaps(layers: Layers, bands: Bands) -> list[Gap]:
    """Return where a scope may be cut: between layers, and not where a member stands beside an earlier layer."""
    gaps = []
    for index in range(len(layers.rows) - 1):
        later = [bands.middles[vertex] for vertex in layers.rows[index + 1] if vertex in bands.middles]
        if index + 1 not in _texts(layers) and all(middle > bands.bottoms[index] for middle in later):
            gaps.append(Gap(bands.bottoms[index], bands.tops[index + 1]))
    return gaps


def _texts(layers: Layers) -> set[int]:
    """Return the layers of texts."""
    return {layers.layer[vertex] for vertex in layers.labels}


def _joints(layers: Layers, shapes: tuple[Shape, ...]) -> list[Joint]:
    """Return the segments with the places where they leave and reach scopes; boxes are reached in the middle."""
    joints = []
    members = layers.members
    for upper, lower, upper_port, lower_port, _, _ in layers.segments:
        leaves = arrives = 0.0
        weight = 1.0
        if upper < members:
            out = shapes[upper].out
            if out:
                leaves = out[upper_port]
        else:
            weight += 1
        if lower < members:
            into = shapes[lower].into
            if into:
                arrives = into[lower_port]
        else:
            weight += 1
        joints.append(Joint(upper, lower, leaves, arrives, weight))
    return joints


def _springs(layers: Layers) -> list[Joint]:
    """Return what keeps the end of the trunk below its beginning, lest a row of equal scopes drift to one side."""
    if not layers.entries or not layers.exits:
        return []
    entry = layers.entries[layers.entry_ways.index(max(layers.entry_ways))]
    exit_ = layers.exits[layers.exit_ways.index(max(layers.exit_ways))]
    return [Joint(entry, exit_, 0.0, 0.0, _TRUNK)]


def _spread(layers: Layers, shapes: tuple[Shape, ...], joints: list[Joint], straight: list[int]) -> list[Joint]:
    """Return the joints with room between nets that reach or leave the same box; a straight one is in the middle."""
    place = [0] * len(layers.layer)
    for row in layers.rows:
        for position, vertex in enumerate(row):
            place[vertex] = position
    into: list[list[int]] = [[] for _ in shapes]
    out: list[list[int]] = [[] for _ in shapes]
    for index, joint in enumerate(joints):
        if joint.lower < layers.members and shapes[joint.lower].ports:
            into[joint.lower].append(index)
        if joint.upper < layers.members and shapes[joint.upper].ports:
            out[joint.upper].append(index)
    aligned = set(straight)
    leaves = [joint.leaves for joint in joints]
    arrives = [joint.arrives for joint in joints]
    for member, indices in enumerate(into):
        if len(indices) > 1:
            indices.sort(key=lambda index: place[joints[index].upper] + _fraction(joints[index].leaves))
            _share(shapes[member].width, [[index] for index in indices], aligned, arrives)
    for member, indices in enumerate(out):
        if len(indices) > 1:
            nets: dict[int, list[int]] = {}
            for index in indices:
                nets.setdefault(layers.segments[index].net, []).append(index)
            groups = sorted(
                nets.values(), key=lambda group: sum([place[joints[index].lower] for index in group]) / len(group)
            )
            _share(shapes[member].width, groups, aligned, leaves)
    return [
        Joint(joint.upper, joint.lower, leaves[index], arrives[index], joint.weight)
        for index, joint in enumerate(joints)
    ]


def _fraction(offset: float) -> float:
    return offset / (1000.0 + abs(offset))


def _share(width: float, groups: list[list[int]], aligned: set[int], ports: list[float]) -> None:
    """Give each group of segments a place along the border of a box."""
    count = len(groups)
    if count < 2:
        return
    middle = next((position for position, group in enumerate(groups) if aligned.intersection(group)), (count - 1) / 2)
    step = min(_PORT, max(width / 2 - 7, 0.0) / max(middle, count - 1 - middle))
    for position, group in enumerate(groups):
        for index in group:
            ports[index] = (position - middle) * step


def _extents(layers: Layers, shapes: tuple[Shape, ...], *, sideways: bool) -> list[tuple[float, float]]:
    """Return how far each vertex reaches to the left and to the right."""
    extents = [(shape.width / 2, shape.width / 2 + shape.loop) for shape in shapes]
    extents += [(0.0, 0.0)] * (len(layers.layer) - layers.members)
    for vertex, (width, height) in layers.labels.items():
        extents[vertex] = (height + 2.0, 0.0) if sideways else (0.0, width + 4.0)
    return extents


def _lines(
    layers: Layers,
    nets: tuple[Net, ...],
    shapes: tuple[Shape, ...],
    joints: list[Joint],
    across: list[float],
    bands: Bands,
) -> list[dict[int, Line]]:
    """Return the way that each net takes to each of its ends."""
    tops, bottoms, middles = bands.tops, bands.bottoms, bands.middles
    leaves: dict[tuple[int, int], Joint] = {}
    for segment, joint in zip(layers.segments, joints, strict=True):
        leaves[segment.net, segment.lower] = joint
    entries, exits = iter(layers.entries), iter(layers.exits)
    layer = layers.layer
    found: list[dict[int, Line]] = []
    for index, net in enumerate(nets):
        source = net.source if net.source >= 0 else next(entries)
        chain = layers.chains[index]
        ends = [member for member, _ in net.targets]
        if net.leaves:
            ends.append(next(exits))
        ways: dict[int, Line] = {}
        begin = bottoms[layer[source]]
        if source < layers.members:
            begin = middles[source] + shapes[source].height / 2
        for end in ends:
            passed = chain[: layer[end] - layer[source] - 1]
            x = across[source] + leaves[index, passed[0] if passed else end].leaves
            points = [(x, begin)]
            last = layer[source]
            for vertex in passed:
                if abs(across[vertex] - x) > _STRAIGHT:
                    _bend(points, x, bottoms[layer[vertex] - 1], across[vertex], tops[layer[vertex]])
                    x = across[vertex]
                last = layer[vertex]
            stop = across[end] + leaves[index, end].arrives
            if abs(stop - x) > _STRAIGHT:
                _bend(points, x, bottoms[last], stop, tops[layer[end]])
                x = stop
            finish = tops[layer[end]]
            if end < layers.members:
                finish = middles[end] - shapes[end].height / 2
            if finish - points[-1][1] > _STRAIGHT or len(points) == 1:
                points.append((x, finish))
            ways[end if end < layers.members else -1] = tuple(points)
        found.append(ways)
    return found


def _bend(points: list[Point], x: float, start: float, to_x: float, end: float) -> None:
    """Add a curve to a way, after what is straight before it."""
    if start - points[-1][1] > _STRAIGHT:
        points.append((x, start))
    points.append((to_x, end))
