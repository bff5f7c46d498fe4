"""Print a graph as GraphML, which yEd, igraph and networkx read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.backends.escape import xml
from trec.backends.xml_rows import Rows
from trec.ir.atomic import write_text

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from trec.backends.xml_rows import CellType, Column
    from trec.ir.graph import Graph

_TYPES: dict[CellType, str] = {"string": "string", "integer": "int", "long": "long", "boolean": "boolean"}


def to_graphml(graph: Graph, path: str | os.PathLike[str] | None = None) -> str:
    """Return the graph as GraphML: one node per node, one edge per use, all that is known as attributes.

    Args:
        graph: what to write.
        path: file that the text is written to as well; with the suffix `.gz` it is compressed. To write a large graph
            without holding its text, use `graph.write`.
    """
    text = "\n".join(lines(graph)) + "\n"
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text


def write(graph: Graph, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the graph as GraphML, line by line."""
    write_text(path, lines(graph, **options))


def lines(graph: Graph) -> Iterator[str]:
    """Yield the lines of a graph as GraphML, without line ends.

    Source: "GraphML Primer", the GraphML project team. Nodes lie flat, because few readers know nested graphs; the
    attribute `scope` tells what holds them.
    """
    nodes, edges = Rows(graph, _node_cell), Rows(graph, _edge_cell)
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    yield '<key id="g0" for="graph" attr.name="name" attr.type="string"/>'
    yield '<key id="n" for="node" attr.name="name" attr.type="string"/>'
    for column in nodes.of_nodes.values():
        yield _key(f"n{column.id}", "node", column)
    for column in edges.of_uses.values():
        yield _key(f"e{column.id}", "edge", column)
    yield f'<graph edgedefault="directed">\n<data key="g0">{xml(graph.name)}</data>'
    for index, (node, cells) in enumerate(zip(graph.nodes, nodes.nodes(), strict=True)):
        yield f'<node id="{index}"><data key="n">{xml(node.name)}</data>{cells}</node>'
    for use, cells in edges.uses():
        yield f'<edge source="{use[0]}" target="{use[1]}">{cells}</edge>'
    yield "</graph>\n</graphml>"


def _key(id_: str, kind: str, column: Column) -> str:
    return f'<key id="{id_}" for="{kind}" attr.name="{xml(column.title)}" attr.type="{_TYPES[column.type]}"/>'


def _node_cell(column: Column, value: str) -> str:
    return f'<data key="n{column.id}">{value}</data>'


def _edge_cell(column: Column, value: str) -> str:
    return f'<data key="e{column.id}">{value}</data>'
