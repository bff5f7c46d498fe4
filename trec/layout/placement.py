"""How far to the right everything in a scope stands.

Blocks of aligned vertices are as rigid as bars. Each is drawn towards the middle of what it is joined to, and then all
are moved as little as possible until none overlaps another: once with every bar yielding to the right, once to the
left, of which the mean is taken. The mean of two placements without overlap has none either.

Where many bars crowd beside one, all of them are driven to one side step by step, and what hangs on them lags behind.
Then each bar goes by itself as far as there is room for it.

Source: U. Brandes, B. Köpf (2001), for blocks and for the mean of placements from both sides; T. Dwyer, Y. Koren,
K. Marriott, "IPSep-CoLa: An Incremental Procedure for Separation Constraint Layout of Graphs", IEEE Transactions on
Visualization and Computer Graphics 12 (2006), for steps towards least squares, each followed by a projection.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.layout.joints import Joint
    from trec.layout.layers import Layers

_STEPS = 12
_MORE_STEPS = 24
_WORK = 2_400
"""Bars moved in all before there are no more than twelve steps."""
_ENOUGH = 0.5
"""Points by which bars must move more than one another, or else they are where they belong."""
_DRIVEN = 1.0
"""Points by which all bars together move in a step from which on they are driven."""
_SWEEPS = 20


_Pair = tuple[int, int, float]
"""Two bars that are neighbours somewhere, the left one first, and how far apart they must be."""


class _Bars(Struct):
    """Blocks, each with one coordinate."""

    of: list[int]
    """Bar of each vertex."""
    offset: list[float]
    """How far right of its bar each vertex stands."""
    count: int


def place(
    layers: Layers,
    joints: Sequence[Joint],
    straight: Sequence[int],
    extents: Sequence[tuple[float, float]],
    gaps: Sequence[float],
    springs: Sequence[Joint] = (),
) -> list[float]:
    """Return the coordinate of each vertex across the flow.

    Args:
        layers: the vertices in order.
        joints: one for each segment.
        straight: positions of the joints that are to be straight.
        extents: how far each vertex reaches to the left and to the right of its coordinate.
        gaps: half the room that each vertex needs beside itself.
        springs: pairs of vertices that are to be near one another without being joined.

    Ensures:
        Neighbours of one layer do not overlap, and joints that are to be straight are.

    Cost: twelve rounds, up to 24 of few bars, and up to 20 more where all are driven to one side; each is linear in the
        number of vertices and joints.
    """
    bars = _bars(layers, joints, straight)
    apart = _left_to_right(bars.count, _apart(layers, bars, extents, gaps))
    pulls: list[list[tuple[int, float, float]]] = [[] for _ in range(bars.count)]
    for joint in (*joints, *springs):
        one, other = bars.of[joint.upper], bars.of[joint.lower]
        if one != other:
            shift = bars.offset[joint.upper] + joint.leaves - bars.offset[joint.lower] - joint.arrives
            pulls[other].append((one, shift, joint.weight))
            pulls[one].append((other, -shift, joint.weight))
    weights = [sum([weight for _, _, weight in pull]) for pull in pulls]
    at = _separated([0.0] * bars.count, apart)
    steps: list[float] = []
    for _ in range(max(_STEPS, min(_MORE_STEPS, _WORK // (bars.count + 1)))):
        moved = _separated(_wanted(at, pulls, weights), apart)
        steps = [new - old for new, old in zip(moved, at, strict=True)]
        at = moved
        if max(steps, default=0.0) - min(steps, default=0.0) < _ENOUGH:
            break
    if abs(max(steps, default=0.0) + min(steps, default=0.0)) > 2 * _DRIVEN:
        _settle(at, pulls, weights, apart)
    return [at[bar] + offset for bar, offset in zip(bars.of, bars.offset, strict=True)]


def _bars(layers: Layers, joints: Sequence[Joint], straight: Sequence[int]) -> _Bars:
    count = len(layers.layer)
    before: list[Joint | None] = [None] * count
    for index in straight:
        before[joints[index].lower] = joints[index]
    of = [-1] * count
    offset = [0.0] * count
    bars = 0
    for row in layers.rows:
        for vertex in row:
            joint = before[vertex]
            if joint is None:
                of[vertex] = bars
                bars += 1
            else:
                of[vertex] = of[joint.upper]
                offset[vertex] = offset[joint.upper] + joint.leaves - joint.arrives
    return _Bars(of, offset, bars)


def _apart(
    layers: Layers, bars: _Bars, extents: Sequence[tuple[float, float]], gaps: Sequence[float]
) -> dict[tuple[int, int], float]:
    """Return for each two bars that are neighbours somewhere how far apart they must be."""
    apart: dict[tuple[int, int], float] = {}
    of, offset = bars.of, bars.offset
    for row in layers.rows:
        for left, right in itertools.pairwise(row):
            room = extents[left][1] + gaps[left] + gaps[right] + extents[right][0] + offset[left] - offset[right]
            pair = (of[left], of[right])
            if apart.get(pair, room - 1) < room:
                apart[pair] = room
    return apart


def _left_to_right(count: int, apart: dict[tuple[int, int], float]) -> list[_Pair]:
    """Return the pairs of bars with the room between them, each behind all those that end where it begins."""
    waiting = [0] * count
    after: list[list[tuple[int, float]]] = [[] for _ in range(count)]
    for (left, right), room in apart.items():
        waiting[right] += 1
        after[left].append((right, room))
    order = [bar for bar in range(count) if not waiting[bar]]
    pairs = []
    for bar in order:
        for other, room in after[bar]:
            pairs.append((bar, other, room))
            waiting[other] -= 1
            if not waiting[other]:
                order.append(other)
    return pairs


def _wanted(at: list[float], pulls: list[list[tuple[int, float, float]]], weights: list[float]) -> list[float]:
    """Return where each bar would go if it were alone: most of the way to the middle of what it is joined to."""
    wanted = []
    for here, pull, weight in zip(at, pulls, weights, strict=True):
        if not pull:
            wanted.append(here)
            continue
        moment = 0.0
        for bar, shift, share in pull:
            moment += (at[bar] + shift) * share
        wanted.append(0.15 * here + 0.85 * moment / weight)
    return wanted


def _separated(wanted: list[float], apart: list[_Pair]) -> list[float]:
    """Return coordinates near the wanted ones at which no bars overlap."""
    to_right, to_left = list(wanted), list(wanted)
    for left, right, room in apart:
        least = to_right[left] + room
        if to_right[right] < least:
            to_right[right] = least
    for left, right, room in reversed(apart):
        most = to_left[right] - room
        if to_left[left] > most:
            to_left[left] = most
    return [(one + other) / 2 for one, other in zip(to_right, to_left, strict=True)]


def _settle(
    at: list[float], pulls: list[list[tuple[int, float, float]]], weights: list[float], apart: list[_Pair]
) -> None:
    """Move bars one by one to the middle of what they are joined to, as far as those beside them leave room.

    Args:
        at: coordinates of bars that do not overlap, which are changed.
        pulls: for each bar, what it is joined to, how far right of that it would stand, and how much that weighs.
        weights: the sum of these, for each bar.
        apart: bars that are neighbours, and how far apart they must be.
    """
    beside: list[tuple[list[tuple[int, float]], list[tuple[int, float]]]] = [([], []) for _ in at]
    for left, right, room in apart:
        beside[left][1].append((right, room))
        beside[right][0].append((left, room))
    order = range(len(at))
    for _ in range(_SWEEPS):
        order, most = order[::-1], 0.0
        for bar in order:
            if not pulls[bar]:
                continue
            moment = 0.0
            for other, shift, share in pulls[bar]:
                moment += (at[other] + shift) * share
            wanted = moment / weights[bar]
            for other, room in beside[bar][1]:
                wanted = min(wanted, at[other] - room)
            for other, room in beside[bar][0]:
                wanted = max(wanted, at[other] + room)
            most = max(most, abs(wanted - at[bar]))
            at[bar] = wanted
        if most < _ENOUGH:
            break
