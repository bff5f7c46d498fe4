"""From a graph to a drawing: every decision that all picture backends share is taken here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Unpack

from trec.analysis.sums import Sums
from trec.backends import labels
from trec.backends.boxes import Painter
from trec.backends.drawing import Drawing
from trec.backends.nesting import Nesting
from trec.backends.options import PictureOptions, complete
from trec.backends.plan import plan
from trec.backends.several_runs import mark
from trec.backends.style import chosen
from trec.backends.wires import connect, strokes
from trec.ir.collector import paused
from trec.ir.run_marks import run_names

if TYPE_CHECKING:
    from trec.backends.style import Style
    from trec.ir.graph import Graph


def lower(graph: Graph, **options: Unpack[PictureOptions]) -> Drawing:
    """Return the drawing of a graph.

    Args:
        graph: what to draw.
        **options: see `trec.backends.options.PictureOptions`.

    Raises:
        OptionError: there is no such option, or it has a value that is not allowed.

    Cost: linear in nodes and edges, about 3 µs a node where most are alike, up to three times that where none are.
    """
    wanted = complete(options)
    style = chosen(wanted["style"])
    with paused():
        return _lowered(graph, wanted, style)


def _lowered(graph: Graph, wanted: PictureOptions, style: Style) -> Drawing:
    params, tensors = wanted["params"], wanted["tensors"]
    shown = plan(graph, params=dict(graph.meta).get("level") == "aten" if params is None else params)
    painter = Painter(graph, shown, style, main_dtype(graph), wanted["links"])
    clusters = painter.clusters()
    boxes, box_of = painter.boxes()
    if run_names(graph):
        boxes, clusters = mark(graph, painter, boxes, clusters)
    shapes = "none" if tensors == "none" else wanted["shapes"]
    boxes, edges = connect(graph, painter, boxes, box_of, Nesting(clusters), shapes=shapes, tensors=tensors)
    legend = painter.legend(wanted["legend"])
    theme = style.theme
    return Drawing(
        graph.name,
        _caption(graph) if wanted["caption"] else "",
        wanted["rankdir"],
        style.font,
        (style.class_size, style.detail_size, style.detail_size),
        theme.background,
        theme.text,
        theme.label,
        boxes,
        tuple(clusters),
        edges,
        tuple(painter.looks),
        strokes(graph, theme),
        tuple(dict.fromkeys([box_of[index] for index in graph.of_kind.get("input", ())])),
        wanted["title"],
        painter.colours.title,
        legend,
    )


def main_dtype(graph: Graph) -> str:
    """Return the element type of most values; empty if there are none."""
    by_type = Counter([value.type for value in graph.values])
    counts: Counter[str] = Counter()
    for index, count in by_type.items():
        counts[graph.types[index].dtype] += count
    return max(counts, key=lambda dtype: (counts[dtype], dtype), default="")


def _caption(graph: Graph) -> str:
    depth = max([node.depth for node in graph.nodes if node.kind in ("op", "module")], default=0)
    count = Sums(graph).of_scopes[0][1] if graph.scopes else 0
    words = [graph.name, f"depth {depth}", labels.params(count)]
    return " · ".join(word for word in words if word)
