"""How far along the flow everything in a scope stands: one layer after the other, but no taller than it must be."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.layout.routing import ARC, LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.layout.joints import Joint
    from trec.layout.layers import Layers
    from trec.layout.shape import Shape

_BETWEEN = 19.0
"""Least room between two layers."""
_ENTER = 12.0
"""Least room before the first layer, where nets enter."""
_LEAVE = 5.0
"""Least room behind the last layer, where nets leave."""
_TALL = 60.0
"""Height of a layer in which small members stand at the top, and later ones may stand beside the tall."""
_TEXT = 4.0
"""Room between a layer and the texts after it."""
_STEEP = 0.16
"""Room between two layers for each point that a net moves sideways there, so that no curve is too flat."""
_STRAIGHT = 0.01
"""Least distance sideways that counts as one."""
_APART = 6.0
"""Room on both sides of what stands beside something tall."""
_BELOW_TEXT = 14.0
"""Room between the texts after a layer and the next one."""
_FLAT = 48.0
"""Most room that is made so."""


class Bands(Struct):
    """Where layers and what is in them are along the flow."""

    tops: list[float]
    """Where each layer begins."""
    bottoms: list[float]
    """Where each layer ends; curves run between that and the next top."""
    middles: dict[int, float]
    """For each member, and each vertex with a text, its centre."""


def stack(
    layers: Layers, shapes: Sequence[Shape], joints: Sequence[Joint], across: Sequence[float], *, sideways: bool
) -> Bands:
    """Return where layers and members are along the flow.

    Args:
        layers: the vertices in layers.
        shapes: sizes of the members.
        joints: one for each segment.
        across: coordinate of each vertex.
        sideways: whether the outcome will be turned, so that texts lie along the flow.

    Ensures:
        A member stands in its own layer, or beside a tall member of an earlier one, straight below what leads to it.
    """
    return _Stack(layers, shapes, joints, across, sideways=sideways).bands()


class _Stack:
    """Put the layers of one scope below one another."""

    def __init__(
        self,
        layers: Layers,
        shapes: Sequence[Shape],
        joints: Sequence[Joint],
        across: Sequence[float],
        *,
        sideways: bool,
    ) -> None:
        self.layers, self.across = layers, across
        self.width = {vertex: shape.width for vertex, shape in enumerate(shapes)}
        self.height = {vertex: shape.height + (2 * ARC if shape.loop else 0.0) for vertex, shape in enumerate(shapes)}
        for vertex, (width, height) in layers.labels.items():
            self.width[vertex], self.height[vertex] = (2 * height, width) if sideways else (2 * width + 8, height)
        self.steepest = [0.0] * len(layers.rows)
        """How far sideways any segment goes between each layer and the next."""
        for joint in joints:
            layer, moved = layers.layer[joint.upper], self._moved(joint)
            if self.steepest[layer] < moved and joint.upper not in layers.turns and joint.lower not in layers.turns:
                self.steepest[layer] = moved
        self.tall = max(self.height.values(), default=0.0) > _TALL
        self.into: list[list[Joint]] = [[] for _ in layers.layer] if self.tall else []
        self.leaving = [0] * len(layers.layer)
        """How many segments begin at each vertex."""
        for joint in joints if self.tall else ():
            self.into[joint.lower].append(joint)
            self.leaving[joint.upper] += 1
        self.turning = Counter(layers.turns.values())
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        self.middles: dict[int, float] = {}
        self.band: dict[int, int] = {}
        """Layer in which each member and each text stands, which is not its own if it was raised."""

    def bands(self) -> Bands:
        """Return the outcome."""
        along = 0.0
        before = -1
        for index, row in enumerate(self.layers.rows):
            solid = [vertex for vertex in row if vertex in self.height]
            raised = self._raise(index, solid) if index and self.tall else set()
            if 0 <= before < index - 1 and len(raised) < len(solid):
                along = max(along, self.bottoms[before] + self._apart(before, index))
            height = max([self.height[vertex] for vertex in solid if vertex not in raised], default=0.0)
            for vertex in solid:
                if vertex not in raised:
                    self.band[vertex] = index
                    own = self.height[vertex]
                    self.middles[vertex] = along + (own if height > _TALL else height) / 2
            self.tops.append(along)
            along += height
            self.bottoms.append(along)
            before = index if len(raised) < len(solid) else before
            if index < len(self.layers.rows) - 1:
                least = self._room(index) if index == 0 or len(raised) < len(solid) else 0.0
                along += max(least, min(_FLAT, _STEEP * self.steepest[index]))
        return Bands(self.tops, self.bottoms, self.middles)

    def _room(self, index: int) -> float:
        """Return the least room between a layer and the next."""
        least = ARC + LEVEL * (self.turning[index] - 1) if index in self.turning else 0.0
        if index + 1 in self.layers.texts:
            return max(_TEXT, least)
        if index in self.layers.texts:
            return max(_BELOW_TEXT, least)
        if index == 0 and not self._holds_members(0):
            return max(_ENTER, least)
        if index + 2 == len(self.layers.rows) and not self._holds_members(index + 1):
            return max(_LEAVE, least)
        return _BETWEEN

    def _holds_members(self, index: int) -> bool:
        """Tell whether a layer holds more than ends of nets."""
        return any(vertex < self.layers.members for vertex in self.layers.rows[index])

    def _apart(self, before: int, index: int) -> float:
        """Return the least room between two layers with nothing in those between them."""
        if before in self.layers.texts:
            return _BELOW_TEXT
        return _TEXT if index in self.layers.texts else _BETWEEN

    def _moved(self, joint: Joint) -> float:
        """Return how far sideways a segment goes."""
        return abs(self.across[joint.upper] + joint.leaves - self.across[joint.lower] - joint.arrives)

    def _raise(self, index: int, solid: list[int]) -> set[int]:
        """Place what fits beside something tall in a layer before, straight below what leads to it, and return it."""
        raised = set()
        for vertex in solid:
            column = self._column(vertex)
            if not column:
                continue
            upper = column[-1]
            band = self._room_beside(vertex, upper, index)
            if band >= 0 and self._is_free(vertex, column, self.band[upper], index):
                raised.add(vertex)
                self.band[vertex] = band
                self.middles[vertex] = self._below(upper, band, index) + self.height[vertex] / 2
        return raised

    def _column(self, vertex: int) -> list[int]:
        """Return what alone leads straight to a vertex, up to the first member or text; empty if nothing does."""
        column: list[int] = []
        while True:
            into = self.into[vertex]
            if len(into) != 1 or self.leaving[into[0].upper] != 1 or self._moved(into[0]) > _STRAIGHT:
                return []
            vertex = into[0].upper
            column.append(vertex)
            if vertex in self.middles:
                return column

    def _room_beside(self, vertex: int, upper: int, index: int) -> int:
        """Return the first layer from that of what leads to a vertex on in which the vertex fits; -1 if in none."""
        for band in range(self.band.get(upper, index), index):
            tall = self.bottoms[band] - self.tops[band] > _TALL
            if tall and self._below(upper, band, index) + self.height[vertex] <= self.bottoms[band]:
                return band
        return -1

    def _below(self, upper: int, band: int, index: int) -> float:
        """Return where something may begin in a layer, below what leads to it."""
        start = self.middles[upper] + self.height[upper] / 2 + self._room(index - 1)
        return max(start, self.tops[band])

    def _is_free(self, vertex: int, column: list[int], first: int, index: int) -> bool:
        """Tell whether nothing but what leads to a vertex is in its column, in the layers before its own."""
        half = self.width[vertex] / 2 + _APART
        left, right = self.across[vertex] - half, self.across[vertex] + half
        leading = {*column, *self._above(column[-1], first)}
        for row in self.layers.rows[first:index]:
            for other in row:
                reach = self.width.get(other, 0.0) / 2
                if self.across[other] - reach < right and self.across[other] + reach > left and other not in leading:
                    return False
        return True

    def _above(self, vertex: int, first: int) -> list[int]:
        """Return what was raised above a vertex, back to a layer."""
        found: list[int] = []
        while self.layers.layer[vertex] > first:
            column = self._column(vertex)
            if not column:
                break
            found += column
            vertex = column[-1]
        return found
