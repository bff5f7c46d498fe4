"""How large everything on a drawing is, and what leaves a box as one line: a drawing as the layout takes it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trec.backends.stages import columns
from trec.errors import OptionError
from trec.layout.diagram import Diagram, Size, Wire
from trec.layout.text import fitted, width

if TYPE_CHECKING:
    from trec.backends.drawing import Cluster, Drawing, Edge, Face, Look

GAP = 6.0
"""Room between a title and its subtitle, in points, as all lengths here."""
_SIDE = 7.0
"""Room between the text of a box and its sides."""
_PILL = 11.0
_ABOVE = 4.0
_LEADING = 1.2
"""Height of a line of text for each point of its font size."""
_CIRCLE = 18.0
_POINT = 5.0
TITLE_ROOM = 7.0
"""Room above and below the title of a cluster, together."""
_LONGEST = 260.0
"""Widest text of a box; of a longer one the middle is left out."""
_COUNTED = re.compile(r"(.* \()?×\d+\)?", re.DOTALL)
"""Text of an edge with how many uses it stands for, behind the shape if that is told; see `edge_words`."""


def diagram(drawing: Drawing, *, wrap: float = 0) -> Diagram:
    """Return the sizes of boxes, titles and labels of a drawing, and its edges as wires.

    Args:
        drawing: what to measure.
        wrap: see `trec.layout.diagram.Diagram.wrap`.

    Raises:
        OptionError: `wrap` is no length.
    """
    check_wrap(wrap)
    boxes = drawing.boxes
    faces = [_box(face, drawing.looks[face.look], drawing.sizes) for face in boxes.faces]
    wires, texts = _wires(drawing)
    font = drawing.sizes[2]
    labels = {net: (width(text, font), font * _LEADING) for net, text in texts.items()}
    return Diagram(
        tuple([faces[face] for face in boxes.face]),
        tuple(boxes.clusters),
        tuple([cluster.parent for cluster in drawing.clusters]),
        tuple([_titles(cluster, drawing.looks[cluster.look], drawing.sizes) for cluster in drawing.clusters]),
        tuple(wires),
        labels,
        texts,
        frozenset(drawing.first),
        drawing.rankdir,
        _order(drawing),
        wrap,
        *columns(drawing),
    )


def check_wrap(wrap: float) -> None:
    """Raise an `OptionError` if a value is not the length of a column."""
    if type(wrap) not in (int, float) or not 0 <= wrap < float("inf"):
        raise OptionError(f"wrap must be the longest column in points, or 0 for any length, not {wrap!r}")


def _order(drawing: Drawing) -> tuple[int, ...]:
    """Return the boxes in program order, each tensor behind the box that it comes from; empty if there are none."""
    nodes = drawing.boxes.nodes
    if all(node >= 0 for node in nodes):
        return ()
    after = list(range(len(nodes)))
    for source, target in zip(drawing.edges.sources, drawing.edges.targets, strict=True):
        if nodes[target] < 0:
            after[target] = source
    return tuple(sorted(range(len(after)), key=lambda box: (after[box], box)))


def head(row: Face | Cluster, look: Look, sizes: tuple[float, float, float]) -> float:
    """Return how wide the first line of a box or cluster is."""
    title = width(shown(row.title, look.size, look.bold), look.size, look.bold)
    return title + GAP + width(shown(row.subtitle, sizes[0]), sizes[0]) if row.subtitle else title


def shown(text: str, size: float, bold: bool = False) -> str:
    """Return a text as it fits into a box."""
    return fitted(text, size, _LONGEST, bold)


def _box(box: Face, look: Look, sizes: tuple[float, float, float]) -> Size:
    if look.shape == "point":
        return (_POINT, _POINT)
    if look.shape == "circle":
        room = max(_CIRCLE, head(box, look, sizes) + 6)
        return (room, room)
    across = head(box, look, sizes)
    height = 2 * _ABOVE + look.size * _LEADING
    if box.detail:
        across = max(across, width(shown(box.detail, sizes[1]), sizes[1]))
        height += sizes[1] * _LEADING
    side = _PILL if look.shape == "pill" else _SIDE
    return (max(across + 2 * side, height), height)


def _titles(cluster: Cluster, look: Look, sizes: tuple[float, float, float]) -> tuple[Size, ...]:
    """Return the room for the title and the subtitle of a cluster on one line and, if it has both, on two."""
    below = sizes[1] * _LEADING if cluster.detail else 0.0
    detail = width(shown(cluster.detail, sizes[1]), sizes[1]) if cluster.detail else 0.0
    height = look.size * _LEADING + TITLE_ROOM + below
    one = (max(head(cluster, look, sizes), detail), height)
    if not cluster.subtitle:
        return (one,)
    title = width(shown(cluster.title, look.size, look.bold), look.size, look.bold)
    subtitle = width(shown(cluster.subtitle, sizes[0]), sizes[0])
    return (one, (max(title, subtitle, detail), height + sizes[0] * _LEADING))


def _wires(drawing: Drawing) -> tuple[list[Wire], dict[int, str]]:
    """Return the wires, and the text of each net that has one.

    Edges from one box are one net if they have one stroke and one text, or if the same several values flow along them.
    One without a text joins the net that has the only text, because what flows along it is the same.
    """
    nets: dict[tuple[int, int, str], int] = {}
    labels: dict[int, str] = {}
    texts: dict[tuple[int, int], set[str]] = {}
    for edge in drawing.edges:
        if edge.label and not _counted(edge):
            texts.setdefault((edge.source, edge.stroke), set()).add(edge.label)
    wires = []
    for index, edge in enumerate(drawing.edges):
        label = edge.label
        if not label:
            found = texts.get((edge.source, edge.stroke), ())
            label = next(iter(found)) if len(found) == 1 else ""
        which = label
        if _counted(edge):
            which = f"{label} {index}" if edge.flow < 0 else f"× {edge.flow}"
        net = nets.setdefault((edge.source, edge.stroke, which), len(nets))
        if label:
            labels.setdefault(net, label)
        wires.append(Wire(edge.source, edge.target, net))
    return wires, labels


def _counted(edge: Edge) -> bool:
    """Tell whether the text of an edge says how often it is there, which is true of no other edge."""
    return _COUNTED.fullmatch(edge.label) is not None
