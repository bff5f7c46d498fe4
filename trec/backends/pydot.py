"""Make a `pydot.Dot` of a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from trec.backends import attributes
from trec.backends.lower import lower
from trec.errors import DependencyError

if TYPE_CHECKING:
    import pydot

    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph


def to_pydot(
    graph: Graph,
    **options: Unpack[PictureOptions],
) -> pydot.Dot:
    """Return the drawing of a graph as a `pydot.Dot`.

    Args:
        graph: what to draw.
        **options: see `trec.backends.options.PictureOptions`.

    Raises:
        DependencyError: the package `pydot` is not installed.
    """
    try:
        import pydot
    except ImportError as error:
        raise DependencyError("to_pydot() needs the package pydot: pip install pydot") from error

    drawing = lower(graph, **options)
    dot = pydot.Dot(f'"{attributes.name(drawing)}"', graph_type="digraph", **_quoted(attributes.graph(drawing)))
    dot.add_node(pydot.Node("node", **_quoted(attributes.node(drawing))))
    dot.add_node(pydot.Node("edge", **_quoted(attributes.edge(drawing))))
    looks, frames = attributes.looks(drawing), attributes.frames(drawing)
    label = attributes.Labels(drawing)
    open_clusters: list[Any] = [dot]
    for _, entry in drawing.walk():
        if entry is None:
            inner = open_clusters.pop()
            open_clusters[-1].add_subgraph(inner)
        elif isinstance(entry, int):
            # pydot puts the prefix `cluster_` before the name itself.
            own = attributes.cluster(drawing, label, frames, entry)
            open_clusters.append(pydot.Cluster(str(entry), **_quoted(own)))
        else:
            for index in entry:
                own = attributes.box(drawing, label, looks, index)
                open_clusters[-1].add_node(pydot.Node(f"n{index}", **_quoted(own)))
    if drawing.first:
        first = pydot.Subgraph(rank="source")
        for index in drawing.first:
            first.add_node(pydot.Node(f"n{index}"))
        dot.add_subgraph(first)
    strokes = attributes.strokes(drawing)
    for edge in drawing.edges:
        own = attributes.of_edge(edge, strokes)
        dot.add_edge(pydot.Edge(f"n{edge.source}", f"n{edge.target}", **_quoted(own)))
    return dot


def _quoted(values: dict[str, str]) -> dict[str, Any]:
    return {key: value if value.startswith("<") else f'"{value}"' for key, value in values.items()}
