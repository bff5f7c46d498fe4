"""What each part of a memory holds, after any number of writes to any of its parts."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trec.capture.regions import APART, WHOLE, Region, Run, overlap

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_PARTS = 64
"""What lies in more parts is not told apart: a tensor is read with all that it held before."""
SHORT = 32
_START = -(1 << 63)


class Piece(Struct, gc=False):
    """What one write left."""

    value: int
    region: Region
    call: Any
    """The call that it happened in."""
    time: int
    """The value that it made, as the time of the write; 0 for what stood there from the start."""
    rest: bool = False
    """Whether it stands wherever nothing else is known to have stood."""


class Writes:
    """The writes to one memory.

    The memory is cut into segments where regions begin and end; each holds the pieces that lie in it, newest last. A
    piece hides those below it, unless only its strides are known. Values are numbered in the order in which they are
    made, so the number of a value tells when it was written.

    Cost: a write or a question takes time for the segments that it touches, and their search among all others.
    """

    def __init__(self) -> None:
        self._starts = [_START]
        self._segments: list[tuple[Piece, ...]] = [()]
        self._log: list[Piece] = []
        self._log_begins = 0
        self.latest = 0
        """The newest value."""
        self._ground: int | None = None
        """What stood everywhere before the first write; None if several values did."""
        self._first = 1 << 62
        """The value that the first write made."""
        self.explained: dict[int, tuple[int, ...]] = {}
        """Which pieces made up a value that was read, by their values."""
        self.views: dict[Any, tuple[int, int]] = {}
        """The value that tensors of one geometry read last, and the newest value at that time."""

    def add(self, value: int, region: Region, call: Any = None) -> None:
        """Note that a region was written."""
        piece = Piece(value, region, call, value)
        self._log.append(piece)
        self.latest = max(self.latest, value)
        self._first = min(self._first, value)
        if region.exact:
            for start, stop in region.runs:
                self._cover(piece, start, stop)
            return
        for start, stop in region.runs:
            first, last = self._split(start), self._split(stop)
            for position in range(first, last):
                kept = [held for held in self._segments[position] if held.region != region]
                self._segments[position] = (*kept, piece)

    def fill(self, value: int, start: int, stop: int) -> None:
        """Note what stood where nothing is known to have been written."""
        piece = Piece(value, Region(((start, stop),)), None, 0, True)
        self._ground = value if self._starts == [_START] else None
        for position in range(self._split(start), self._split(stop)):
            held = self._segments[position]
            if not held or not held[0].region.exact:
                self._segments[position] = (piece, *held)

    def lay(self, value: int, region: Region) -> None:
        """Note what stood in a region before all writes; it hides no others that stood there too."""
        self._ground = None
        piece = Piece(value, region, None, 0)
        for start, stop in region.runs:
            first, last = self._split(start), self._split(stop)
            for position in range(first, last):
                held = self._segments[position]
                stood = [other for other in held if not other.time]
                if not held or stood or not held[0].region.exact:
                    laid = [other for other in stood if not other.rest]
                    self._segments[position] = (*laid, piece, *held[len(stood) :])

    def clear(self, start: int, stop: int) -> None:
        """Forget what stood in a memory that is gone."""
        first, last = self._split(start), self._split(stop)
        self._starts[first:last], self._segments[first:last] = [start], [()]

    def move(self, other: Writes, start: int, stop: int, shift: int) -> None:
        """Take over what stands in a part of another memory, at an address that is higher by `shift`."""
        for low, high, held in other._pieces((start, stop)):
            first = self._split(low + shift)
            last = self._split(high + shift)
            pieces = tuple(_moved(piece, shift) for piece in held)
            self._starts[first:last], self._segments[first:last] = [low + shift], [pieces]
        self.explained.update(other.explained)
        self.latest = max(self.latest, other.latest)
        self._log, self._log_begins = [], self.latest

    def parts(self, region: Region, value: int, time: float) -> tuple[list[int], list[Any]] | None:
        """Return the values that make up what lies in a region, and the calls that made the new ones.

        They are the value that was read last and what was written since, unless some of what that value was made of is
        gone. None if nothing was written since.

        Args:
            region: bytes that are read.
            value: what was read there last.
            time: newest write that it takes account of.
        """
        new, whole = self.since(region, time)
        if not new:
            return None
        parts = [piece.value for piece in new] if whole else [value, *[piece.value for piece in new]]
        exact = self.within(region) if len(parts) > 1 else None
        if exact:
            left = set(exact)
            if whole or not left.issuperset(self._made_of(value)):
                parts = exact
            else:
                parts = [value, *[part for part in parts[1:] if part in left]]
        return parts, [piece.call for piece in new]

    def _made_of(self, value: int) -> tuple[int, ...]:
        """Return the pieces that made up a value; one read before all writes was what stood everywhere."""
        if self._ground is not None and value < self._first:
            return (self._ground,)
        return self.explained.get(value, (value,))

    def read(self, value: int, region: Region, like: Any) -> None:
        """Note that a value is what lies in a region now, and so of which pieces it is made.

        Args:
            value: made of those pieces.
            region: the bytes that were read.
            like: what tensors have in common that would read the same; None if it cannot be told.
        """
        exact = self.within(region)
        if exact:
            self.explained[value] = tuple(exact)
        if like is not None:
            self.views[like] = (value, self.latest)

    def since(self, region: Region, time: float) -> tuple[list[Piece], bool]:
        """Return the pieces in a region that are newer than a time, in order, and whether they cover all of it."""
        log, count = self._log, 0
        while count < min(len(log), SHORT) and log[-1 - count].time > time:
            count += 1
        if count == SHORT or time < self._log_begins:
            return self._newer(region, time)
        found: list[Piece] = []
        for piece in log[len(log) - count :]:
            touched = overlap(piece.region, region)
            if touched == WHOLE:
                found = [piece]
            elif touched != APART:
                found.append(piece)
        return found, bool(found) and overlap(found[0].region, region) == WHOLE

    def _newer(self, region: Region, time: float) -> tuple[list[Piece], bool]:
        found: dict[int, Piece] = {}
        covered = region.exact
        for pieces, hidden in self._visible(region):
            new = [piece for piece in pieces if piece.time > time]
            found.update((piece.value, piece) for piece in new)
            covered = covered and hidden and len(new) == len(pieces)
        return [found[key] for key in sorted(found)], covered and bool(found)

    def within(self, region: Region, most: int = MOST_PARTS) -> list[int] | None:
        """Return the values of all pieces in a region, in order; None if there are more than `most`."""
        found: set[int] = set()
        visits = 4 * most + 2 * len(region.runs)
        for pieces, _ in self._visible(region):
            found.update(piece.value for piece in pieces)
            visits -= 1
            if len(found) > most or not visits:
                return None
        return sorted(found)

    def within_span(self, start: int, stop: int) -> bool:
        """Whether anything is known of a span of bytes."""
        return any(held for _, _, held in self._pieces((start, stop)))

    # ---- segments

    def _visible(self, region: Region) -> Iterator[tuple[list[Piece], bool]]:
        """Yield for each segment the pieces in it that belong to the region, and whether they hide what is below."""
        for run in region.runs:
            for low, high, held in self._pieces(run):
                if not region.exact and overlap(Region(((low, high),), True, high - low), region) == APART:
                    continue
                pieces, hidden = [], False
                for piece in reversed(held):
                    touched = WHOLE if piece.region.exact else overlap(piece.region, region)
                    if touched == APART:
                        continue
                    pieces.append(piece)
                    if touched == WHOLE and piece.time:
                        hidden = True
                        break
                yield pieces, hidden

    def _pieces(self, run: Run) -> Iterator[tuple[int, int, tuple[Piece, ...]]]:
        """Yield the segments in a run of bytes, cut off at its ends."""
        start, stop = run
        starts, count = self._starts, len(self._starts)
        position = bisect_right(starts, start) - 1
        while position < count and starts[position] < stop:
            end = starts[position + 1] if position + 1 < count else stop
            yield max(starts[position], start), min(end, stop), self._segments[position]
            position += 1

    def _cover(self, piece: Piece, start: int, stop: int) -> None:
        first, last = self._split(start), self._split(stop)
        self._starts[first:last], self._segments[first:last] = [start], [(piece,)]

    def _split(self, address: int) -> int:
        """Let a segment begin at an address, and return its position."""
        position = bisect_right(self._starts, address) - 1
        if self._starts[position] == address:
            return position
        self._starts.insert(position + 1, address)
        self._segments.insert(position + 1, self._segments[position])
        return position + 1


def _moved(piece: Piece, shift: int) -> Piece:
    old = piece.region
    runs = tuple((start + shift, stop + shift) for start, stop in old.runs)
    region = Region(runs, old.exact, old.block, old.steps)
    return Piece(piece.value, region, piece.call, piece.time, piece.rest)
