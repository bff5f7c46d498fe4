"""A long scope in several columns beside one another.

What would be one strip is cut between layers, where few nets pass. Each net that is cut goes round: below its column,
up between the two, and down into the next.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from trec.layout.routing import ARC, LEVEL, Line, simplified

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.layout.diagram import Point, Size
    from trec.layout.scope import Content
    from trec.layout.shape import Shape

_BESIDE = 12.0
"""Room between a column and the nets beside it, in points, as all lengths here."""
_TRACK = 8.0
"""Room between two nets that go up side by side."""
_CLOSE = 0.02
_NEAR = 0.3
"""How far from its best place a cut may be where few nets pass, in parts of a column."""
_FAR = 0.7
"""How far from its best place a cut may be at all."""


class Gap(NamedTuple):
    """Room between two layers, where a cut may be."""

    start: float
    end: float


class _Strand(NamedTuple):
    """A net where it is cut."""

    net: int
    before: float
    """Where it leaves the column above, before that is moved."""
    behind: float
    """Where it goes on in the next, before that is moved."""


def in_columns(
    content: Content, shapes: Sequence[Shape], texts: dict[int, Size], gaps: Sequence[Gap], limit: float
) -> Content:
    """Return a scope in columns; unchanged if it is no longer than one may be.

    Args:
        content: the scope as one strip.
        shapes: its members.
        texts: room across and along the flow for the text of each net that has one here.
        gaps: where nothing but nets is, in order.
        limit: wanted length of a column, along the flow.
    """
    cuts = _cuts(content, gaps, limit) if 0 < limit < content.height else []
    return _Fold(content, shapes, texts, cuts).content() if cuts else content


def _cuts(content: Content, gaps: Sequence[Gap], limit: float) -> list[Gap]:
    """Return gaps that make columns of much the same length, near those places where fewest nets pass."""
    count = ceil(content.height / limit)
    length = content.height / count
    cuts: list[Gap] = []
    for number in range(1, count):
        wanted = number * length
        least = cuts[-1].end if cuts else 0.0
        later = [gap for gap in gaps if abs(gap.start - wanted) <= _FAR * length and gap.start > least]
        near = [gap for gap in later if abs(gap.start - wanted) <= _NEAR * length]
        if near:
            cuts.append(min(near, key=lambda gap: (len(_strands(content, gap)), abs(gap.start - wanted))))
        elif later:
            cuts.append(min(later, key=lambda gap: abs(gap.start - wanted)))
    return cuts


def _strands(content: Content, cut: Gap) -> list[_Strand]:
    """Return the nets that pass a gap, from left to right."""
    found: dict[_Strand, None] = {}
    for net, ways in enumerate(content.lines):
        for line in ways.values():
            for (x, y), (to_x, to_y) in pairwise(line):
                if y <= cut.start + _CLOSE and to_y >= cut.end - _CLOSE:
                    found[_Strand(net, x, to_x)] = None
                elif to_y <= cut.start + _CLOSE and y >= cut.end - _CLOSE:
                    found[_Strand(net, to_x, x)] = None
    return sorted(found, key=lambda strand: (strand.before, strand.behind, strand.net))


class _Fold:
    """Cut one scope and put the columns beside one another."""

    def __init__(self, content: Content, shapes: Sequence[Shape], texts: dict[int, Size], cuts: list[Gap]) -> None:
        self.strip, self.shapes, self.texts, self.cuts = content, shapes, texts, cuts
        self.strands = [_strands(content, cut) for cut in cuts]
        self.shifts: list[Point] = []
        """How far each column moves."""
        self.bottoms: list[float] = []
        """Where each column ends then."""
        self.tops: list[float] = []
        self.gutters: list[float] = []
        """Where the first net goes up behind each column but the last."""
        self._place()

    def _place(self) -> None:
        spans = self._spans()
        starts = [0.0, *[cut.end for cut in self.cuts]]
        ends = [*[cut.start for cut in self.cuts], self.strip.height]
        across = 0.0
        for index, (left, right) in enumerate(spans):
            top = self._turn(index - 1) if index else 0.0
            self.tops.append(top)
            self.shifts.append((across - left, top - starts[index]))
            self.bottoms.append(top + ends[index] - starts[index])
            across += right - left + _BESIDE
            if index < len(self.cuts):
                self.gutters.append(across)
                across += _TRACK * (len(self.strands[index]) - 1) + _BESIDE
        self.width = across - _BESIDE
        rooms = [
            bottom + (self._turn(index) if index < len(self.cuts) else 0.0) for index, bottom in enumerate(self.bottoms)
        ]
        self.height = max(rooms)

    def _turn(self, cut: int) -> float:
        """Return the room that nets need to turn at the end of a column."""
        return ARC + LEVEL * len(self.strands[cut])

    def _spans(self) -> list[tuple[float, float]]:
        """Return how far each column reaches to the left and to the right."""
        found: list[tuple[float, float]] = [(float("inf"), float("-inf"))] * (len(self.cuts) + 1)

        def widen(y: float, left: float, right: float) -> None:
            column = self._column(y)
            found[column] = (min(found[column][0], left), max(found[column][1], right))

        for (x, y), shape in zip(self.strip.centres, self.shapes, strict=True):
            widen(y, x - shape.width / 2, x + shape.width / 2 + shape.loop)
        for net, (x, y) in self.strip.labels.items():
            half = self.texts[net][0] / 2
            widen(y, x - half, x + half)
        for ways in self.strip.lines:
            for line in ways.values():
                for x, y in line:
                    widen(y, x, x)
        return [span if span[0] <= span[1] else (0.0, 0.0) for span in found]

    def _column(self, y: float) -> int:
        return sum([y > cut.start + _CLOSE for cut in self.cuts])

    def _moved(self, point: Point) -> Point:
        x, y = self.shifts[self._column(point[1])]
        return (point[0] + x, point[1] + y)

    def content(self) -> Content:
        """Return the outcome."""
        lines = []
        for net, ways in enumerate(self.strip.lines):
            found = {}
            for end, line in ways.items():
                points = self._rerouted(net, line)
                if end < 0:
                    points.append((points[-1][0], self.height))
                found[end] = simplified(points)
            lines.append(found)
        return replace(
            self.strip,
            width=self.width,
            height=self.height,
            centres=[self._moved(centre) for centre in self.strip.centres],
            into=[x + self.shifts[0][0] for x in self.strip.into],
            out=[x + self.shifts[-1][0] for x in self.strip.out],
            lines=lines,
            labels={net: self._moved(point) for net, point in self.strip.labels.items()},
        )

    def _rerouted(self, net: int, line: Line) -> list[Point]:
        """Return a way that goes round wherever it is cut."""
        points = [self._moved(line[0])]
        for (x, y), (to_x, to_y) in pairwise(line):
            for index, cut in enumerate(self.cuts):
                if y <= cut.start + _CLOSE and to_y >= cut.end - _CLOSE:
                    points += self._round(index, self.strands[index].index(_Strand(net, x, to_x)))
            for index, cut in reversed(list(enumerate(self.cuts))):
                if to_y <= cut.start + _CLOSE and y >= cut.end - _CLOSE:
                    points += reversed(self._round(index, self.strands[index].index(_Strand(net, to_x, x))))
            points.append(self._moved((to_x, to_y)))
        return points

    def _round(self, cut: int, position: int) -> list[Point]:
        """Return the points by which a net goes from the end of one column to the beginning of the next.

        The outer of two nets below a column is the inner one above the next, so that none crosses another.
        """
        strand, last = self.strands[cut][position], len(self.strands[cut]) - 1 - position
        start, end = strand.before + self.shifts[cut][0], strand.behind + self.shifts[cut + 1][0]
        between = self.gutters[cut] + _TRACK * last
        low = self.bottoms[cut] + LEVEL * (last + 1)
        high = self.tops[cut + 1] - LEVEL * (position + 1)
        return [(start, low), (between, low), (between, high), (end, high)]
