"""Tandem repeats: parts of a sequence that follow one another and are equal."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Run(Struct, frozen=True):
    """A stretch of a sequence in which every item equals the one a period before."""

    start: int
    """Position of the first item."""
    period: int
    """Number of items in one repeat."""
    count: int
    """Number of whole repeats, at least 2."""

    @property
    def end(self) -> int:
        """Position after the last whole repeat."""
        return self.start + self.period * self.count

    @property
    def saved(self) -> int:
        """Number of items that are left out when one repeat stands for all."""
        return self.period * (self.count - 1)


def tandem_runs(items: Sequence[int]) -> Iterator[Run]:
    """Yield repeats that do not overlap, those that save the most items first.

    Every period is found whose repeat occurs at least three times in a row, or twice if no item occurs twice in it.

    Cost: O(n log n) for sequences that are not made to be slow.
    Source: Karp, Miller and Rosenberg, "Rapid identification of repeated patterns in strings, trees and arrays"
        (1972), for naming stretches of doubling length.
    """
    heap = [(-run.saved, run.period, run.start, run.count) for run in _maximal(items)]
    heapify(heap)
    taken = bytearray(len(items))
    while heap:
        _, period, start, count = heappop(heap)
        run = Run(start, period, count)
        parts = list(_free(taken, run))
        if parts == [run]:
            taken[run.start : run.end] = b"\1" * (run.end - run.start)
            yield run
        else:
            for part in parts:
                heappush(heap, (-part.saved, part.period, part.start, part.count))


def _free(taken: bytearray, run: Run) -> Iterator[Run]:
    """Yield the parts of a run that are not taken and hold at least two repeats."""
    start = taken.find(0, run.start, run.end)
    while start >= 0:
        end = taken.find(1, start, run.end)
        end = run.end if end < 0 else end
        count = (end - start) // run.period
        if count > 1:
            yield Run(start, run.period, count)
        start = taken.find(0, end, run.end)


def _maximal(items: Sequence[int]) -> Iterator[Run]:
    """Yield stretches that repeat and cannot be extended."""
    for period, positions in sorted(_distances(items).items()):
        seen = period
        for position in sorted(positions):
            if position < seen:
                continue
            start = end = position
            while start > seen and items[start - 1] == items[start - 1 - period]:
                start -= 1
            while end < len(items) and items[end] == items[end - period]:
                end += 1
            seen = end + 1
            if end - start >= period:
                yield Run(start - period, period, (end - start) // period + 1)


def _distances(items: Sequence[int]) -> dict[int, list[int]]:
    """Return, by distance, the positions at which a stretch of 1, 2, 4, ... items is as it was so far before."""
    found: dict[int, list[int]] = {}
    nearest = [0] * len(items)
    names = list(items)
    length = 1
    again = True
    while again and 2 * length <= len(items):
        again = False
        last: dict[int, int] = {}
        for position, name in enumerate(names):
            before = last.get(name)
            if before is not None:
                again = True
                distance = position - before
                if distance != nearest[position]:
                    nearest[position] = distance
                    found.setdefault(distance, []).append(position)
            last[name] = position
        pairs: dict[tuple[int, int], int] = {}
        names = [
            pairs.setdefault((names[position], names[position + length]), len(pairs))
            for position in range(len(names) - length)
        ]
        length *= 2
    return found
