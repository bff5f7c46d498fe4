"""One scope laid out: where its members stand and what way the nets between them take.

Everything here runs downwards; `trec.layout.arrange` turns the outcome for other directions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.layout.alignment import align
from trec.layout.columns import Gap, in_columns
from trec.layout.diagram import Point
from trec.layout.joints import joints_of, spread, springs
from trec.layout.layers import Layers, layered
from trec.layout.ordering import order
from trec.layout.placement import place
from trec.layout.routing import Line, lines
from trec.layout.stacking import stack

if TYPE_CHECKING:
    from trec.layout.nesting import Net
    from trec.layout.shape import Shape
    from trec.layout.stacking import Bands

BESIDE = 8.0
"""Half the room between two boxes of one layer, in points, as all lengths here."""
_LANE = 5.0
"""Half the room beside a net that passes a layer."""


class Content(Struct):
    """A scope laid out, seen from its top left corner, without its frame."""

    width: float
    height: float
    length: int
    """How many layers it has."""
    centres: list[Point]
    """Centre of each member."""
    into: list[float]
    """Where each net enters at the top."""
    out: list[float]
    """Where each net leaves at the bottom."""
    into_ways: list[int]
    """For each net that enters, how many layers the longest way from there passes."""
    out_ways: list[int]
    """For each net that leaves, how many layers the longest way to there passes."""
    lines: list[dict[int, Line]]
    """For each net, the way to each member that it leads to; under -1 that out of the scope."""
    labels: dict[int, Point]
    """For each net with a text in this scope, the centre of the text."""
    crossings: int


def lay_out(
    nets: tuple[Net, ...],
    shapes: tuple[Shape, ...],
    entries: tuple[int, ...] = (),
    *,
    sideways: bool = False,
    wrap: float = 0,
) -> Content:
    """Return a scope laid out.

    Args:
        nets: what runs between the members.
        shapes: the members in the order in which they run.
        entries: the nets that enter, in the order in which they are put at first; empty for the inner ones first.
        sideways: whether the outcome will be turned, so that texts stand over nets rather than beside them.
        wrap: wanted length of a column; 0 for one column of any length.
    """
    first = frozenset([index for index, shape in enumerate(shapes) if shape.first])
    layers = layered(shapes, nets, first)
    if entries:
        entering = [layers.entries[position] for position in entries]
        layers.rows[0] = [*entering, *[vertex for vertex in layers.rows[0] if vertex not in entering]]
    joints = joints_of(layers, shapes)
    widths = [max(shape.width, 1.0) for shape in shapes]
    order(layers, joints, widths)
    straight = align(layers)
    joints = spread(layers, shapes, joints, straight)
    extents = _extents(layers, shapes, sideways=sideways)
    gaps = [BESIDE if vertex < layers.members else _LANE for vertex in range(len(layers.layer))]
    across = place(layers, joints, straight, extents, gaps, springs(layers))
    left = min([x - extent[0] for x, extent in zip(across, extents, strict=True)], default=0.0)
    right = max([x + extent[1] for x, extent in zip(across, extents, strict=True)], default=0.0)
    across = [x - left for x in across]
    bands = stack(layers, shapes, joints, across, sideways=sideways)
    centres = [(across[member], bands.middles[member]) for member in range(layers.members)]
    labels = _texts(layers, nets, across, bands, sideways=sideways)
    content = Content(
        right - left,
        bands.bottoms[-1] if bands.bottoms else 0.0,
        len(layers.rows),
        centres,
        [across[vertex] for vertex in layers.entries],
        [across[vertex] for vertex in layers.exits],
        layers.entry_ways,
        layers.exit_ways,
        lines(layers, nets, shapes, joints, across, bands),
        labels,
        layers.crossings,
    )
    if not wrap:
        return content
    texts = {index: nets[index].label or (0.0, 0.0) for index in labels}
    if sideways:
        texts = {index: (height, width) for index, (width, height) in texts.items()}
    return in_columns(content, shapes, texts, _gaps(layers, bands), wrap)


def _texts(
    layers: Layers, nets: tuple[Net, ...], across: list[float], bands: Bands, *, sideways: bool
) -> dict[int, Point]:
    """Return the centre of the text of each net that has one here: right of the net, or over it."""
    found = {}
    for index, net in enumerate(nets):
        if net.label is not None:
            vertex = layers.chains[index][-2 if net.back else 0]
            x, y = across[vertex], bands.middles[vertex]
            width, height = net.label
            found[index] = (x - 2 - height / 2, y) if sideways else (x + 4 + width / 2, y)
    return found


def _gaps(layers: Layers, bands: Bands) -> list[Gap]:
    """Return where a scope may be cut: between layers with room between them, and not between a net and its text."""
    gaps = [Gap(bottom, top) for bottom, top in zip(bands.bottoms, bands.tops[1:], strict=False)]
    return [gap for index, gap in enumerate(gaps) if index + 1 not in layers.texts and gap.end - gap.start > 1]


def _extents(layers: Layers, shapes: tuple[Shape, ...], *, sideways: bool) -> list[tuple[float, float]]:
    """Return how far each vertex reaches to the left and to the right."""
    extents = [(shape.width / 2, shape.width / 2 + shape.loop) for shape in shapes]
    extents += [(0.0, 0.0)] * (len(layers.layer) - layers.members)
    for vertex, (width, height) in layers.labels.items():
        extents[vertex] = (height + 2.0, 0.0) if sideways else (0.0, width + 4.0)
    return extents
