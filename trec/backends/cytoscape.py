"""Make what Cytoscape.js draws: elements as JSON, with the calls of modules as compound nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.backends.escape import printable
from trec.backends.json_files import exact, write_json
from trec.backends.places import places
from trec.backends.plain import Plain
from trec.ir.collector import paused

if TYPE_CHECKING:
    import os

    from trec.backends.plain import Attributes
    from trec.backends.style import Style
    from trec.backends.themes import ThemeName
    from trec.ir.graph import Graph


@paused()
def to_cytoscape(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    layout: bool = False,
    style: Style | ThemeName | None = None,
) -> dict[str, Any]:
    """Return the graph as JSON for Cytoscape.js, which `cytoscape(data)` and `cy.json(data)` take.

    Nodes are `n0`, `n1`, ..., edges `e0`, `e1`, ...; `s0`, `s1`, ... are the calls of modules and functions, whose
    `kind` is `scope`. The root is none of them.

    Args:
        graph: what to hand over.
        path: file that the JSON text is written to as well; with the suffix `.gz` it is compressed.
        layout: whether nodes have the positions and sizes (`data.width`, `data.height`) of the picture and its colours
            (`data.fill`, `data.border`), for `layout: {name: "preset"}`.
        style: see `trec.backends.options.PictureOptions`; for `layout`.

    Source: "Elements JSON" in the documentation of Cytoscape.js.

    Cost: linear, but for the layout.
    """
    plain = Plain(graph)
    nodes = _scopes(plain)
    for index, node in enumerate(graph.nodes):
        row = {"id": f"n{index}", "label": printable(node.name), **exact(plain.node(node))}
        row.pop("parent")  # a reserved word, for the element around this one
        if node.parent > 0:
            row["parent"] = f"s{node.parent}"
        nodes.append({"data": row})
    if layout:
        placed = places(graph, style=style)
        for index, element in enumerate(nodes[len(nodes) - len(graph.nodes) :]):
            x, y = placed.points[index]
            element["position"] = {"x": round(x, 1), "y": round(y, 1)}
            width, height = placed.sizes[index]
            element["data"] |= {
                "width": round(width, 1),
                "height": round(height, 1),
                "fill": placed.fills[index],
                "border": placed.borders[index],
            }
    edges = [
        {"data": {"id": f"e{index}", "source": f"n{use[0]}", "target": f"n{use[1]}", **plain.use(use)}}
        for index, use in enumerate(plain.uses())
    ]
    data = {"data": {"name": printable(graph.name)}, "elements": {"nodes": nodes, "edges": edges}}
    if path is not None:
        write_json(path, data)
    return data


def _scopes(plain: Plain) -> list[Attributes]:
    """Return a compound node for each scope but the root that holds something."""
    graph = plain.graph
    wanted = [False] * len(graph.scopes)
    for index in range(len(graph.scopes) - 1, 0, -1):
        if graph.nodes_in[index] or any(wanted[inner] for inner in graph.scopes_in[index]):
            wanted[index] = True
    rows: list[Attributes] = []
    for index, scope in enumerate(graph.scopes):
        if wanted[index]:
            row = {
                "id": f"s{index}",
                "label": plain.names[index],
                "kind": "scope",
                "scope_kind": scope.kind,
                "cls": printable(scope.cls),
                "path": plain.paths[index],
                "call": scope.call,
                "depth": scope.depth,
                "count": graph.counts[index],
            }
            if scope.parent > 0:
                row["parent"] = f"s{scope.parent}"
            rows.append({"data": row})
    return rows
