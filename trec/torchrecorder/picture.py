"""Draw a recording as SVG without Graphviz: the same boxes, clusters and edges, placed by trec."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from trec.backends.drawing import Box, Boxes, Cluster, Drawing, Edge, Edges, Look, Stroke
from trec.backends.measure import diagram
from trec.backends.style import LIGHT, Style
from trec.backends.svg_page import lines
from trec.layout.arrange import arrange
from trec.torchrecorder.order import in_order
from trec.torchrecorder.renderer.gv import GraphvizStyler
from trec.torchrecorder.renderer.nested import NestedRenderer

if TYPE_CHECKING:
    from trec.torchrecorder.nodes import BaseNode, LayerNode
    from trec.torchrecorder.recorder import Recorder

_COLOUR = re.compile(r"#[0-9A-Fa-f]{3,8}|[A-Za-z]+")
_ROUND = ("ellipse", "oval", "circle", "egg")


def to_svg(rec: Recorder, render_depth: int, title: str, **styler_args: Any) -> str:
    """Return a recording as SVG.

    Args:
        rec: the recording.
        render_depth: levels of modules that are open.
        title: text below the picture.
        **styler_args: attributes of Graphviz for all nodes; colours, line widths and fonts are taken from them.
    """
    renderer = DrawingRenderer(rec, render_depth, GraphvizStyler(**styler_args))
    drawing = renderer(_empty(title, str(styler_args.get("fontname") or "")))
    measured = diagram(drawing)
    return "\n".join(lines(drawing, measured, arrange(measured)))


def _empty(title: str, font: str) -> Drawing:
    style = Style()
    return Drawing(
        name=title,
        caption=title,
        rankdir="TB",
        font=f"{font}, {style.font}" if font else style.font,
        sizes=(style.class_size, style.detail_size, style.detail_size),
        background=LIGHT.background,
        text=LIGHT.text,
        label=LIGHT.label,
        boxes=Boxes.of(()),
        clusters=(),
        edges=Edges.of(()),
        looks=(),
        strokes=(),
    )


class DrawingRenderer(NestedRenderer):
    """Draw a recording into a `trec.backends.drawing.Drawing`, as attributes of Graphviz say."""

    def __init__(self, rec: Recorder, render_depth: int, styler: GraphvizStyler) -> None:
        super().__init__(rec, render_depth)
        self.styler = styler
        self._clusters: list[Cluster] = []
        self._looks: dict[Look, int] = {}
        self._strokes: dict[Stroke, int] = {}
        self._boxes: dict[BaseNode, Box] = {}
        self._edges: Counter[tuple[BaseNode, BaseNode, int]] = Counter()

    def __call__(self, dest: Drawing) -> Drawing:
        """Return the drawing with the recording in it; the boxes stand in the order in which data flows."""
        super().__call__(-1)
        given = [node for node, box in self._boxes.items() if box.cluster < 0]
        order = in_order(self._boxes, [(source, target) for source, target, _ in self._edges], given)
        place = {node: index for index, node in enumerate(order)}
        boxes = [replace(self._boxes[node], node=index) for node, index in place.items()]
        edges = [
            Edge(place[source], place[target], f"×{count}" if count > 1 else "", _between(source, target), stroke, True)
            for (source, target, stroke), count in self._edges.items()
        ]
        targets = {edge.target for edge in edges}
        first = [index for index, box in enumerate(boxes) if box.cluster < 0 and index not in targets]
        return replace(
            dest,
            boxes=Boxes.of(boxes),
            clusters=tuple(self._clusters),
            edges=Edges.of(edges),
            looks=tuple(self._looks),
            strokes=tuple(self._strokes),
            first=tuple(first),
        )

    def render_box(self, dest: int, node: BaseNode) -> None:
        """Add a box to the cluster with this index; -1 is outside all."""
        style = self.styler.style_node(node)
        title, detail = _label(style)
        self._boxes[node] = Box(title, "", detail, f"{title} {detail}".strip(), dest, self._look(style))

    def render_recursive_node(self, dest: int, node: LayerNode) -> None:  # type: ignore[override]
        """Add an open module as a cluster to the one with this index, and what is in it."""
        style = {**self.styler.style_node(node), "fillcolor": "white"}
        title, detail = _label(style)
        index = len(self._clusters)
        tooltip = f"{title} {detail}".strip()
        self._clusters.append(Cluster(title, detail, "", tooltip, dest, self._look(style)))
        for member in self.members(node):
            self.render_node(index, member)

    def render_edge(self, dest: int, fnode: BaseNode, tnode: BaseNode) -> None:
        """Add an edge; one that is there already is drawn with the number of times that it is."""
        stroke = Stroke(_colour(self.styler.style_edge(fnode, tnode), "color", LIGHT.edge))
        self._edges[fnode, tnode, self._strokes.setdefault(stroke, len(self._strokes))] += 1

    def _look(self, style: dict[str, Any]) -> int:
        look = Look(
            shape="pill" if style.get("shape", "ellipse") in _ROUND else "box",
            fill=_colour(style, "fillcolor", "white") if "filled" in str(style.get("style", "")) else "none",
            border=_colour(style, "color", "black"),
            text=_colour(style, "fontcolor", "black"),
            muted=_colour(style, "fontcolor", "black"),
            width=_width(style),
            bold=False,
        )
        return self._looks.setdefault(look, len(self._looks))


def _label(style: dict[str, Any]) -> tuple[str, str]:
    """Return the first line of a label, and the others as one."""
    title, *rest = str(style["label"]).split("\n")
    return title, " ".join(rest)


def _colour(style: dict[str, Any], key: str, default: str) -> str:
    """Return a colour by its name or as `#rrggbb`, as SVG takes both."""
    value = str(style.get(key, default))
    return value.lower() if _COLOUR.fullmatch(value) else default


def _width(style: dict[str, Any]) -> float:
    try:
        return float(style.get("penwidth", 1))
    except ValueError:
        return 1.0


def _between(source: BaseNode, target: BaseNode) -> str:
    return f"{source.name} to {target.name}".replace("\n", " ")
