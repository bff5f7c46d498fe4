"""Writes to regions of many equal runs at one distance, such as the columns of an array."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.capture.values.regions import WHOLE, Region, Run, overlap
from trec.capture.values.segments import Segments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.capture.values.writes import Piece


def lane_of(region: Region) -> Any:
    """Return what parallel regions have in common: their distances and the row they begin in; None if it is no lane."""
    if not region.steps:
        return None
    distance = region.steps[0][0]
    row, phase = divmod(region.runs[0][0], distance)
    if phase + region.block > distance or any(other % distance for other, _ in region.steps):
        return None
    return region.steps, row


class Lanes:
    """The pieces that lie in parallel regions. Within one row each is a single run, so these are told apart there."""

    def __init__(self, region: Region) -> None:
        self.lane = lane_of(region)
        self.distance = region.steps[0][0]
        self.start, self.stop = region.runs[0][0], region.runs[-1][1]
        self.latest = 0
        """When the newest of them was written."""
        self._row = Segments()

    def write(self, piece: Piece) -> None:
        """Note that one of the regions was written; what stood there is gone."""
        first, last = piece.region.runs[0][0], piece.region.runs[-1][1]
        phase = first % self.distance
        self._row.put(phase, phase + piece.region.block, (piece,))
        self.start, self.stop = min(self.start, first), max(self.stop, last)
        self.latest = max(self.latest, piece.time)

    def pieces(self) -> list[Piece]:
        """Return all of them."""
        found = {piece.value: piece for _, _, held in self._row.pieces((0, self.distance)) for piece in held}
        return list(found.values())

    def read(self, region: Region, most: int | None = None) -> tuple[list[Piece], bool]:
        """Return the pieces that lie in a region, and whether they cover it.

        Args:
            region: bytes that are read.
            most: more pieces than these need not be told.
        """
        found: dict[int, Piece] = {}
        dense = len(self.lane[0]) == 1
        inside = self.start <= region.runs[0][0] and region.runs[-1][1] <= self.stop if region.runs else False
        whole = lane_of(region) == self.lane or (dense and region.exact and inside)
        for run in self._runs_in_a_row(region):
            for _, _, held in self._row.pieces(run):
                if not held:
                    whole = False
                    continue
                found[held[0].value] = held[0]
                if most is not None and len(found) > most:
                    return list(found.values()), False
        pieces = list(found.values())
        if len(pieces) == 1:
            whole = whole or overlap(pieces[0].region, region) == WHOLE
        return pieces, whole and bool(pieces)

    def _runs_in_a_row(self, region: Region) -> Iterator[Run]:
        distance = self.distance
        if not region.runs or region.runs[-1][1] <= self.start or self.stop <= region.runs[0][0]:
            return
        phase = region.runs[0][0] % distance
        if not region.exact:
            aligned = region.steps and all(step % distance == 0 for step, _ in region.steps)
            yield (phase, phase + region.block) if aligned and phase + region.block <= distance else (0, distance)
            return
        for start, stop in region.runs:
            low, high = max(start, self.start), min(stop, self.stop)
            if low >= high:
                continue
            phase = low % distance
            end = phase + high - low
            if high - low >= distance:
                yield 0, distance
                return
            yield phase, min(end, distance)
            if end > distance:
                yield 0, end - distance
