"""The attributes of Graphviz that say what a drawing says, for every backend that speaks to Graphviz.

Values are ready to stand between double quotes; one that begins with `<` is an HTML-like label and needs none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends.escape import all_quoted, html, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.backends.drawing import Cluster, Drawing, Edge, Face, Look

__all__ = [
    "Labels", "all_quoted", "box", "cluster", "edge", "frames", "graph", "link", "looks", "name", "node", "of_edge",
    "quoted", "strokes",
]  # fmt: skip

_GAP = "  "
_LEFT = '<BR ALIGN="LEFT"/>'


def name(drawing: Drawing) -> str:
    """Return the name of the drawing."""
    return quoted(drawing.name)


def font(drawing: Drawing) -> str:
    """Return the wanted font by one name, because Graphviz without a font library has no metrics for a list.

    Helvetica goes by the name of Arial, which has the same metrics, and which all builds of Graphviz measure right.
    """
    first = drawing.font.split(",")[0].strip()
    return "Arial" if first == "Helvetica" else quoted(first)


def graph(drawing: Drawing) -> dict[str, str]:
    """Return the attributes of the whole."""
    values = {
        "rankdir": drawing.rankdir,
        "bgcolor": drawing.background,
        "fontname": font(drawing),
        "fontsize": f"{drawing.sizes[0]:g}",
        "fontcolor": drawing.text,
        "nodesep": "0.22",
        "ranksep": "0.3",
        "pad": "0.15",
    }
    if drawing.legend:
        values |= {"label": _legend(drawing), "labelloc": "b"}
    elif drawing.caption or drawing.title:
        text = " · ".join(filter(None, (drawing.title, drawing.caption)))
        values |= {"label": quoted(text), "labelloc": "b" if drawing.caption else "t"}
    return values


def _legend(drawing: Drawing) -> str:
    """Return title, caption and legend as one HTML-like label, because Graphviz has one label for a graph."""
    rows = [
        f'<TR><TD COLSPAN="{2 * len(drawing.legend)}">{html(text)}</TD></TR>'
        for text in (drawing.title, drawing.caption, drawing.legend_title)
        if text
    ]
    cells = "".join(
        f'<TD BORDER="1" COLOR="{drawing.looks[key.look].border}" BGCOLOR="{drawing.looks[key.look].fill}" WIDTH="14">'
        f" </TD><TD>{html(key.text)}</TD>"
        for key in drawing.legend
    )
    return f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="4">{"".join(rows)}<TR>{cells}</TR></TABLE>>'


def link(row: Face | Cluster) -> dict[str, str]:
    """Return the attribute for the address that a box or cluster leads to, if there is one."""
    return {"URL": quoted(row.link)} if row.link else {}


def node(drawing: Drawing) -> dict[str, str]:
    """Return what all boxes have in common."""
    return {"fontname": font(drawing), "margin": "0.12,0.05", "height": "0", "width": "0"}


def edge(drawing: Drawing) -> dict[str, str]:
    """Return what all edges have in common."""
    return {
        "fontname": font(drawing),
        "fontsize": f"{drawing.sizes[2]:g}",
        "fontcolor": drawing.label,
        "arrowhead": "vee",
        "arrowsize": "0.5",
        "penwidth": "0.9",
        "weight": "2",
    }


def looks(drawing: Drawing) -> list[dict[str, str]]:
    """Return for each look what a box has on account of it."""
    return [_look(look, drawing.sizes[1]) for look in drawing.looks]


def _look(look: Look, tiny: float) -> dict[str, str]:
    if look.shape == "point":
        return {"shape": "point", "width": "0.05", "color": look.border}
    values = {
        "shape": {"circle": "circle", "box": "box", "pill": "box"}[look.shape],
        "style": "filled" if look.shape == "circle" else "rounded,filled",
        "fillcolor": look.fill,
        "color": look.border,
        "fontcolor": look.text,
        "fontsize": f"{tiny if look.bold else look.size:g}",
    }
    if look.shape == "circle":
        values |= {"fixedsize": "true", "width": "0.25", "height": "0.25"}
    if look.line != "solid":
        values["style"] += f",{look.line}"
    if look.width != 1:
        values["penwidth"] = f"{look.width:g}"
    return values


def strokes(drawing: Drawing) -> list[dict[str, str]]:
    """Return for each stroke what an edge has on account of it."""
    rows = []
    for stroke in drawing.strokes:
        row = {"color": stroke.colour}
        if stroke.line != "solid":
            row["style"] = stroke.line
        rows.append(row)
    return rows


class Labels:
    """Make the labels of one drawing."""

    def __init__(self, drawing: Drawing) -> None:
        small, tiny, _ = drawing.sizes
        self.heads: list[tuple[str, str]] = []
        self.subtitles: list[str] = []
        self.details: list[str] = []
        for look in drawing.looks:
            bold = (f'<FONT POINT-SIZE="{look.size:g}"><B>', "</B></FONT>") if look.bold else ("", "")
            self.heads.append(bold)
            self.subtitles.append(f'{_GAP}<FONT POINT-SIZE="{small:g}" COLOR="{look.muted}">')
            # Graphviz rounds POINT-SIZE, so the detail of a bold label has the size of the whole label.
            size = "" if look.bold else f' POINT-SIZE="{tiny:g}"'
            self.details.append(f'<BR/><FONT{size} COLOR="{look.muted}">')
        self.looks = drawing.looks

    def of(self, row: Face | Cluster, *, left: bool = False) -> str:
        """Return the label of a box or cluster: plain text where it is only a title that is not bold.

        Args:
            row: what to label.
            left: whether the lines of the label begin below one another rather than being centred.
        """
        index = row.look
        look = self.looks[index]
        if look.shape == "point":
            return ""
        if not (look.bold or row.subtitle or row.detail):
            return quoted(row.title)
        start, end = self.heads[index]
        text = f"{start}{html(row.title)}{end}"
        if row.subtitle:
            text += f"{self.subtitles[index]}{html(row.subtitle)}</FONT>"
        if row.detail:
            text += f"{self.details[index]}{html(row.detail)}</FONT>"
            if left:
                text = text.replace("<BR/>", _LEFT) + _LEFT
        return f"<{text}>"


def box(drawing: Drawing, labels: Labels, looks: Sequence[dict[str, str]], index: int) -> dict[str, str]:
    """Return the attributes of a box, given those of all looks."""
    face = drawing.boxes.faces[drawing.boxes.face[index]]
    tooltip = quoted(drawing.boxes.names[index] + face.about)
    return {"label": labels.of(face), "tooltip": tooltip, **link(face), **looks[face.look]}


def cluster(
    drawing: Drawing, labels: Labels, frames: Sequence[dict[str, str]], index: int, *, tooltips: bool = True
) -> dict[str, str]:
    """Return the attributes of a cluster, given those of all looks."""
    row = drawing.clusters[index]
    tooltip = {"tooltip": quoted(row.tooltip)} if tooltips else {}
    return {"label": labels.of(row, left=True), **frames[row.look], **tooltip, **link(row)}


def frames(drawing: Drawing) -> list[dict[str, str]]:
    """Return for each look what a cluster has on account of it."""
    return [_frame(look, drawing.sizes[1]) for look in drawing.looks]


def _frame(look: Look, tiny: float) -> dict[str, str]:
    values = {
        "labeljust": "l",
        "labelloc": "t",
        "style": "rounded,filled" + ("" if look.line == "solid" else f",{look.line}"),
        "fillcolor": look.fill,
        "color": look.border,
        "fontcolor": look.text,
        "fontsize": f"{tiny if look.bold else look.size:g}",
        "margin": "9",
    }
    return values if look.width == 1 else {**values, "penwidth": f"{look.width:g}"}


def of_edge(edge: Edge, strokes: Sequence[dict[str, str]]) -> dict[str, str]:
    """Return the attributes of an edge, given those of all strokes."""
    values = {"label": f"  {quoted(edge.label)}"} if edge.label else {}
    values["tooltip"] = quoted(edge.tooltip)
    if not edge.main:
        values["weight"] = "1"
    if edge.length != 1:
        values["minlen"] = str(edge.length)
    return values | strokes[edge.stroke]
