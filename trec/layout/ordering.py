"""Who stands left of whom in each layer, so that few nets cross.

Source: K. Sugiyama, S. Tagawa, M. Toda (1981), for barycentres; E. Gansner, E. Koutsofios, S. North, K.-P. Vo (1993),
for keeping the best of several sweeps and for exchanging neighbours after them.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.layout.joints import Joint
    from trec.layout.layers import Layers

_Piece = tuple[int, int, float, float]
"""A segment: upper and lower vertex, and how far right of their middles it leaves and arrives, in widths of them."""

_SWEEPS = 8
_PATIENCE = 2
"""Sweeps without any gain after which there is no further one."""
_FEW = 600
"""Vertices up to which the sweeps are done twice, beginning at either end."""
_SMALL = 40
"""Layers of at most so many vertices have their neighbours exchanged; more would take long."""


def order(layers: Layers, joints: Sequence[Joint], widths: Sequence[float]) -> None:
    """Put the vertices of each layer in an order with few crossings, and count these.

    Args:
        layers: the vertices, whose order is changed.
        joints: one for each segment.
        widths: width of each member.

    Vertices that share their place with others stay in the order in which they are, so the outcome is always the same.
    """
    sweep = _Sweep(layers, joints, widths)
    first = best = sweep.crossings()
    if not best:
        return
    sweep.look_around()
    start = rows = [list(row) for row in layers.rows]
    for down in (True, False):
        if best == 0 or (not down and len(layers.layer) > _FEW):
            break
        if not down:
            sweep.restart(start)
        idle, last = 0, first
        for turn in range(_SWEEPS):
            sweep.run(down=down == (turn % 2 == 0))
            count = sweep.crossings()
            idle = 0 if count < last else idle + 1
            last = min(last, count)
            if count < best:
                best = count
                rows = [list(row) for row in layers.rows]
            if count == 0 or idle >= _PATIENCE:
                break
    if best:
        sweep.restart(rows)
        sweep.exchange()
        rows, best = sweep.rows, sweep.crossings()
    layers.rows = rows
    layers.crossings = best


class _Sweep:
    """The order of one graph while it is improved."""

    def __init__(self, layers: Layers, joints: Sequence[Joint], widths: Sequence[float]) -> None:
        self.rows, self.layer = layers.rows, layers.layer
        self.pieces = []
        between: list[list[_Piece]] = [[] for _ in self.rows]
        for joint in joints:
            leaves = joint.leaves / widths[joint.upper] if joint.leaves else 0.0
            arrives = joint.arrives / widths[joint.lower] if joint.arrives else 0.0
            piece = (joint.upper, joint.lower, leaves, arrives)
            self.pieces.append(piece)
            between[self.layer[joint.upper]].append(piece)
        self.between = [pieces for pieces in between if _may_cross(pieces)]
        self.counts = [0] * len(self.between)
        """How many pieces cross, for each two layers between which any may."""
        self.stale = set(range(len(self.between)))
        """Which of these counts are to be found out anew."""
        self.seen: list[set[int]] = [set() for _ in self.rows]
        """Which counts the order of each layer matters to."""
        for index, rows in enumerate(self.between):
            self.seen[self.layer[rows[0][0]]].add(index)
            for lower in {self.layer[piece[1]] for piece in rows}:
                self.seen[lower].add(index)
        self.up: list[list[tuple[int, float]]] = []
        """For each vertex, the vertices before it, and how far right of their middles it would stand."""
        self.down: list[list[tuple[int, float]]] = []
        self.place = [0] * len(self.layer)
        for row in self.rows:
            for position, vertex in enumerate(row):
                self.place[vertex] = position

    def look_around(self) -> None:
        """Find out what is before and behind each vertex, which is needed once something is to be moved."""
        self.up = [[] for _ in self.layer]
        self.down = [[] for _ in self.layer]
        for upper, lower, leaves, arrives in self.pieces:
            self.up[lower].append((upper, leaves - arrives))
            self.down[upper].append((lower, arrives - leaves))

    def restart(self, rows: list[list[int]]) -> None:
        """Put the layers back in an earlier order."""
        for index, earlier in enumerate(rows):
            self._settle(index, earlier)

    def _settle(self, index: int, row: list[int]) -> None:
        """Put a layer in an order."""
        if row != self.rows[index]:
            self.rows[index][:] = row
            self.stale |= self.seen[index]
            for position, vertex in enumerate(row):
                self.place[vertex] = position

    def run(self, *, down: bool) -> None:
        """Sort each layer by where its neighbours on one side stand."""
        neighbours = self.up if down else self.down
        place = self.place
        last = len(self.rows) - 1
        for index in range(1, last + 1) if down else range(last - 1, -1, -1):
            row = self.rows[index]
            if len(row) < 2:
                continue
            key = {}
            for vertex in row:
                near = neighbours[vertex]
                if len(near) == 1:
                    key[vertex] = place[near[0][0]] + near[0][1]
                elif near:
                    total = 0.0
                    # `sum` would round in another way from Python 3.12 on, and near ties would fall otherwise.
                    for other, shift in near:
                        total += place[other] + shift
                    key[vertex] = total / len(near)
                else:
                    key[vertex] = place[vertex]
            self._settle(index, sorted(row, key=key.__getitem__))

    def crossings(self) -> int:
        """Return how many pairs of segments cross."""
        for index in self.stale:
            self.counts[index] = self._crossings(self.between[index])
        self.stale.clear()
        return sum(self.counts)

    def _crossings(self, pieces: list[_Piece]) -> int:
        place = self.place
        pairs = sorted([(place[a] + leaves, place[b] + arrives) for a, b, leaves, arrives in pieces])
        passed: list[float] = []
        count, greatest = 0, -1.0
        for size, (_, end) in enumerate(pairs):
            if end < greatest:
                position = bisect_right(passed, end)
                count += size - position
                passed.insert(position, end)
            else:
                passed.append(end)
                greatest = end
        return count

    def exchange(self) -> None:
        """Exchange neighbours in small layers as long as that spares crossings."""
        for index, row in enumerate(self.rows):
            if not 1 < len(row) <= _SMALL:
                continue
            for _ in range(len(row)):
                if not any(self._swap(row, position) for position in range(len(row) - 1)):
                    break
                self.stale |= self.seen[index]

    def _swap(self, row: list[int], position: int) -> bool:
        left, right = row[position], row[position + 1]
        gain = 0
        for neighbours in (self.up, self.down):
            ours, theirs = neighbours[left], neighbours[right]
            if ours and theirs:
                if len(ours) == 1 == len(theirs):
                    mine, end = (self.place[rows[0][0]] + rows[0][1] for rows in (ours, theirs))
                    gain += (mine > end) - (mine < end)
                    continue
                places = [self.place[other] + shift for other, shift in ours]
                for other, shift in theirs:
                    end = self.place[other] + shift
                    gain += sum([(mine > end) - (mine < end) for mine in places])
        if gain <= 0:
            return False
        row[position], row[position + 1] = right, left
        self.place[left], self.place[right] = position + 1, position
        return True


def _may_cross(pieces: list[_Piece]) -> bool:
    """Tell whether there is any order in which pieces between two layers cross."""
    if len(pieces) < 2:
        return False
    upper, lower, leaves, arrives = pieces[0]
    return any(piece[1] != lower or piece[3] != arrives for piece in pieces) and any(
        piece[0] != upper or piece[2] != leaves for piece in pieces
    )
