"""The points that wires pass.

Between two points with the same coordinate across the flow a wire is straight. Between others it is a curve that
leaves the one and reaches the other along the flow, so that it can be drawn as one cubic Bézier; it stays between the
layers, where there is no box. Two such points at the same height are the ends of an arc, by which a net turns round.
"""

from __future__ import annotations

from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.layout.diagram import Point
    from trec.layout.joints import Joint
    from trec.layout.layers import Layers
    from trec.layout.nesting import Net
    from trec.layout.shape import Shape
    from trec.layout.stacking import Bands

Line = tuple["Point", ...]

_STRAIGHT = 0.01
"""Least distance sideways that counts as one."""
ARC = 14.0
"""How far an arc reaches beyond its ends, at most, in points."""
LEVEL = 6.0
"""Room between two nets that turn round one behind the other."""


def lines(
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
    turns = _turns(layers, nets, leaves, across)
    entries, exits = iter(layers.entries), iter(layers.exits)
    layer = layers.layer
    found: list[dict[int, Line]] = []
    for index, net in enumerate(nets):
        if net.back:
            found.append({net.targets[0][0]: _back(layers, net, index, shapes, turns, across, bands)})
            continue
        source = net.source if net.source >= 0 else next(entries)
        chain = layers.chains[index]
        ends = [member for member, _ in net.targets]
        if net.leaves:
            ends.append(next(exits))
        start = layer[source]
        begin = bottoms[start]
        if source < layers.members:
            begin = middles[source] + shapes[source].height / 2
        ways: dict[int, Line] = {}
        trail = [(across[source] + leaves[index, chain[0]].leaves, begin)] if chain else []
        passed = 0
        for end in sorted(ends, key=layer.__getitem__):
            joint = leaves[index, end]
            steps = min(layer[end] - start - 1, len(chain))
            for vertex in chain[passed:steps]:
                if abs(across[vertex] - trail[-1][0]) > _STRAIGHT:
                    _bend(trail, bottoms[layer[vertex] - 1], across[vertex], tops[layer[vertex]])
            passed = steps
            points = list(trail) if steps else [(across[source] + joint.leaves, begin)]
            stop = across[end] + joint.arrives
            if abs(stop - points[-1][0]) > _STRAIGHT:
                _bend(points, bottoms[start + steps], stop, tops[layer[end]])
            finish = tops[layer[end]]
            if end < layers.members:
                finish = middles[end] - shapes[end].height / 2
            if finish - points[-1][1] > _STRAIGHT or len(points) == 1:
                points.append((points[-1][0], finish))
            ways[end if end < layers.members else -1] = tuple(points)
        found.append(ways)
    return found


class _Turn(NamedTuple):
    """Where a net that runs back turns."""

    port: float
    """Where it leaves or reaches the member, across the flow."""
    beside: float
    """Where it runs beside the member."""
    level: float
    """How far from the layer it turns."""


def _turns(
    layers: Layers, nets: tuple[Net, ...], joints: dict[tuple[int, int], Joint], across: list[float]
) -> dict[int, _Turn]:
    """Return where nets turn, by the vertices that stand for that: the wider the turn, the further from the layer."""
    found: dict[int, _Turn] = {}
    behind: dict[int, list[int]] = {}
    for index, net in enumerate(nets):
        if not net.back:
            continue
        chain, target = layers.chains[index], net.targets[0][0]
        found[chain[0]] = _Turn(across[target] + joints[index, target].arrives, across[chain[1]], 0.0)
        found[chain[-1]] = _Turn(across[net.source] + joints[index, chain[-1]].leaves, across[chain[-2]], 0.0)
        for vertex in (chain[0], chain[-1]):
            behind.setdefault(layers.turns[vertex], []).append(vertex)
    for vertices in behind.values():
        vertices.sort(key=lambda vertex: abs(found[vertex].port - found[vertex].beside))
        for position, vertex in enumerate(vertices):
            found[vertex] = found[vertex]._replace(level=position * LEVEL)
    return found


def _back(
    layers: Layers,
    net: Net,
    index: int,
    shapes: tuple[Shape, ...],
    turns: dict[int, _Turn],
    across: list[float],
    bands: Bands,
) -> Line:
    """Return the way of a net that runs back: round behind its source, up beside what is between, round again."""
    target, layer = net.targets[0][0], layers.layer
    before, *beside, behind = layers.chains[index]
    first, last = turns[behind], turns[before]
    low = bands.bottoms[layer[net.source]] + first.level
    points = [(first.port, bands.middles[net.source] + shapes[net.source].height / 2), (first.port, low)]
    points.append((first.beside, low))
    for upper, lower in reversed(list(pairwise(beside))):
        points += [(across[lower], bands.tops[layer[lower]]), (across[upper], bands.bottoms[layer[upper]])]
    high = bands.tops[layer[target]] - last.level
    points += [(last.beside, high), (last.port, high)]
    return simplified([*points, (last.port, bands.middles[target] - shapes[target].height / 2)])


def _bend(points: list[Point], start: float, to_x: float, end: float) -> None:
    """Add a curve to a way, after what is straight before it."""
    x, y = points[-1]
    if start - y > _STRAIGHT:
        points.append((x, start))
    points.append((to_x, end))


def simplified(points: Iterable[Point]) -> Line:
    """Return the points without those that lie on a straight line between their neighbours."""
    kept: list[Point] = []
    x = y = inf
    straight = False
    for point in points:
        to_x, to_y = point
        beside = -_STRAIGHT < to_x - x < _STRAIGHT
        if beside and -_STRAIGHT < to_y - y < _STRAIGHT:
            continue
        y = to_y
        if beside and straight:
            kept[-1] = (x, y)
        else:
            x = to_x
            kept.append(point)
        straight = beside
    return tuple(kept)


def curves(line: Line, *, sideways: bool = False) -> list[tuple[Point, ...]]:
    """Return the pieces of a route: the end of a straight one, or both control points and the end of a Bézier curve.

    Args:
        line: the points of the route; the pieces go on from the first.
        sideways: whether the flow goes from side to side rather than up or down.
    """
    points = [(y, x) for x, y in line] if sideways else line
    pieces: list[tuple[Point, ...]] = []
    onwards = 0.0
    for index in range(1, len(points)):
        (x, y), (to_x, to_y) = points[index - 1], points[index]
        if x == to_x:
            pieces.append(((to_x, to_y),))
            onwards = to_y - y
            continue
        if y == to_y:
            if not onwards:
                onwards = y - points[index + 1][1] if index + 1 < len(points) else 1.0
            bend = y + min(max(abs(to_x - x) / 2, 5.0), ARC) * (1 if onwards > 0 else -1)
            pieces.append(((x, bend), (to_x, bend), (to_x, to_y)))
            onwards = -onwards
            continue
        middle = (y + to_y) / 2
        pieces.append(((x, middle), (to_x, middle), (to_x, to_y)))
        onwards = to_y - y
    if sideways:
        return [tuple([(x, y) for y, x in piece]) for piece in pieces]
    return pieces
