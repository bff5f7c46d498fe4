"""What each part of a memory holds, after any number of writes to any of its parts."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from trec.capture.values.lanes import Lanes, lane_of
from trec.capture.values.regions import APART, WHOLE, Region, overlap, touches
from trec.capture.values.segments import Segments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_PARTS = 64
"""What lies in more parts is not told apart: a tensor is read with all that it held before."""
MOST_LANES = 16
"""So many kinds of parallel regions are told apart; the pieces of others are held against every read."""
SHORT = 32


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
        self._segments = Segments()
        self._lanes: dict[Any, Lanes] = {}
        self._log: list[Piece] = []
        self._log_begins = 0
        self.latest = 0
        """The newest value."""
        self._ground: int | None = None
        """What stood everywhere before the first write; None if several values did."""
        self._first = 1 << 62
        """The value that the first write made."""
        self._known = False
        self.explained: dict[int, tuple[int, ...]] = {}
        """Which pieces made up a value that was read, by their values."""
        self.views: dict[Any, tuple[int, int]] = {}
        """The value that tensors of one geometry read last, and the newest value at that time."""

    def add(self, value: int, region: Region, call: Any = None) -> None:
        """Note that a region was written."""
        piece = Piece(value, region, call, value)
        self._log.append(piece)
        self.latest = max(self.latest, value)
        self._first, self._known = min(self._first, value), True
        self._place(piece)

    def fill(self, value: int, start: int, stop: int) -> None:
        """Note what stood where nothing is known to have been written."""
        piece = Piece(value, Region(((start, stop),)), None, 0, True)
        self._ground, self._known = None if self._known else value, True
        self._segments.change(start, stop, lambda held: held if held and held[0].region.exact else (piece, *held))

    def lay(self, value: int, region: Region) -> None:
        """Note what stood in a region before all writes; it hides no others that stood there too."""
        piece = Piece(value, region, None, 0)
        self._ground, self._known = None, True

        def laid(held: tuple[Piece, ...]) -> tuple[Piece, ...]:
            stood = [other for other in held if not other.time]
            if held and not stood and held[0].region.exact:
                return held
            return (*[other for other in stood if not other.rest], piece, *held[len(stood) :])

        for start, stop in region.runs:
            self._segments.change(start, stop, laid)

    def clear(self, start: int, stop: int) -> None:
        """Forget what stood in a memory that is gone."""
        self._segments.put(start, stop, ())
        self._drop_lanes(start, stop)

    def move(self, other: Writes, start: int, stop: int, shift: int) -> None:
        """Take over what stands in a part of another memory, at an address that is higher by `shift`."""
        for low, high, held in other._segments.pieces((start, stop)):
            self._segments.put(low + shift, high + shift, tuple([_moved(piece, shift) for piece in held]))
        for lanes in other._lanes.values():
            for piece in sorted(lanes.pieces(), key=attrgetter("time")):
                if piece.region.runs[0][0] < stop and start < piece.region.runs[-1][1]:
                    self._place(_moved(piece, shift))
        self._ground, self._known = None, True
        self._first = min(self._first, other._first)
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
        for pieces, hidden in self._visible(region, since=time):
            new = [piece for piece in pieces if piece.time > time]
            found.update((piece.value, piece) for piece in new)
            covered = covered and hidden and len(new) == len(pieces)
        return [found[key] for key in sorted(found)], covered and bool(found)

    def within(self, region: Region, most: int = MOST_PARTS) -> list[int] | None:
        """Return the values of all pieces in a region, in order; None if there are more than `most`."""
        found: set[int] = set()
        visits = 4 * most + 2 * len(region.runs)
        if region.exact and not self._lanes:
            for run in region.runs:
                segments = self._segments.held(run, visits)
                for held in segments:
                    found.update([piece.value for piece in _shown(held, region)])
                    if len(found) > most:
                        return None
                visits -= len(segments)
                if visits <= 0:
                    return None
            return sorted(found)
        for pieces, _ in self._visible(region, most=most):
            found.update([piece.value for piece in pieces])
            visits -= 1
            if len(found) > most or not visits:
                return None
        return sorted(found)

    def within_span(self, start: int, stop: int) -> bool:
        """Whether anything is known of a span of bytes."""
        return any(held for _, _, held in self._segments.pieces((start, stop))) or any(
            lanes.start < stop and start < lanes.stop for lanes in self._lanes.values()
        )

    # ---- segments and lanes

    def _visible(
        self, region: Region, *, most: int | None = None, since: float | None = None
    ) -> Iterator[tuple[list[Piece], bool]]:
        """Yield for each segment the pieces in it that belong to the region, and whether they hide what is below.

        Pieces in lanes come last. One is hidden by segments only if these are newer all over the region.

        Args:
            region: bytes that are read.
            most: more pieces in lanes than these need not be told.
            since: what is not newer than this time need not be told where there is much.
        """
        above = [found for lanes in self._lanes.values() if (found := lanes.read(region, most))[0]]
        hidden_before = max((min(piece.time for piece in pieces) for pieces, whole in above if whole), default=0)
        lowest = 1 << 62
        for run in region.runs:
            touched = self._segments.between(run)
            positions: Sequence[int] = touched
            if since is not None and len(touched) > SHORT:
                positions = self._segments.newer(touched, since)
                if len(positions) < len(touched):
                    lowest = 0
                    yield [], False
            for position in positions:
                low, high, held = self._segments.at(position, run)
                if not region.exact and not touches(low, high, region):
                    continue
                pieces, hidden = _of_segment(held, region)
                lowest = min(lowest, next((piece.time for piece in pieces if piece.region.exact), 0))
                if hidden_before:
                    left = [piece for piece in pieces if piece.time >= hidden_before]
                    pieces, hidden = left, hidden or len(left) < len(pieces)
                if pieces or not hidden:
                    yield pieces, hidden
        for pieces, _ in above:
            if visible := [piece for piece in pieces if piece.time > lowest]:
                yield visible, True

    def _place(self, piece: Piece) -> None:
        region = piece.region
        lane = None if region.exact else lane_of(region)
        if region.exact:
            for start, stop in region.runs:
                self._segments.put(start, stop, (piece,))
                self._drop_lanes(start, stop)
        elif lane is not None and (lane in self._lanes or len(self._lanes) < MOST_LANES):
            if lane not in self._lanes:
                self._lanes[lane] = Lanes(region)
            self._lanes[lane].write(piece)
        else:
            for start, stop in region.runs:
                self._segments.change(start, stop, lambda held: (*[one for one in held if one.region != region], piece))

    def _drop_lanes(self, start: int, stop: int) -> None:
        """Forget the pieces in lanes that are hidden as a whole."""
        if self._lanes:
            gone = [key for key, lanes in self._lanes.items() if start <= lanes.start and lanes.stop <= stop]
            for key in gone:
                del self._lanes[key]


def _shown(held: tuple[Piece, ...], region: Region) -> Sequence[Piece]:
    return held if len(held) == 1 and held[0].region.exact else _of_segment(held, region)[0]


def _of_segment(held: tuple[Piece, ...], region: Region) -> tuple[list[Piece], bool]:
    """Return the pieces of a segment that belong to a region, newest first, and whether they hide what is below."""
    pieces = []
    for piece in reversed(held):
        touched = WHOLE if piece.region.exact else overlap(piece.region, region)
        if touched == APART:
            continue
        pieces.append(piece)
        if touched == WHOLE and piece.time:
            return pieces, True
    return pieces, False


def _moved(piece: Piece, shift: int) -> Piece:
    old = piece.region
    runs = tuple((start + shift, stop + shift) for start, stop in old.runs)
    region = Region(runs, old.exact, old.block, old.steps)
    return Piece(piece.value, region, piece.call, piece.time, piece.rest)
