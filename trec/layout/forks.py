"""Where the wires of one net part, so that what they share is drawn once and looks like one line."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.layout.diagram import Point, Wire
    from trec.layout.routing import Line


def forked(wires: Sequence[Wire], routes: Sequence[Line], *, sideways: bool = False) -> list[Line]:
    """Return each route from where it leaves those of its net that precede it; the last piece of each is there.

    Args:
        wires: the wires.
        routes: the points that each passes.
        sideways: whether the flow goes from side to side rather than up or down.

    Example:
        >>> from trec.layout.diagram import Wire
        >>> wires = [Wire(0, 1, 0), Wire(0, 2, 0)]
        >>> forked(wires, [((0, 0), (0, 9), (5, 19)), ((0, 0), (0, 40))])
        [((0, 0), (0, 9), (5, 19)), ((0, 9), (0, 40))]
    """
    nets: dict[int, _Drawn] = {}
    across = 1 if sideways else 0
    return [nets.setdefault(wire.net, _Drawn(across)).rest(line) for wire, line in zip(wires, routes, strict=True)]


class _Drawn:
    """What is drawn of one net."""

    def __init__(self, across: int) -> None:
        self.across = across
        self.ends: dict[tuple[Point, bool], Point] = {}
        """How far a straight piece reaches, by where it begins and whether it goes on from there or back."""
        self.curves: set[tuple[Point, Point]] = set()

    def rest(self, line: Line) -> Line:
        """Return what is not drawn yet of a line, and take it as drawn."""
        last = len(line) - 2
        found: list[Point] = []
        for index, (one, other) in enumerate(pairwise(line)):
            known = self._add(one, other)
            if found:
                found.append(other)
            elif known != other:
                found = [known, other]
            elif index == last:
                found = [one, other]
        return tuple(found)

    def _add(self, one: Point, other: Point) -> Point:
        """Take a piece as drawn, and return up to where it was already: its end, its beginning, or between them."""
        if one[self.across] != other[self.across]:
            known = (one, other) in self.curves
            self.curves.add((one, other))
            return other if known else one
        along = 1 - self.across
        key = (one, other[along] > one[along])
        before = self.ends.get(key, one)
        if abs(before[along] - one[along]) >= abs(other[along] - one[along]):
            return other
        self.ends[key] = other
        return before
