"""Uses of values to edges between boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends.arrows import ADDED, CARRIED, DASHED, PLAIN, REMOVED, STATE, Arrows
from trec.backends.bundles import bundles
from trec.backends.changes import change_of_uses, shows_diff
from trec.backends.drawing import Arrow, Edges, Stroke
from trec.backends.edge_words import edge_words
from trec.backends.rooms import lengths
from trec.backends.several_runs import partial_uses
from trec.backends.tensor_boxes import readers_of, through_tensors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.backends.boxes import Painter
    from trec.backends.bundles import Bundles
    from trec.backends.drawing import Boxes
    from trec.backends.nesting import Nesting
    from trec.backends.options import Shapes, Tensors
    from trec.backends.themes import Theme
    from trec.ir.graph import Graph

_CHANGED: dict[str | None, int] = {"added": ADDED, "removed": REMOVED}


def connect(
    graph: Graph,
    painter: Painter,
    boxes: Boxes,
    box_of: Sequence[int],
    nesting: Nesting,
    *,
    shapes: Shapes,
    tensors: Tensors,
) -> tuple[Boxes, Edges]:
    """Return the boxes and the edges, each pair of boxes joined once.

    With `tensors="nodes"` a box is added for each tensor that an operator or module hands on.
    """
    arrows = Arrows(graph)
    shared = {box_of[leader] for leader in painter.plan.merged.values()}
    found = bundles(graph, boxes, box_of, shared, painter.types, arrows.uses(painter.types))
    strokes = _strokes(graph, found, box_of)
    if tensors == "nodes":
        by_pair = {(found.sources[edge], found.targets[edge]): stroke for edge, stroke in strokes.items()}
        readers = readers_of(graph, box_of, found.origin)
        boxes, found = through_tensors(painter, boxes, nesting, found.origin, readers, by_pair, arrows)
    else:
        words = edge_words(graph, found, boxes, nesting, painter.types, painter.shapes, shapes)
        state = bytearray(len(boxes) + 1)  # one more for the box -1
        for kind in STATE:
            for index in graph.of_kind.get(kind, ()):
                state[box_of[index]] = 1
        state.pop()
        arrows.vary(found, strokes, words, lengths(found, state, boxes.clusters))
    _carry(graph, found, arrows, box_of)
    names = [value.name for value in graph.values]
    return boxes, Edges(tuple(arrows), found.arrows, names, found.values, found.sources, found.targets)


def strokes(graph: Graph, theme: Theme) -> tuple[Stroke, ...]:
    """Return what edges are drawn with."""
    found = [Stroke(theme.edge), Stroke(theme.edge, "dashed"), Stroke(theme.carried, "dashed")]
    if shows_diff(graph):
        found += [Stroke(theme.changes["added"].border), Stroke(theme.changes["removed"].border, "dashed")]
    return tuple(found)


def _strokes(graph: Graph, found: Bundles, box_of: Sequence[int]) -> dict[int, int]:
    """Return the strokes of edges that are not plain: by way of the host, not in all runs, added or removed."""
    hosts = {box_of[index] for index in graph.of_kind.get("host", ())}
    partial = partial_uses(graph, box_of, found.origin)
    changes = change_of_uses(graph, box_of, found.origin) if shows_diff(graph) else {}
    if not (hosts or partial or changes):
        return {}
    strokes: dict[int, int] = {}
    for edge, pair in enumerate(zip(found.sources, found.targets, strict=True)):
        stroke = PLAIN if hosts.isdisjoint(pair) and pair not in partial else DASHED
        stroke = _CHANGED.get(changes.get(pair), stroke)
        if stroke != PLAIN:
            strokes[edge] = stroke
    return strokes


def _carry(graph: Graph, found: Bundles, arrows: Arrows, box_of: Sequence[int]) -> None:
    """Add an edge for each pair of boxes between which a loop carries something."""
    arrow = arrows.add(Arrow("", "", CARRIED, main=False))
    joined: set[tuple[int, int]] = set()
    for carried in graph.carried:
        source, target = found.origin[carried.value], box_of[carried.node]
        if source >= 0 and target >= 0 and (source, target) not in joined:
            joined.add((source, target))
            found.add(source, target, carried.value, arrow)
