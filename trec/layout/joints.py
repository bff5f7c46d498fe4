"""Where nets leave members and reach them, and what is to be near what."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from trec.layout.layers import Layers
    from trec.layout.shape import Shape

_TRUNK = 20.0
"""How much more than a net the trunk of a scope keeps to one line."""
_PORT = 9.0
"""Room between two nets where they reach a box."""


class Joint(Struct, frozen=True, array_like=True, gc=False):
    """A segment between two vertices, and how far right of their coordinates it leaves and arrives."""

    upper: int
    lower: int
    leaves: float
    arrives: float
    weight: float


def joints_of(layers: Layers, shapes: tuple[Shape, ...]) -> list[Joint]:
    """Return the segments with the places where they leave and reach scopes; boxes are reached in the middle."""
    joints = []
    members = layers.members
    for segment in layers.segments:
        upper, lower = segment.upper, segment.lower
        leaves = arrives = 0.0
        weight = 1.0
        if upper < members:
            out = shapes[upper].out
            if out:
                leaves = out[segment.upper_port]
        else:
            weight += 1
        if lower < members:
            into = shapes[lower].into
            if into:
                arrives = into[segment.lower_port]
        else:
            weight += 1
        joints.append(Joint(upper, lower, leaves, arrives, weight))
    return joints


def springs(layers: Layers) -> list[Joint]:
    """Return what keeps the end of the trunk below its beginning, lest a row of equal scopes drift to one side."""
    if not layers.entries or not layers.exits:
        return []
    entry = layers.entries[layers.entry_ways.index(max(layers.entry_ways))]
    exit_ = layers.exits[layers.exit_ways.index(max(layers.exit_ways))]
    return [Joint(entry, exit_, 0.0, 0.0, _TRUNK)]


def spread(layers: Layers, shapes: tuple[Shape, ...], joints: list[Joint], straight: list[int]) -> list[Joint]:
    """Return the joints with room between nets that reach or leave the same box; a straight one is in the middle.

    Nets that run back are outermost, so that they turn round nothing, the one that goes furthest inmost.
    """
    place = [0] * len(layers.layer)
    for row in layers.rows:
        for position, vertex in enumerate(row):
            place[vertex] = position
    into, out = _meeting(layers, shapes, joints)
    aligned = set(straight)
    leaves = [joint.leaves for joint in joints]
    arrives = [joint.arrives for joint in joints]
    for member, indices in enumerate(into):
        if len(indices) > 1:
            indices.sort(key=lambda index: place[joints[index].upper] + _fraction(joints[index].leaves))
            if layers.turns:
                indices.sort(key=partial(_turned, layers, place, member, 1))
            _share(shapes[member].width, [[index] for index in indices], aligned, arrives)
    for member, indices in enumerate(out):
        if len(indices) > 1:
            nets: dict[int, list[int]] = {}
            for index in indices:
                nets.setdefault(layers.segments[index].net, []).append(index)
            groups = sorted(
                nets.values(), key=lambda group: sum([place[joints[index].lower] for index in group]) / len(group)
            )
            if layers.turns:
                groups.sort(key=lambda group: _turned(layers, place, member, -2, group[0]))
            _share(shapes[member].width, groups, aligned, leaves)
    return [
        joint
        if joint.leaves == leaves[index] and joint.arrives == arrives[index]
        else Joint(joint.upper, joint.lower, leaves[index], arrives[index], joint.weight)
        for index, joint in enumerate(joints)
    ]


def _meeting(layers: Layers, shapes: tuple[Shape, ...], joints: list[Joint]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the positions of the joints that reach each member, and of those that leave it, where places are free."""
    into: list[list[int]] = [[] for _ in shapes]
    out: list[list[int]] = [[] for _ in shapes]
    for index, joint in enumerate(joints):
        if joint.lower < layers.members and shapes[joint.lower].ports:
            into[joint.lower].append(index)
        if joint.upper < layers.members and shapes[joint.upper].ports:
            out[joint.upper].append(index)
    return into, out


def _turned(layers: Layers, place: list[int], member: int, beside: int, index: int) -> tuple[int, int]:
    """Return where the segment of a net that runs back is among those of a member: its side, and how far in there.

    Args:
        layers: the vertices in order.
        place: position of each vertex in its layer.
        member: where it leaves or arrives.
        beside: which vertex of such a net stands beside that.
        index: the segment.
    """
    segment = layers.segments[index]
    if segment.upper not in layers.turns and segment.lower not in layers.turns:
        return 0, 0
    passed = place[layers.chains[segment.net][beside]]
    return (1 if passed > place[member] else -1), -passed


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
