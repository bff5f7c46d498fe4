"""Draw a graph as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from trec.backends import svg_by_dot
from trec.backends.escape import printable
from trec.backends.lower import Rankdir, Shapes, Tensors, check, lower
from trec.backends.measure import diagram, shown
from trec.ir.atomic import write_text
from trec.layout.arrange import arrange
from trec.layout.routing import curves
from trec.layout.text import width

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from trec.backends.drawing import Box, Cluster, Drawing, Edge, Look, Stroke
    from trec.backends.style import Style
    from trec.ir.graph import Graph
    from trec.layout.diagram import Placement, Point
    from trec.layout.routing import Line

Engine = Literal["own", "dot"]

_MARGIN = 9.0


def to_svg(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    tensors: Tensors = "edges",
    shapes: Shapes = "changes",
    params: bool | None = None,
    rankdir: Rankdir = "TB",
    caption: bool = False,
    style: Style | None = None,
    engine: Engine = "own",
) -> str:
    """Return the drawing of a graph as SVG, with a tooltip on everything.

    Args:
        graph: what to draw.
        path: file that the text is written to as well; with the suffix `.gz` it is compressed.
        tensors: see `trec.backends.lower.lower`, as for all that follow but the last.
        shapes: which shapes are written along the edges.
        params: whether parameters and buffers are drawn.
        rankdir: where the flow goes.
        caption: whether name and sizes stand below.
        style: colours, fonts and sizes.
        engine: what places the boxes: `own` needs nothing, `dot` is the installed Graphviz.

    Raises:
        DependencyError: `dot` is wanted and not there.
    """
    check("engine", engine, get_args(Engine))
    drawing = lower(graph, tensors=tensors, shapes=shapes, params=params, rankdir=rankdir, caption=caption, style=style)
    if engine == "dot":
        text = svg_by_dot.draw(drawing)
    else:
        text = "\n".join(lines(drawing, arrange(diagram(drawing)))) + "\n"
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text


def lines(drawing: Drawing, placement: Placement) -> Iterator[str]:
    """Yield the lines of a placed drawing as SVG, without line ends.

    Args:
        drawing: what to print.
        placement: where everything is.

    Source: "Scalable Vector Graphics (SVG) 1.1", W3C.
    """
    return _Printer(drawing, placement).lines()


class _Printer:
    """Print one drawing."""

    def __init__(self, drawing: Drawing, placement: Placement) -> None:
        self.drawing, self.placement = drawing, placement
        self.sideways = drawing.rankdir in ("LR", "RL")

    def lines(self) -> Iterator[str]:
        """Yield the lines."""
        drawing = self.drawing
        across, along = self.placement.size
        small = drawing.sizes[0]
        foot = small * 1.2 + 8 if drawing.caption else 0.0
        caption = width(drawing.caption, small) if drawing.caption else 0.0
        shift = max(0.0, (caption - across) / 2)
        whole = (across + 2 * (shift + _MARGIN), along + 2 * _MARGIN + foot)
        size = f"{_number(whole[0])} {_number(whole[1])}"
        yield (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{_number(whole[0])}pt" height="{_number(whole[1])}pt"'
            f' viewBox="{_number(-shift - _MARGIN)} {_number(-_MARGIN)} {size}" role="img"'
            f' aria-label="{_escape(drawing.name)}" font-family="{_escape(drawing.font)}">'
        )
        yield f"<title>{_escape(drawing.name)}</title>"
        yield (
            f'<rect x="{_number(-shift - _MARGIN)}" y="{_number(-_MARGIN)}" width="{_number(whole[0])}"'
            f' height="{_number(whole[1])}" fill="{drawing.background}"/>'
        )
        for index, cluster in enumerate(drawing.clusters):
            frame, title = self.placement.frames[index], self.placement.titles[index]
            if frame is not None and title is not None:
                yield from self._cluster(cluster, frame, title)
        yield '<g fill="none" stroke-width="0.9" stroke-linejoin="round" stroke-linecap="round">'
        for edge, line in zip(drawing.edges, self.placement.routes, strict=True):
            yield self._edge(edge, line)
        yield "</g>"
        yield '<g text-anchor="middle">'
        for box, centre, size_ in zip(drawing.boxes, self.placement.boxes, self._sizes(), strict=True):
            yield self._box(box, centre, size_)
        yield "</g>"
        yield from self._labels()
        if drawing.caption:
            yield (
                f'<text x="{_number(across / 2)}" y="{_number(along + _MARGIN + small)}" text-anchor="middle"'
                f' font-size="{small:g}" fill="{drawing.text}">{_escape(drawing.caption)}</text>'
            )
        yield "</svg>"

    def _sizes(self) -> tuple[tuple[float, float], ...]:
        return diagram(self.drawing).sizes

    def _cluster(
        self, cluster: Cluster, frame: tuple[float, float, float, float], title: tuple[float, float, int]
    ) -> Iterator[str]:
        look = self.drawing.looks[cluster.look]
        left, top, across, along = map(_number, frame)
        yield f"<g><title>{_escape(cluster.tooltip)}</title>"
        yield f'<rect x="{left}" y="{top}" width="{across}" height="{along}" rx="6" {_paint(look)}/>'
        x, y = title[0], title[1] + look.size + 3
        if title[2]:
            yield self._text(cluster.title, x, y, look)
            y += self.drawing.sizes[0] * 1.2
            yield self._small(cluster.subtitle, x, y, look.muted, self.drawing.sizes[0])
        else:
            yield f'<text x="{_number(x)}" y="{_number(y)}" {self._head(cluster, look)}</text>'
        if cluster.detail:
            y += self.drawing.sizes[1] * 1.2
            yield self._small(cluster.detail, x, y, look.muted, self.drawing.sizes[1])
        yield "</g>"

    def _box(self, box: Box, centre: Point, size: tuple[float, float]) -> str:
        look = self.drawing.looks[box.look]
        x, y = centre
        across, along = size
        text = f"<g><title>{_escape(box.tooltip)}</title>"
        if look.shape in ("circle", "point"):
            fill = look.border if look.shape == "point" else look.fill
            text += f'<circle cx="{_number(x)}" cy="{_number(y)}" r="{_number(across / 2)}" {_paint(look, fill)}/>'
        else:
            round_ = along / 2 if look.shape == "pill" else 5.0
            text += (
                f'<rect x="{_number(x - across / 2)}" y="{_number(y - along / 2)}" width="{_number(across)}"'
                f' height="{_number(along)}" rx="{_number(round_)}" {_paint(look)}/>'
            )
        if look.shape == "point":
            return text + "</g>"
        detail = self.drawing.sizes[1] * 1.2 if box.detail else 0.0
        base = y + look.size * 0.36 - detail / 2
        text += f'<text x="{_number(x)}" y="{_number(base)}" {self._head(box, look)}</text>'
        if box.detail:
            text += self._small(box.detail, x, base + detail, look.muted, self.drawing.sizes[1])
        return text + "</g>"

    def _head(self, row: Box | Cluster, look: Look) -> str:
        weight = ' font-weight="bold"' if look.bold else ""
        title = _escape(shown(row.title, look.size, look.bold))
        if row.subtitle:
            small = self.drawing.sizes[0]
            title = (
                f"<tspan{weight}>{title}</tspan>"
                f'<tspan dx="5" font-size="{small:g}" fill="{look.muted}">{_escape(shown(row.subtitle, small))}</tspan>'
            )
            weight = ""
        return f'font-size="{look.size:g}" fill="{look.text}"{weight}>{title}'

    def _text(self, text: str, x: float, y: float, look: Look) -> str:
        weight = ' font-weight="bold"' if look.bold else ""
        words = _escape(shown(text, look.size, look.bold))
        return (
            f'<text x="{_number(x)}" y="{_number(y)}" font-size="{look.size:g}" fill="{look.text}"{weight}>{words}</text>'
        )

    def _small(self, text: str, x: float, y: float, colour: str, size: float) -> str:
        words = _escape(shown(text, size))
        return f'<text x="{_number(x)}" y="{_number(y)}" font-size="{size:g}" fill="{colour}">{words}</text>'

    def _edge(self, edge: Edge, line: Line) -> str:
        stroke = self.drawing.strokes[edge.stroke]
        words = [f"M{_point(line[0])}"]
        for piece in curves(line, sideways=self.sideways):
            words.append(("L" if len(piece) == 1 else "C") + " ".join(map(_point, piece)))
        path = "".join(words)
        tip = _arrow(line, sideways=self.sideways)
        title = f"<title>{_escape(edge.tooltip)}</title>"
        if stroke.line == "solid":
            return f'<path d="{path}{tip}" {_stroke(stroke)}>{title}</path>'
        return f'<g {_stroke(stroke)}>{title}<path d="{path}" stroke-dasharray="4 3"/><path d="{tip}"/></g>'

    def _labels(self) -> Iterator[str]:
        size = self.drawing.sizes[2]
        yield f'<g font-size="{size:g}" fill="{self.drawing.label}" text-anchor="middle">'
        wires = diagram(self.drawing)
        seen: set[int] = set()
        for edge, wire in zip(self.drawing.edges, wires.wires, strict=True):
            at = self.placement.labels.get(wire.net)
            if at is not None and edge.label and wire.net not in seen:
                seen.add(wire.net)
                yield f'<text x="{_number(at[0])}" y="{_number(at[1] + size * 0.36)}">{_escape(edge.label)}</text>'
        yield "</g>"


def _arrow(line: Line, *, sideways: bool) -> str:
    """Return the two strokes of an open arrowhead at the end of a route."""
    (x, y), (to_x, to_y) = line[-2], line[-1]
    if len(line) == 4 and line[0][1 - sideways] == line[1][1 - sideways]:
        y, x = (to_y - 1, x) if not sideways else (y, to_x - 1)
    if sideways:
        back = to_x - 5 if to_x > x else to_x + 5
        return f"M{_number(back)} {_number(to_y - 2.6)}L{_number(to_x)} {_number(to_y)}L{_number(back)} {_number(to_y + 2.6)}"
    back = to_y - 5 if to_y > y else to_y + 5
    return f"M{_number(to_x - 2.6)} {_number(back)}L{_number(to_x)} {_number(to_y)}L{_number(to_x + 2.6)} {_number(back)}"


def _paint(look: Look, fill: str = "") -> str:
    text = f'fill="{fill or look.fill}" stroke="{look.border}"'
    if look.width != 1:
        text += f' stroke-width="{look.width:g}"'
    return text + (' stroke-dasharray="4 3"' if look.line == "dashed" else "")


def _stroke(stroke: Stroke) -> str:
    return f'stroke="{stroke.colour}"'


def _point(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _number(value: float) -> str:
    """Return a length in as few characters as tell it to a tenth of a point."""
    return f"{round(value, 1):g}" if abs(value) < 1e5 else f"{value:.1f}"


def _escape(text: str) -> str:
    text = printable(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("\r", "&#13;")
