"""How far along the flow everything in a scope stands: one layer after the other, but no taller than it must be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

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
    """Where layers and members are along the flow."""

    tops: list[float]
    """Where each layer begins."""
    bottoms: list[float]
    """Where each layer ends; curves run between that and the next top."""
    middles: list[float]
    """For each member, its centre."""


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
        A member stands in its own layer, or beside a tall member of the layer before, straight below what leads to it.
    """
    between: list[list[Joint]] = [[] for _ in layers.rows]
    for joint in joints:
        between[layers.layer[joint.upper]].append(joint)
    texts = {layers.layer[vertex] for vertex in layers.labels}
    bands = Bands([], [], [0.0] * layers.members)
    along = 0.0
    last = len(layers.rows) - 1
    for index, row in enumerate(layers.rows):
        members = [vertex for vertex in row if vertex < layers.members]
        raised = _raised(layers, shapes, between, across, bands, index) if index else set()
        bands.tops.append(along)
        if index in texts:
            height = max([layers.labels[vertex][0 if sideways else 1] for vertex in row if vertex in layers.labels])
        else:
            height = max([shapes[vertex].height for vertex in members if vertex not in raised], default=0.0)
        for vertex in members:
            if vertex not in raised:
                own = shapes[vertex].height
                bands.middles[vertex] = along + (own if height > _TALL and own < height / 2 else height) / 2
        along += height
        bands.bottoms.append(along)
        if index < last:
            steepest = max([_moved(joint, across) for joint in between[index]], default=0.0)
            along += max(_room(layers, texts, index), min(_FLAT, _STEEP * steepest))
    return bands


def _room(layers: Layers, texts: set[int], index: int) -> float:
    """Return the least room between a layer and the next."""
    if index + 1 in texts:
        return _TEXT
    if index in texts:
        return _BELOW_TEXT
    if index == 0 and layers.entries:
        return _ENTER
    return _LEAVE if layers.exits and index + 2 == len(layers.rows) else _BETWEEN


def _moved(joint: Joint, across: Sequence[float]) -> float:
    """Return how far sideways a segment goes."""
    return abs(across[joint.upper] + joint.leaves - across[joint.lower] - joint.arrives)


def _raised(
    layers: Layers,
    shapes: Sequence[Shape],
    between: list[list[Joint]],
    across: Sequence[float],
    bands: Bands,
    index: int,
) -> set[int]:
    """Place the members of a layer that fit beside a tall one of the layer before, and return them."""
    top, bottom = bands.tops[index - 1], bands.bottoms[index - 1]
    if bottom - top <= _TALL:
        return set()
    raised = set()
    for vertex in layers.rows[index]:
        if vertex >= layers.members:
            continue
        into = [joint for joint in between[index - 1] if joint.lower == vertex]
        if len(into) != 1 or _moved(into[0], across) > 0.01 or into[0].upper >= layers.members:
            continue
        upper = into[0].upper
        start = max(bands.middles[upper] + shapes[upper].height / 2 + _BETWEEN, top)
        half = max(shapes[vertex].width / 2, shapes[upper].width / 2) + 4
        left, right = across[vertex] - half, across[vertex] + half
        free = start + shapes[vertex].height <= bottom and not any(
            _overlaps(across[other], shapes[other].width / 2 if other < layers.members else 0.0, left, right)
            for other in layers.rows[index - 1]
            if other != upper
        )
        if free:
            raised.add(vertex)
            bands.middles[vertex] = start + shapes[vertex].height / 2
    return raised


def _overlaps(middle: float, half: float, left: float, right: float) -> bool:
    return middle - half < right and middle + half > left

