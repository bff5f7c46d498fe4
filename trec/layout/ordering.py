"""Who stands left of whom in each layer, so that few nets cross.

Source: K. Sugiyama, S. Tagawa, M. Toda (1981), for barycentres; E. Gansner, E. Koutsofios, S. North, K.-P. Vo (1993),
for keeping the best of several sweeps and for exchanging neighbours after them.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trec.layout.layers import Layers

Piece = tuple[int, int, float, float]
"""A segment: upper and lower vertex, and how far right of their middles it leaves and arrives, in widths of them."""

_SWEEPS = 8
_PATIENCE = 2
"""Sweeps without any gain after which there is no further one."""
_FEW = 600
"""Vertices up to which the sweeps are done twice, beginning at either end."""
_SMALL = 40
"""Layers of at most so many vertices have their neighbours exchanged; more would take long."""


def order(layers: Layers, pieces: list[Piece]) -> None:
    """Put the vertices of each layer in an order with few crossings, and count these.

    Vertices that share their place with others stay in the order in which they are, so the outcome is always the same.
    """
    sweep = _Sweep(layers, pieces)
    first = best = sweep.crossings()
    if best:
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

    def __init__(self, layers: Layers, pieces: list[Piece]) -> None:
        self.rows, self.layer = layers.rows, layers.layer
        count = len(layers.layer)
        self.between: list[list[Piece]] = [[] for _ in self.rows]
        for piece in pieces:
            self.between[layers.layer[piece[0]]].append(piece)
        self.up: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        """For each vertex, the vertices before it, and how far right of their middles it would stand."""
        self.down: list[list[tuple[int, float]]] = [[] for _ in range(count)]
        self.place = [0] * count
        for row in self.rows:
            self._settle(row)

    def look_around(self) -> None:
        """Find out what is before and behind each vertex, which is needed once something is to be moved."""
        for pieces in self.between:
            for upper, lower, leaves, arrives in pieces:
                self.up[lower].append((upper, leaves - arrives))
                self.down[upper].append((lower, arrives - leaves))

    def restart(self, rows: list[list[int]]) -> None:
        """Put the layers back in an earlier order."""
        for row, earlier in zip(self.rows, rows, strict=True):
            row[:] = earlier
            self._settle(row)

    def _settle(self, row: list[int]) -> None:
        for position, vertex in enumerate(row):
            self.place[vertex] = position

    def run(self, *, down: bool) -> None:
        """Sort each layer by where its neighbours on one side stand."""
        neighbours = self.up if down else self.down
        place = self.place
        for row in self.rows[1:] if down else self.rows[-2::-1]:
            if len(row) < 2:
                continue
            key = {}
            for vertex in row:
                near = neighbours[vertex]
                if len(near) == 1:
                    key[vertex] = place[near[0][0]] + near[0][1]
                elif near:
                    key[vertex] = sum([place[other] + shift for other, shift in near]) / len(near)
                else:
                    key[vertex] = place[vertex]
            row.sort(key=key.__getitem__)
            self._settle(row)

    def crossings(self) -> int:
        """Return how many pairs of segments cross."""
        return sum([self._crossings(pieces) for pieces in self.between if len(pieces) > 1])

    def _crossings(self, pieces: list[Piece]) -> int:
        place = self.place
        pairs = sorted([(place[a] + leaves, place[b] + arrives) for a, b, leaves, arrives in pieces])
        ends = [end for _, end in pairs]
        passed = sorted(ends)
        if ends == passed:
            return 0
        passed, count = [], 0
        for end in ends:
            if passed and passed[-1] > end:
                count += len(passed) - bisect_right(passed, end)
                insort(passed, end)
            else:
                passed.append(end)
        return count

    def exchange(self) -> None:
        """Exchange neighbours in small layers as long as that spares crossings."""
        for row in self.rows:
            if not 1 < len(row) <= _SMALL:
                continue
            for _ in range(len(row)):
                if not any(self._swap(row, position) for position in range(len(row) - 1)):
                    break

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
