"""What loops carry in one graph and not in another."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trec.analysis.edit_texts import Row
    from trec.ir.graph import Graph


def carried_rows(before: Graph, after: Graph, nodes: Mapping[int, int], scopes: Mapping[int, int]) -> Iterator[Row]:
    """Yield an edit for each value that a loop carries in one of two graphs alone, between steps that both have.

    Args:
        before: the earlier graph.
        after: the later one.
        nodes: for each node of `before` that has one, its partner in `after`.
        scopes: the same of scopes.
    """
    found = set(nodes.values())
    loops = {scope: scope for scope in scopes.values()}
    old = _told(before, nodes, scopes)
    new = _told(after, {node: node for node in found}, loops)
    for key in [key for key in new if key not in old]:
        yield "rewired", "loop", after.nodes[key[1]].name, "nothing", new[key]
    for key in [key for key in old if key not in new]:
        yield "rewired", "loop", after.nodes[key[1]].name, old[key], "nothing"


def _told(
    graph: Graph, nodes: Mapping[int, int], scopes: Mapping[int, int]
) -> dict[tuple[int, int, int, int, int], str]:
    """Return what is carried, by who makes it, who reads it, the ports of both, and the loop: all as in the later."""
    rows = {}
    for edge in graph.carried:
        maker = graph.producers[edge.value]
        if maker not in nodes or edge.node not in nodes:
            continue
        output = graph.nodes[maker].outputs.index(edge.value)
        key = nodes[maker], nodes[edge.node], output, edge.port, scopes.get(edge.loop, -1)
        rows[key] = f"{graph.values[edge.value].name} carried to {graph.nodes[edge.node].name}"
    return rows
