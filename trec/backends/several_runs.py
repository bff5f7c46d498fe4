"""What a picture of several runs shows: which boxes, frames and arrows were not there in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.ir.run_marks import EITHER, READ_IN, ports, run_names, runs_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trec.backends.boxes import Painter
    from trec.backends.drawing import Boxes, Cluster
    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope

_ROOMY = frozenset({"box", "pill"})
"""Shapes that have room for more than a sign."""


def mark(graph: Graph, painter: Painter, boxes: Boxes, clusters: list[Cluster]) -> tuple[Boxes, list[Cluster]]:
    """Return boxes and frames, dashed what did not run in all runs, with words in how many; links say their ways.

    Args:
        graph: what is drawn.
        painter: where faces and looks are.
        boxes: those of nodes.
        clusters: the frames.
    """
    faces = [_marked(graph, painter, graph.nodes[at], face) for at, face in zip(boxes.nodes, boxes.face, strict=True)]
    frames = list(clusters)
    for at, (cluster, scope) in enumerate(zip(clusters, painter.plan.scopes, strict=True)):
        often = how_often(graph, graph.scopes[scope])
        if often:
            look, subtitle = painter.looks.dashed(cluster.look), joined(cluster.subtitle, often)
            frames[at] = replace(cluster, look=look, subtitle=subtitle)
    return replace(boxes, faces=tuple(painter.faces), face=faces), frames


def _marked(graph: Graph, painter: Painter, node: Node, face: int) -> int:
    row = painter.faces[face]
    often = how_often(graph, node)
    if often:
        roomy = painter.looks[row.look].shape in _ROOMY
        look, detail = painter.looks.dashed(row.look), joined(row.detail, often if roomy else "")
        row = replace(row, look=look, detail=detail)
    return painter.faces.add(replace(row, about="\n".join([row.about, *ways(graph, node)])))


def joined(*words: str) -> str:
    """Return texts as one, without empty ones."""
    return " · ".join(filter(None, words))


def how_often(graph: Graph, row: Node | Scope) -> str:
    """Return in how many runs a node or call ran, in words; nothing if in all, or if the graph is of one run."""
    of = len(run_names(graph))
    count = len(_runs(graph, row)) if of else 0
    return f"{count} of {of}" if count < of else ""


def partial_uses(graph: Graph, box_of: Sequence[int], origin: Sequence[int]) -> set[tuple[int, int]]:
    """Return the pairs of boxes between which nothing flows in some of the runs.

    Args:
        graph: what is drawn.
        box_of: for each node the index of its box, -1 if it is hidden.
        origin: for each value the box that it comes from, -1 if that is hidden.
    """
    found: dict[tuple[int, int], set[int]] = {}
    for index, value, runs in runs_of_uses(graph):
        pair = (origin[value], box_of[index])
        if min(pair) >= 0:
            found.setdefault(pair, set()).update(runs)
    return {pair for pair, runs in found.items() if len(runs) < len(run_names(graph))}


def runs_of_uses(graph: Graph) -> Iterator[tuple[int, int, set[int]]]:
    """Yield each use in a graph of several runs, as node and value, and the runs that it is there in."""
    for index, node in enumerate(graph.nodes if run_names(graph) else ()):
        runs, read = set(_runs(graph, node)), ports(graph, node, READ_IN)
        for port, value in enumerate(node.inputs):
            yield index, value, runs.intersection(read.get(port, runs))


def ways(graph: Graph, node: Node) -> list[str]:
    """Return which runs a link takes which of its inputs in, in words; nothing for any other node."""
    if node.op != EITHER or node.kind != "link":
        return []
    names, read = run_names(graph), ports(graph, node, READ_IN)
    return [
        f"{graph.values[value].name} in {', '.join([names[run] for run in read.get(port, ()) if run < len(names)])}"
        for port, value in enumerate(node.inputs)
    ]


def _runs(graph: Graph, row: Node | Scope) -> tuple[int, ...]:
    scope = getattr(row, "scope", -1)
    return runs_of(graph, graph.scopes[scope] if scope >= 0 else row)
