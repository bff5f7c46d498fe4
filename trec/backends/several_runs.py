"""What a picture of several runs shows: which boxes, frames and arrows were not there in all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.run_marks import EITHER, READ_IN, ports, run_names, runs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope


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
    of = len(run_names(graph))
    found: dict[tuple[int, int], set[int]] = {}
    for index, node in enumerate(graph.nodes if of else ()):
        runs, read = set(_runs(graph, node)), ports(graph, node, READ_IN)
        for port, value in enumerate(node.inputs):
            pair = (origin[value], box_of[index])
            if min(pair) >= 0:
                found.setdefault(pair, set()).update(runs.intersection(read.get(port, runs)))
    return {pair for pair, runs in found.items() if len(runs) < of}


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
