"""How far along the flow everything in a scope stands: one layer after the other, but no taller than it must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.layout.routing import ARC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.layout.placement import Joint
    from trec.layout.ranks import Layers
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
        self.between: list[list[Joint]] = [[] for _ in layers.rows]
        for joint in joints:
            self.between[layers.layer[joint.upper]].append(joint)
        self.texts = {layers.layer[vertex] for vertex in layers.labels}
        self.tops: list[float] = []
        self.bottoms: list[float] = []
        self.middles: dict[int, float] = {}

    def bands(self) -> Bands:
        """Return the outcome."""
        along = 0.0
        for index, row in enumerate(self.layers.rows):
            solid = [vertex for vertex in row if vertex in self.height]
            raised = self._raise(index, solid) if index else set()
            height = max([self.height[vertex] for vertex in solid if vertex not in raised], default=0.0)
            for vertex in solid:
                if vertex not in raised:
                    own = self.height[vertex]
                    self.middles[vertex] = along + (own if height > _TALL else height) / 2
            self.tops.append(along)
            along += height
            self.bottoms.append(along)
            if index < len(self.layers.rows) - 1:
                steepest = max([self._moved(joint) for joint in self.between[index]], default=0.0)
                along += max(self._room(index), min(_FLAT, _STEEP * steepest))
        return Bands(self.tops, self.bottoms, self.middles)

    def _room(self, index: int) -> float:
        """Return the least room between a layer and the next."""
        if index + 1 in self.texts:
            return _TEXT
        if index in self.texts:
            return _BELOW_TEXT
        if index == 0 and self.layers.entries:
            return _ENTER
        return _LEAVE if self.layers.exits and index + 2 == len(self.layers.rows) else _BETWEEN

    def _moved(self, joint: Joint) -> float:
        """Return how far sideways a segment goes."""
        return abs(self.across[joint.upper] + joint.leaves - self.across[joint.lower] - joint.arrives)

    def _raise(self, index: int, solid: list[int]) -> set[int]:
        """Place what fits beside something tall in a layer before, straight below what leads to it, and return it."""
        tall = next((one for one in (index - 1, index - 2) if one >= 0 and self._is_tall(one)), -1)
        if tall < 0 or (tall == index - 2 and index - 1 not in self.texts):
            return set()
        leaving: dict[int, int] = {}
        arriving: dict[int, list[Joint]] = {}
        for joint in self.between[index - 1]:
            leaving[joint.upper] = leaving.get(joint.upper, 0) + 1
            arriving.setdefault(joint.lower, []).append(joint)
        raised = set()
        for vertex in solid:
            joints = arriving.get(vertex, [])
            if len(joints) != 1 or leaving[joints[0].upper] != 1 or self._moved(joints[0]) > 0.01:
                continue
            upper = joints[0].upper
            if upper not in self.middles or self.middles[upper] > self.bottoms[tall]:
                continue
            start = self.middles[upper] + self.height[upper] / 2 + self._room(index - 1)
            start = max(start, self.tops[tall])
            if start + self.height[vertex] <= self.bottoms[tall] and self._is_free(vertex, upper, tall, index):
                raised.add(vertex)
                self.middles[vertex] = start + self.height[vertex] / 2
        return raised

    def _is_tall(self, index: int) -> bool:
        return self.bottoms[index] - self.tops[index] > _TALL

    def _is_free(self, vertex: int, upper: int, first: int, index: int) -> bool:
        """Tell whether nothing but what leads to a vertex is in its column, in the layers before its own."""
        half = self.width[vertex] / 2 + 6
        left, right = self.across[vertex] - half, self.across[vertex] + half
        for row in self.layers.rows[first:index]:
            for other in row:
                reach = self.width.get(other, 0.0) / 2
                if self.across[other] - reach < right and self.across[other] + reach > left and other != upper:
                    source = self._source(upper)
                    if other != source:
                        return False
        return True

    def _source(self, vertex: int) -> int:
        """Return what leads straight to a text."""
        for joint in self.between[self.layers.layer[vertex] - 1] if self.layers.layer[vertex] else ():
            if joint.lower == vertex:
                return joint.upper
        return -1
