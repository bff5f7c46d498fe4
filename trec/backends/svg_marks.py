"""The marks of a picture as SVG: text, rectangles, paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends.escape import printable
from trec.backends.measure import shown
from trec.layout.routing import curves

if TYPE_CHECKING:
    from trec.backends.drawing import Box, Cluster, Look
    from trec.backends.drawing import Line as Stroke
    from trec.layout.routing import Line

_DASHES = {"solid": "", "dashed": ' stroke-dasharray="4 3"', "dotted": ' stroke-dasharray="1.2 2"'}
_BARB = (5.0, 2.6)
"""Length and half the width of an arrowhead, in points."""


def number(value: float) -> str:
    """Return a length in as few characters as tell it to a tenth of a point.

    Example:
        >>> number(12.04), number(-0.02), number(123456.78)
        ('12', '0', '123456.8')
    """
    text = f"{value:.1f}"
    if text.endswith(".0"):
        text = text[:-2]
    return "0" if text == "-0" else text


def escape(text: str) -> str:
    """Return a text as the content of an element or the value of an attribute."""
    text = printable(text)
    if "&" in text or "<" in text or ">" in text or '"' in text or "\r" in text:
        text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        text = text.replace('"', "&quot;").replace("\r", "&#13;")
    return text


def text(words: str, x: float, y: float, size: float, colour: str, *, bold: bool = False) -> str:
    """Return a line of text, y being its base line."""
    weight = ' font-weight="bold"' if bold else ""
    place = f'x="{number(x)}" y="{number(y)}"'
    return f'<text {place} font-size="{size:g}" fill="{colour}"{weight}>{escape(words)}</text>'


def title_and_subtitle(row: Box | Cluster, x: float, y: float, look: Look, small: float) -> str:
    """Return the first line of a box or cluster, so far as it fits."""
    title = shown(row.title, look.size, look.bold)
    if not row.subtitle:
        return "" if not title or title.isspace() else text(title, x, y, look.size, look.text, bold=look.bold)
    weight = ' font-weight="bold"' if look.bold else ""
    return (
        f'<text x="{number(x)}" y="{number(y)}" font-size="{look.size:g}" fill="{look.text}">'
        f"<tspan{weight}>{escape(title)}</tspan> "
        f'<tspan dx="2" font-size="{small:g}" fill="{look.muted}">{escape(shown(row.subtitle, small))}</tspan></text>'
    )


def framed(look: Look, fill: str = "") -> str:
    """Return the attributes of an outline."""
    attributes = f'fill="{fill or look.fill}" stroke="{look.border}"{_DASHES[look.line]}'
    return attributes if look.width == 1 else f'{attributes} stroke-width="{look.width:g}"'


def dashes(line: Stroke) -> str:
    """Return the attribute that makes a stroke dashed; empty for a solid one."""
    return _DASHES[line]


def rectangle(x: float, y: float, width: float, height: float, corner: float, attributes: str) -> str:
    """Return a rectangle with rounded corners."""
    return (
        f'<rect x="{number(x)}" y="{number(y)}" width="{number(width)}" height="{number(height)}"'
        f' rx="{number(corner)}" {attributes}/>'
    )


def linked(target: str, marks: str) -> str:
    """Return marks that lead to an address, if there is one."""
    return f'<a href="{escape(target)}" target="_blank">{marks}</a>' if target else marks


def path(line: Line, *, sideways: bool) -> str:
    """Return a route as the data of a path."""
    words = [f"M{number(line[0][0])} {number(line[0][1])}"]
    for piece in curves(line, sideways=sideways):
        points = " ".join([f"{number(x)} {number(y)}" for x, y in piece])
        words.append(f"{'L' if len(piece) == 1 else 'C'}{points}")
    return "".join(words)


def arrow(line: Line, *, sideways: bool) -> str:
    """Return an open arrowhead at the end of a route as the data of a path."""
    (x, y), (end_x, end_y) = line[-2], line[-1]
    before, end, middle = (x, end_x, end_y) if sideways else (y, end_y, end_x)
    if before == end:  # an arc comes back against the way before it
        earlier = line[-3] if len(line) > 2 else line[-2]
        before = end + (end - (earlier[0] if sideways else earlier[1]))
    length, half = _BARB
    back = end - length if end >= before else end + length
    corners = [(back, middle - half), (end, middle), (back, middle + half)]
    points = [(u, v) if sideways else (v, u) for u, v in corners]
    return "M" + "L".join([f"{number(x)} {number(y)}" for x, y in points])
