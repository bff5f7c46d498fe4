"""Print a drawing whose parts have their places in TikZ."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from trec.backends.measure import GAP, shown
from trec.backends.svg_marks import number
from trec.backends.tikz_text import escape
from trec.layout.forks import forked
from trec.layout.routing import curves

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.backends.drawing import Box, Cluster, Drawing, Edge, Look
    from trec.layout.diagram import Diagram, Placement, Point, Size
    from trec.layout.routing import Line

_BEHIND = 3.0
"""How far to the right and down the second outline of what stands for several lies, in points, as all lengths here."""
_ROW = 16.0
"""Height of a line above or below the picture."""
_DASHES = {"solid": "", "dashed": ",dash pattern=on 4pt off 3pt", "dotted": ",dash pattern=on 1.2pt off 2pt"}
_IN_ADDRESSES = ":/?#[]@!$&'()*+,=~-._"
_PREAMBLE = """\
\\RequirePackage{fix-cm} % the fonts of TeX in every size
\\documentclass{article}
\\usepackage{textcomp}
\\usepackage{tikz}
\\usetikzlibrary{arrows.meta}"""
_BEGIN = """\
\\begin{document}
\\setbox0=\\hbox{%"""
_END = """\
}
\\dimen0=\\wd0 \\advance\\dimen0 by 18pt
\\dimen2=\\dimexpr\\ht0+\\dp0+18pt\\relax
\\ifdefined\\pagewidth \\pagewidth=\\dimen0 \\pageheight=\\dimen2
\\else \\pdfpagewidth=\\dimen0 \\pdfpageheight=\\dimen2 \\fi
\\hoffset=\\dimexpr9pt-1in\\relax \\voffset=\\hoffset
\\shipout\\box0
\\end{document}"""
"""A page as large as the picture and a margin, with LuaTeX and with pdfTeX."""
_PICTURE = """\
\\begin{tikzpicture}[x=1pt,y=-1pt,line width=1pt,every node/.style={anchor=base,inner sep=0pt,outer sep=0pt},
  flow/.style={line width=0.9pt,-{Straight Barb[length=3.4pt,width=5.2pt]}}]
