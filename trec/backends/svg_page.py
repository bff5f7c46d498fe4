"""Print a drawing whose parts have their places as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends.measure import shown
from trec.backends.svg_marks import (
    arrow,
    dashes,
    escape,
    framed,
    linked,
    number,
    path,
    rectangle,
    text,
    title_and_subtitle,
)
from trec.layout.forks import forked
from trec.layout.text import width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.backends.drawing import Box, Cluster, Drawing, Edge
    from trec.layout.diagram import Diagram, Placement, Point, Size
    from trec.layout.routing import Line

_MARGIN = 9.0
"""Room round the picture, in points, as all lengths here."""
_CORNER = 5.0
_BEHIND = 3.0
"""How far to the right and down the second outline of what stands for several lies."""
_SWATCH = 11.0
"""Side of the colours of a legend."""


def lines(drawing: Drawing, measured: Diagram, placement: Placement) -> Iterator[str]:
    """Yield the lines of a drawing as SVG, without line ends.

    Args:
        drawing: what to print.
        measured: how large everything on it is.
        placement: where everything on it is.

    Source: "Scalable Vector Graphics (SVG) 1.1", W3C.
    """
    across, along = placement.size
    above, below = list(_above(drawing)), list(_below(drawing, across))
    wide = max([across, *[room for room, _ in [*above, *below]]])
    head, foot = 20.0 * len(above), 17.0 * len(below) + (2 if below else 0)
    left, top = (across - wide) / 2 - _MARGIN, -head - _MARGIN
    whole = (wide + 2 * _MARGIN, along + head + foot + 2 * _MARGIN)
    size = f'width="{number(whole[0])}" height="{number(whole[1])}"'
    points = f'width="{number(whole[0])}pt" height="{number(whole[1])}pt"'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" {points} viewBox="{number(left)} {number(top)} {number(whole[0])}'
        f' {number(whole[1])}" role="img" aria-label="{escape(drawing.name)}" font-family="{escape(drawing.font)}">'
    )
    yield f"<title>{escape(drawing.name)}</title>"
    yield f'<rect x="{number(left)}" y="{number(top)}" {size} fill="{drawing.background}"/>'
    for index, (_, row) in enumerate(above):
        yield f'<g transform="translate({number(across / 2)} {number(20.0 * index - head + 8)})">{row}</g>'
    yield from _Page(drawing, measured, placement).lines()
    for index, (_, row) in enumerate(below):
        yield f'<g transform="translate({number(across / 2)} {number(along + 15 + 17.0 * index)})">{row}</g>'
    yield "</svg>"


def _above(drawing: Drawing) -> Iterator[tuple[float, str]]:
    """Yield the rows above a picture, with their widths, their middle at the origin."""
    if drawing.title:
        size = drawing.sizes[0] + 4
        words = text(drawing.title, 0, 0, size, drawing.text, bold=True)
        yield width(drawing.title, size, True), f'<g text-anchor="middle">{words}</g>'


def _below(drawing: Drawing, across: float) -> Iterator[tuple[float, str]]:
    """Yield the rows below a picture, with their widths, their middle at the origin."""
    size = drawing.sizes[0]
    if drawing.caption:
        words = text(drawing.caption, 0, 0, size, drawing.text)
        yield width(drawing.caption, size), f'<g text-anchor="middle">{words}</g>'
    cells: list[tuple[float, str, int]] = []
    if drawing.legend_title and drawing.legend:
        cells.append((width(drawing.legend_title, size, True) + 12, drawing.legend_title, -1))
    cells += [(width(key.text, size) + _SWATCH + 16, key.text, key.look) for key in drawing.legend]
    while cells:
        taken, room = 0, 0.0
        while taken < len(cells) and (not taken or room + cells[taken][0] <= max(across, 320.0)):
            room += cells[taken][0]
            taken += 1
        x, row = -room / 2, ""
        for cell, words, look in cells[:taken]:
            if look < 0:
                row += text(words, x, 0, size, drawing.text, bold=True)
            else:
                row += rectangle(x, -_SWATCH + 2, _SWATCH, _SWATCH, 2.5, framed(drawing.looks[look]))
                row += text(words, x + _SWATCH + 5, 0, size, drawing.text)
            x += cell
        yield room, row
        cells = cells[taken:]


class _Page:
    """Print what is inside one picture."""

    def __init__(self, drawing: Drawing, measured: Diagram, placement: Placement) -> None:
        self.drawing, self.measured, self.placement = drawing, measured, placement
        self.small, self.tiny, self.label = drawing.sizes
        self.sideways = drawing.rankdir in ("LR", "RL")

    def lines(self) -> Iterator[str]:
        """Yield the lines, from back to front."""
        for index, cluster in enumerate(self.drawing.clusters):
            frame, title = self.placement.frames[index], self.placement.titles[index]
            if frame is not None and title is not None:
                yield linked(cluster.link, self._cluster(cluster, frame, title))
        yield '<g fill="none" stroke-width="0.9" stroke-linejoin="round" stroke-linecap="round">'
        routes = self.placement.routes
        parts = forked(self.measured.wires, routes, sideways=self.sideways)
        for edge, line, part in zip(self.drawing.edges, routes, parts, strict=True):
            yield self._edge(edge, line, part)
        yield '</g>\n<g text-anchor="middle">'
        for box, centre, size in zip(self.drawing.boxes, self.placement.boxes, self.measured.sizes, strict=True):
            yield linked(box.link, self._box(box, centre, size))
        yield f'</g>\n<g font-size="{self.label:g}" fill="{self.drawing.label}" text-anchor="middle">'
        for net, (x, y) in self.placement.labels.items():
            yield f'<text x="{number(x)}" y="{number(y + self.label * 0.36)}">{escape(self.measured.texts[net])}</text>'
        yield "</g>"

    def _cluster(
        self, cluster: Cluster, frame: tuple[float, float, float, float], title: tuple[float, float, int]
    ) -> str:
        look = self.drawing.looks[cluster.look]
        x, y = title[0], title[1] + look.size + 3
        marks = [f"<g><title>{escape(cluster.tooltip)}</title>"]
        if cluster.repeats > 1:
            left, top, across, along = frame
            marks.append(rectangle(left + _BEHIND, top + _BEHIND, across, along, 6.0, framed(look)))
        marks.append(rectangle(*frame, 6.0, framed(look)))
        if title[2]:
            words = shown(cluster.title, look.size, look.bold)
            marks.append(text(words, x, y, look.size, look.text, bold=look.bold))
            y += self.small * 1.2
            marks.append(text(shown(cluster.subtitle, self.small), x, y, self.small, look.muted))
        else:
            marks.append(title_and_subtitle(cluster, x, y, look, self.small))
        if cluster.detail:
            y += self.tiny * 1.2
            marks.append(text(shown(cluster.detail, self.tiny), x, y, self.tiny, look.muted))
        return "".join(marks) + "</g>"

    def _box(self, box: Box, centre: Point, size: Size) -> str:
        look = self.drawing.looks[box.look]
        (x, y), (across, along) = centre, size
        marks = f"<g><title>{escape(box.tooltip)}</title>"
        if look.shape in ("circle", "point"):
            fill = look.border if look.shape == "point" else look.fill
            marks += f'<circle cx="{number(x)}" cy="{number(y)}" r="{number(across / 2)}" {framed(look, fill)}/>'
        else:
            corner = along / 2 if look.shape == "pill" else _CORNER
            if box.repeats > 1:
                left, top = x - across / 2 + _BEHIND, y - along / 2 + _BEHIND
                marks += rectangle(left, top, across, along, corner, framed(look))
            marks += rectangle(x - across / 2, y - along / 2, across, along, corner, framed(look))
        if look.shape == "point":
            return marks + "</g>"
        below = self.tiny * 1.2 if box.detail else 0.0
        base = y + look.size * 0.36 - below / 2
        marks += title_and_subtitle(box, x, base, look, self.small)
        if box.detail:
            marks += text(shown(box.detail, self.tiny), x, base + below, self.tiny, look.muted)
        return marks + "</g>"

    def _edge(self, edge: Edge, line: Line, part: Line) -> str:
        stroke = self.drawing.strokes[edge.stroke]
        way, tip = path(part, sideways=self.sideways), arrow(line, sideways=self.sideways)
        tooltip = f"<title>{escape(edge.tooltip)}</title>"
        if stroke.line == "solid":
            return f'<path d="{way}{tip}" stroke="{stroke.colour}">{tooltip}</path>'
        return f'<g stroke="{stroke.colour}">{tooltip}<path d="{way}"{dashes(stroke.line)}/><path d="{tip}"/></g>'
