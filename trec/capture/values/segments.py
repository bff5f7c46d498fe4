"""A line of addresses, cut into segments where regions begin and end."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trec.capture.values.regions import Run

_FAN = 16
"""How many entries of one level of the index are summed up in one of the next."""


class Segments:
    """What stands in each segment: pieces that were written, newest last.

    Cost: a question takes time for the segments that it touches. Where many are touched and few are new, the new ones
    are found by an index of the newest times, which is made anew after a change.
    """

    def __init__(self) -> None:
        self._starts = [-(1 << 63)]
        self._held: list[tuple[Any, ...]] = [()]
        self._newest: list[list[int]] = []

    def put(self, start: int, stop: int, held: tuple[Any, ...]) -> None:
        """Let a run of addresses be one segment."""
        first, last = self._split(start), self._split(stop)
        self._starts[first:last], self._held[first:last] = [start], [held]
        self._newest = []

    def change(self, start: int, stop: int, become: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> None:
        """Let something else stand in each segment of a run of addresses, where they are not changed otherwise."""
        for position in range(self._split(start), self._split(stop)):
            self._held[position] = become(self._held[position])
        self._newest = []

    def between(self, run: Run) -> range:
        """Return the positions of the segments that have a part in a run."""
        start, stop = run
        return range(bisect_right(self._starts, start) - 1, bisect_left(self._starts, stop) if start < stop else 0)

    def at(self, position: int, run: Run) -> tuple[int, int, tuple[Any, ...]]:
        """Return a segment, cut off at the ends of a run."""
        start, stop = run
        starts = self._starts
        end = starts[position + 1] if position + 1 < len(starts) else stop
        return max(starts[position], start), min(end, stop), self._held[position]

    def pieces(self, run: Run) -> Iterator[tuple[int, int, tuple[Any, ...]]]:
        """Yield the segments in a run of bytes, cut off at its ends."""
        for position in self.between(run):
            yield self.at(position, run)

    def held(self, run: Run, most: int) -> list[tuple[Any, ...]]:
        """Return what stands in the first segments of a run."""
        positions = self.between(run)
        return self._held[positions.start : min(positions.stop, positions.start + most)]

    def newer(self, positions: range, time: float) -> list[int]:
        """Return those of the positions where something newer than a time stands."""
        if not self._newest:
            level = [held[-1].time if held else 0 for held in self._held]
            self._newest.append(level)
            while len(level) > 1:
                level = [max(level[first : first + _FAN]) for first in range(0, len(level), _FAN)]
                self._newest.append(level)
        found = [0]
        for depth in range(len(self._newest) - 1, -1, -1):
            level, width = self._newest[depth], _FAN**depth
            first, last = positions.start // width, (positions.stop - 1) // width
            if depth < len(self._newest) - 1:
                found = [child for parent in found for child in range(parent * _FAN, parent * _FAN + _FAN)]
            found = [node for node in found if first <= node <= last and level[node] > time]
        return found

    def _split(self, address: int) -> int:
        """Let a segment begin at an address, and return its position."""
        position = bisect_right(self._starts, address) - 1
        if self._starts[position] == address:
            return position
        self._starts.insert(position + 1, address)
        self._held.insert(position + 1, self._held[position])
        return position + 1
