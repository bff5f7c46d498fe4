"""Make a `graphviz.Digraph` of a drawing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Unpack

from trec.backends import attributes
from trec.backends.lower import lower
from trec.errors import DependencyError

if TYPE_CHECKING:
    import graphviz

    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph

_NOT_IN_FILE_NAMES = re.compile(r"[^\w.-]+")


def to_graphviz(
    graph: Graph,
    **options: Unpack[PictureOptions],
) -> graphviz.Digraph:
    """Return the drawing of a graph as a `graphviz.Digraph`.

    Rendering it needs the program `dot`; `trec.backends.svg.to_svg` does without.

    Args:
        graph: what to draw.
        **options: see `trec.backends.options.PictureOptions`.

    Raises:
        DependencyError: the package `graphviz` is not installed.
    """
    try:
        import graphviz
    except ImportError as error:
        raise DependencyError("to_graphviz() needs the package graphviz: pip install graphviz") from error

    drawing = lower(graph, **options)
    digraph = graphviz.Digraph(
        attributes.name(drawing),
        filename=(_NOT_IN_FILE_NAMES.sub("_", drawing.name).strip("._-")[:64] or "graph") + ".gv",
        graph_attr=attributes.graph(drawing),
        node_attr=attributes.node(drawing),
        edge_attr=attributes.edge(drawing),
    )
    looks, frames = attributes.looks(drawing), attributes.frames(drawing)
    label = attributes.Labels(drawing)
    open_clusters = [digraph]
    for _, entry in drawing.walk():
        if entry is None:
            inner = open_clusters.pop()
            open_clusters[-1].subgraph(inner)
        elif isinstance(entry, int):
            own = attributes.cluster(drawing, label, frames, entry)
            open_clusters.append(graphviz.Digraph(f"cluster_{entry}", graph_attr=own))
        else:
            for index in entry:
                open_clusters[-1].node(f"n{index}", _attributes=attributes.box(drawing, label, looks, index))
    if drawing.first:
        first = graphviz.Digraph(graph_attr={"rank": "source"})
        for index in drawing.first:
            first.node(f"n{index}")
        digraph.subgraph(first)
    strokes = attributes.strokes(drawing)
    for edge in drawing.edges:
        digraph.edge(f"n{edge.source}", f"n{edge.target}", _attributes=attributes.of_edge(edge, strokes))
    return digraph