\\sffamily"""
_SIGN = '\\providecommand\\trecsign[1]{\\ifdefined\\Umathchar\\char"#1\\relax\\else?\\fi}'
"""A sign without a command of its own, which no font of pdfTeX has."""


def lines(drawing: Drawing, measured: Diagram, placement: Placement, *, standalone: bool) -> Iterator[str]:
    """Yield the lines of a drawing in TikZ, without line ends.

    Args:
        drawing: what to print.
        measured: how large everything on it is.
        placement: where everything on it is.
        standalone: whether they are a whole document.

    Source: "The TikZ and PGF Packages", manual for version 3.1.
    """
    page = _Page(drawing, measured, placement)
    if standalone:
        yield _PREAMBLE
        if any(row.link for rows in (drawing.boxes, drawing.clusters) for row in rows):
            yield "\\usepackage[hidelinks]{hyperref}"
        yield _BEGIN
    yield _SIGN
    for colour, name in page.colours.items():
        yield f"\\definecolor{{{name}}}{{HTML}}{{{colour[1:].upper()}}}%"
    yield _PICTURE
    yield from page.lines()
    yield "\\end{tikzpicture}%"
    if standalone:
        yield _END


class _Page:
    """Print what is inside one picture."""

    def __init__(self, drawing: Drawing, measured: Diagram, placement: Placement) -> None:
        self.drawing, self.measured, self.placement = drawing, measured, placement
        self.small, self.tiny, self.label = drawing.sizes
        self.sideways = drawing.rankdir in ("LR", "RL")
        used = [drawing.background, drawing.text, drawing.label, *[stroke.colour for stroke in drawing.strokes]]
        for look in drawing.looks:
            used += [look.fill, look.border, look.text, look.muted]
        self.colours = {colour: f"trec{index}" for index, colour in enumerate(dict.fromkeys(used))}
        """Name of each colour."""

    def lines(self) -> Iterator[str]:
        """Yield the lines, from back to front."""
        width, height = self.placement.size
        yield from self._background()
        for index, cluster in enumerate(self.drawing.clusters):
            frame, title = self.placement.frames[index], self.placement.titles[index]
            if frame is not None and title is not None:
                yield from self._cluster(cluster, frame, title)
        parts = forked(self.measured.wires, self.placement.routes, sideways=self.sideways)
        for edge, line in zip(self.drawing.edges, parts, strict=True):
            yield self._edge(edge, line)
        for box, centre, size in zip(self.drawing.boxes, self.placement.boxes, self.measured.sizes, strict=True):
            yield from self._box(box, centre, size)
        for net, (x, y) in self.placement.labels.items():
            yield self._text(self.measured.texts[net], (x, y + self.label * 0.36), self.label, self.drawing.label)
        if self.drawing.title:
            yield self._text(self.drawing.title, (width / 2, -_ROW), self.small + 4, self.drawing.text, bold=True)
        below = [text for text in (self.drawing.caption, self.drawing.legend_title) if text]
        for row, text in enumerate(below):
            yield self._text(text, (width / 2, height + _ROW * (row + 1)), self.small, self.drawing.text)
        for row, key in enumerate(self.drawing.legend, start=len(below) + 1):
            y = height + _ROW * row
            yield self._rectangle((width / 2 - 30, y - 9), (11, 11), 2.5, self.drawing.looks[key.look])
            yield self._text(key.text, (width / 2 - 14, y), self.small, self.drawing.text, left=True)

    def _background(self) -> Iterator[str]:
        """Yield the colour behind everything, which a document in white has no need of."""
        if self.drawing.background.lower() not in ("#ffffff", "#fff"):
            width, height = self.placement.size
            rows = len(self.drawing.legend) + bool(self.drawing.caption) + bool(self.drawing.legend_title)
            top = 2 * _ROW if self.drawing.title else 0.0
            corners = f"(-9,{number(-top - 9)}) rectangle ({number(width + 9)},{number(height + _ROW * rows + 9)})"
            yield f"\\fill[{self.colours[self.drawing.background]}] {corners};"

    def _cluster(
        self, cluster: Cluster, frame: tuple[float, float, float, float], title: tuple[float, float, int]
    ) -> Iterator[str]:
        look = self.drawing.looks[cluster.look]
        left, top, across, along = frame
        if cluster.repeats > 1:
            yield self._rectangle((left + _BEHIND, top + _BEHIND), (across, along), 6.0, look)
        yield self._rectangle((left, top), (across, along), 6.0, look)
        x, y = title[0], title[1] + look.size + 3
        yield self._titles(cluster, (x, y), look, left=True, subtitle=not title[2])
        if title[2]:
            y += self.small * 1.2
            yield self._text(shown(cluster.subtitle, self.small), (x, y), self.small, look.muted, left=True)
        if cluster.detail:
            y += self.tiny * 1.2
            yield self._text(shown(cluster.detail, self.tiny), (x, y), self.tiny, look.muted, left=True)

    def _box(self, box: Box, centre: Point, size: Size) -> Iterator[str]:
        look = self.drawing.looks[box.look]
        (x, y), (across, along) = centre, size
        if look.shape in ("circle", "point"):
            fill = look.border if look.shape == "point" else look.fill
            yield f"\\draw[{self._outline(look, fill)}] {_at(centre)} circle[radius={number(across / 2)}pt];"
        else:
            corner = along / 2 if look.shape == "pill" else 5.0
            left, top = x - across / 2, y - along / 2
            if box.repeats > 1:
                yield self._rectangle((left + _BEHIND, top + _BEHIND), size, corner, look)
            yield self._rectangle((left, top), size, corner, look)
        if look.shape == "point":
            return
        below = self.tiny * 1.2 if box.detail else 0.0
        base = y + look.size * 0.36 - below / 2
        yield self._titles(box, (x, base), look)
        if box.detail:
            yield self._text(shown(box.detail, self.tiny), (x, base + below), self.tiny, look.muted)

    def _edge(self, edge: Edge, line: Line) -> str:
        stroke = self.drawing.strokes[edge.stroke]
        words = [_at(line[0])]
        for piece in curves(line, sideways=self.sideways):
            points = [_at(point) for point in piece]
            words.append(f"--{points[0]}" if len(piece) == 1 else f"..controls{points[0]}and{points[1]}..{points[2]}")
        return f"\\draw[flow,{self.colours[stroke.colour]}{_DASHES[stroke.line]}] {''.join(words)};"

    def _rectangle(self, corner: Point, size: Size, radius: float, look: Look) -> str:
        end = (corner[0] + size[0], corner[1] + size[1])
        style = f"{self._outline(look, look.fill)},rounded corners={number(radius)}pt"
        return f"\\draw[{style}] {_at(corner)} rectangle {_at(end)};"

    def _outline(self, look: Look, fill: str) -> str:
        style = f"fill={self.colours[fill]},draw={self.colours[look.border]}{_DASHES[look.line]}"
        return style if look.width == 1 else f"{style},line width={look.width:g}pt"

    def _titles(self, row: Box | Cluster, at: Point, look: Look, *, left: bool = False, subtitle: bool = True) -> str:
        """Return the first line of a box or cluster, which leads where its address is."""
        words = self._words(shown(row.title, look.size, look.bold), look.size, look.text, bold=look.bold)
        if row.subtitle and subtitle:
            words += f"\\kern{GAP:g}pt{self._words(shown(row.subtitle, self.small), self.small, look.muted)}"
        if row.link:
            address = quote(row.link, safe=_IN_ADDRESSES).replace("%", "\\%").replace("#", "\\#")
            words = f"\\href{{{address}}}{{{words}}}"
        return _node(words, at, left=left)

    def _text(self, words: str, at: Point, size: float, colour: str, *, bold: bool = False, left: bool = False) -> str:
        return _node(self._words(words, size, colour, bold=bold), at, left=left)

    def _words(self, words: str, size: float, colour: str, *, bold: bool = False) -> str:
        weight = "\\bfseries" if bold else ""
        font = f"\\fontsize{{{size:g}}}{{{size:g}}}{weight}\\selectfont"
        return f"{{{font}\\color{{{self.colours[colour]}}}{escape(words)}}}"


def _node(words: str, at: Point, *, left: bool) -> str:
    anchor = "[anchor=base west]" if left else ""
    return f"\\node{anchor} at {_at(at)} {{{words}}};"


def _at(point: Point) -> str:
    return f"({number(point[0])},{number(point[1])})"
