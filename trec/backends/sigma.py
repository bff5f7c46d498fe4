"""Make what sigma.js draws: a graph as graphology serialises it, with positions, sizes and colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from trec.backends.escape import printable
from trec.backends.json_files import exact, write_json
from trec.backends.places import places
from trec.backends.plain import Plain
from trec.ir.collector import paused

if TYPE_CHECKING:
    import os

    from trec.backends.places import Places
    from trec.backends.plain import Attributes
    from trec.backends.style import Style
    from trec.backends.themes import ThemeName
    from trec.ir.graph import Graph

_EDGE = 1.2
_CARRIED = 2.0


@paused()
def to_sigma(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    multi: bool = False,
    rankdir: Literal["TB", "LR", "BT", "RL"] = "TB",
    wrap: float = 0,
    style: Style | ThemeName | None = None,
) -> dict[str, Any]:
    """Return the graph as graphology serialises it, placed and coloured for sigma.js 3 and 4.

    Sizes are in the unit of positions, so sigma is to be told `itemSizesReference: "positions"`, which the attributes
    of the graph say too. There `scopes` has the frames of modules, for a layer below the nodes: left, top (`x`, `y`;
    y grows upwards), width, height, depth, label and colours, each after the frame around it (`parent`). An edge that
    is not straight on the picture, such as a skip, has the points that it passes there as its `route`: x, y, x, y, ...

    Args:
        graph: what to hand over.
        path: file that the JSON text is written to as well; with the suffix `.gz` it is compressed.
        multi: whether each use is an edge. Otherwise all uses between two nodes are one edge with a `count`, which is
            what `new Graph().import(data)` takes; a graph with parallel edges needs `Graph.from(data)`.
        rankdir: where the flow goes.
        wrap: longest column of boxes in a module, in points; a longer one goes on beside itself. 0 for any length.
        style: see `trec.backends.options.PictureOptions`.

    Source: "Serialization" in the documentation of graphology.

    Cost: linear, but for the layout.
    """
    plain = Plain(graph)
    placed = places(graph, rankdir=rankdir, wrap=wrap, style=style)
    data = {
        "attributes": {
            "name": printable(graph.name),
            "itemSizesReference": "positions",
            "scopes": _scopes(plain, placed),
        },
        "options": {"type": "directed", "multi": multi, "allowSelfLoops": True},
        "nodes": _nodes(plain, placed),
        "edges": _edges(plain, placed, multi=multi),
    }
    if path is not None:
        write_json(path, data)
    return data


def _nodes(plain: Plain, placed: Places) -> list[Attributes]:
    rows = []
    for index, node in enumerate(plain.graph.nodes):
        x, y = placed.points[index]
        shown = {
            "label": printable(node.name),
            "x": round(x, 1),
            "y": round(0 - y, 1),
            "size": round(placed.sizes[index][1] / 2, 1),
            "color": placed.borders[index],
        }
        rows.append({"key": str(index), "attributes": shown | exact(plain.node(node))})
    return rows


def _edges(plain: Plain, placed: Places, *, multi: bool) -> list[Attributes]:
    rows: list[Attributes] = []
    known: dict[tuple[int, int], Attributes] = {}
    for use in plain.uses():
        row = None if multi else known.get(use[:2])
        if row is not None:
            row["count"] += 1
            if use[5]:
                row |= {"carried": True, "color": placed.carried, "size": _CARRIED}
            continue
        row = {"count": 1, "size": _CARRIED if use[5] else _EDGE, "color": placed.carried if use[5] else placed.edge}
        row |= plain.use(use)
        route = placed.routes.get(use[:2], ())
        if len({x for x, _ in route}) > 1 and len({y for _, y in route}) > 1:
            row["route"] = [round(part, 1) for x, y in route for part in (x, 0 - y)]
        known[use[:2]] = row
        rows.append({"key": str(len(rows)), "source": str(use[0]), "target": str(use[1]), "attributes": row})
    return rows


def _scopes(plain: Plain, placed: Places) -> list[Attributes]:
    rows = []
    for frame in placed.frames:
        scope = plain.graph.scopes[frame.scope]
        row = {
            "id": frame.scope,
            "label": plain.names[frame.scope],
            "cls": printable(scope.cls),
            "depth": scope.depth,
            "x": round(frame.left, 1),
            "y": round(0 - frame.top, 1),
            "width": round(frame.width, 1),
            "height": round(frame.height, 1),
            "color": frame.fill,
            "border": frame.border,
        }
        if frame.around >= 0:
            row["parent"] = frame.around
        rows.append(row)
    return rows
