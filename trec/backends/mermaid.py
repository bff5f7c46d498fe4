"""Print a drawing as a flowchart of Mermaid, which Markdown on GitHub and GitLab shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Unpack
from urllib.parse import quote

from trec.backends.escape import printable
from trec.backends.lower import lower
from trec.ir.atomic import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from trec.backends.drawing import Cluster, Drawing, Face, Look
    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph

_OUTLINES = {"box": ("(", ")"), "pill": ("([", "])"), "circle": ("((", "))"), "point": ("((", "))")}
_DASHES = {"solid": "", "dashed": ",stroke-dasharray:4 3", "dotted": ",stroke-dasharray:1 2"}
_PLAIN = frozenset(" _-.,=+*")
_IN_ADDRESSES = ":/?#[]@!$&'()*+,=%~-._"


def to_mermaid(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    **options: Unpack[PictureOptions],
) -> str:
    """Return the drawing of a graph as a flowchart of Mermaid, a subgraph for each module.

    Mermaid draws 500 edges and 50,000 characters unless its `maxEdges` and `maxTextSize` are raised; `collapse` and
    `fold` make a graph smaller.

    Args:
        graph: what to draw.
        path: file that the text is written to as well; with the suffix `.gz` it is compressed.
        **options: see `trec.backends.options.PictureOptions`.
    """
    text = "\n".join(lines(lower(graph, **options))) + "\n"
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text


def lines(drawing: Drawing) -> Iterator[str]:
    """Yield the lines of a drawing as a flowchart of Mermaid, without line ends.

    Boxes are `n0`, `n1`, ..., subgraphs `c0`, `c1`, ... by their positions in the drawing.

    Source: "Flowcharts - Basic Syntax" in the documentation of Mermaid.
    """
    title = " · ".join(filter(None, (drawing.title, drawing.caption)))
    if title:
        # Mermaid looks for directives between %% everywhere, in titles too.
        words = json.dumps(printable(title)).replace("%", "\\u0025")
        yield f"---\ntitle: {words}\n---"
    yield f"flowchart {drawing.rankdir}"
    faces, face, placed = [_face(drawing, row) for row in drawing.boxes.faces], drawing.boxes.face, []
    for depth, entry in drawing.walk():
        indent = "  " * (depth + 1)
        if entry is None:
            yield f"{indent}end"
        elif isinstance(entry, int):
            placed.append(entry)
            yield f'{indent}subgraph c{entry} ["{_label(drawing.clusters[entry])}"]'
        else:
            yield from [f"{indent}n{box}{faces[face[box]]}" for box in entry]
    yield from _edges(drawing)
    yield from _legend(drawing)
    for index, look in enumerate(drawing.looks):
        yield f"  classDef k{index} {_style(look)}"
    for index in sorted(placed):
        yield f"  class c{index} k{drawing.clusters[index].look}"
    links = [f'href "{quote(row.link, safe=_IN_ADDRESSES)}"' if row.link else "" for row in drawing.boxes.faces]
    if any(links):
        yield from [f"  click n{box} {links[index]}" for box, index in enumerate(face) if links[index]]


def _face(drawing: Drawing, face: Face) -> str:
    shape = drawing.looks[face.look].shape
    start, end = _OUTLINES[shape]
    return f'{start}"{" " if shape == "point" else _label(face)}"{end}:::k{face.look}'


def _edges(drawing: Drawing) -> Iterator[str]:
    edges, strokes = drawing.edges, drawing.strokes
    signs = ["-->" if strokes[arrow.stroke].line == "solid" else "-.->" for arrow in edges.arrows]
    texts = [f'|"{escape(arrow.label)}"|' if arrow.label else "" for arrow in edges.arrows]
    arrows = [f" {sign}{text} n" for sign, text in zip(signs, texts, strict=True)]
    rows = zip(edges.sources, edges.arrow, edges.targets, strict=True)
    yield from [f"  n{source}{arrows[arrow]}{target}" for source, arrow, target in rows]
    by_stroke: list[list[str]] = [[] for _ in strokes]
    for index, arrow in enumerate(edges.arrow):
        by_stroke[edges.arrows[arrow].stroke].append(str(index))
    for stroke, found in zip(strokes, by_stroke, strict=True):
        if found:
            yield f"  linkStyle {','.join(found)} stroke:{stroke.colour}"


def _legend(drawing: Drawing) -> Iterator[str]:
    if drawing.legend:
        yield f'  subgraph legend ["{escape(drawing.legend_title or "legend")}"]'
        for index, key in enumerate(drawing.legend):
            yield f'    l{index}["{escape(key.text)}"]:::k{key.look}'
        yield "  end"
        yield f"  style legend fill:none,stroke:{drawing.label}"


def _label(row: Face | Cluster) -> str:
    first = " ".join(filter(None, (row.title, row.subtitle)))
    return "<br/>".join([escape(text) for text in (first, row.detail) if text]) or " "


def _style(look: Look) -> str:
    width = "" if look.width == 1 else f",stroke-width:{look.width:g}px"
    return f"fill:{look.fill},stroke:{look.border},color:{look.text}{width}{_DASHES[look.line]}"


def escape(text: str) -> str:
    """Return the text as what stands between double quotes in Mermaid, where it is shown as it is.

    What is no letter or digit becomes an entity, because Mermaid looks for Markdown, tags and styles in labels.

    Example:
        >>> escape('a_b "c"')
        'a_b #34;c#34;'
    """
    if text.isascii() and text.isidentifier():
        return text
    return "".join([sign if _is_plain(sign) else f"#{ord(sign)};" for sign in printable(text)])


def _is_plain(sign: str) -> bool:
    return sign.isalnum() or sign in _PLAIN or (not sign.isascii() and sign.isprintable())
