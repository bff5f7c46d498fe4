"""From a graph to a drawing: every decision that all picture backends share is taken here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, get_args

from trec.backends import labels
from trec.backends.boxes import Painter
from trec.backends.drawing import Drawing
from trec.backends.plan import plan
from trec.backends.style import Style
from trec.backends.wires import connect
from trec.errors import OptionError

if TYPE_CHECKING:
    from trec.ir.graph import Graph

Tensors = Literal["edges", "nodes", "none"]
Shapes = Literal["changes", "all", "none"]
Rankdir = Literal["TB", "LR", "BT", "RL"]


def lower(
    graph: Graph,
    *,
    tensors: Tensors = "edges",
    shapes: Shapes = "changes",
    params: bool | None = None,
    rankdir: Rankdir = "TB",
    caption: bool = False,
    style: Style | None = None,
) -> Drawing:
    """Return the drawing of a graph.

    Args:
        graph: what to draw.
        tensors: `edges` writes shapes along the edges, `nodes` draws each tensor as a box, `none` shows no tensors.
        shapes: which shapes are written along the edges: those that `changes` or leave a module, `all` or `none`.
        params: whether parameters and buffers are drawn; by default only in a graph of ATen operators.
        rankdir: where the flow goes, `TB` from top to bottom.
        caption: whether name, depth and number of parameters stand below the picture.
        style: colours, fonts and sizes.

    Raises:
        OptionError: an option has a value that is not allowed.

    Cost: linear in nodes and edges, about 15 µs a node.
    """
    check("tensors", tensors, get_args(Tensors))
    check("shapes", shapes, get_args(Shapes))
    check("rankdir", rankdir, get_args(Rankdir))
    check("params", params, (None, True, False))
    check("caption", caption, (True, False))
    style = style or Style()
    shown = plan(graph, params=dict(graph.meta).get("level") == "aten" if params is None else params)
    painter = Painter(graph, shown, style, main_dtype(graph))
    clusters = painter.clusters()
    boxes, box_of = painter.boxes()
    edges, strokes = connect(
        graph, shown, painter, boxes, box_of, clusters, shapes="none" if tensors == "none" else shapes, tensors=tensors
    )
    theme = style.theme
    return Drawing(
        graph.name,
        _caption(graph) if caption else "",
        rankdir,
        style.font,
        (style.class_size, style.detail_size, style.detail_size),
        theme.background,
        theme.text,
        theme.label,
        tuple(boxes),
        tuple(clusters),
        tuple(edges),
        tuple(painter.looks),
        strokes,
        tuple([box_of[index] for index, node in enumerate(graph.nodes) if node.kind == "input"]),
    )


def check(name: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise an `OptionError` that lists the allowed values, unless the value is one of them."""
    if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
        raise OptionError(f"{name}={value!r} is not allowed; allowed are: {', '.join(map(repr, allowed))}")


def main_dtype(graph: Graph) -> str:
    """Return the element type of most values; empty if there are none."""
    by_type = Counter([value.type for value in graph.values])
    counts: Counter[str] = Counter()
    for index, count in by_type.items():
        counts[graph.types[index].dtype] += count
    return max(counts, key=lambda dtype: (counts[dtype], dtype), default="")


def _caption(graph: Graph) -> str:
    depth = max((node.depth for node in graph.nodes if node.kind in ("op", "module")), default=0)
    count = sum(
        labels.elements(graph.type_of(node.outputs[0])) for node in graph.nodes if node.kind == "param" and node.outputs
    )
    for node in graph.nodes:
        inside = dict(graph.attrs[node.attrs]).get("params") if node.kind == "module" else 0
        count += inside if isinstance(inside, int) else 0
    words = [graph.name, f"depth {depth}", labels.params(count)]
    return " · ".join(word for word in words if word)
