"""Take out operators that change nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.selectors import nodes as selected
from trec.ir.rewrite import remaining_scopes, with_nodes

if TYPE_CHECKING:
    from trec import Graph


def bypass(graph: Graph, *, what: str) -> Graph:
    """Return the graph without some operators; what they returned is their first argument.

    Args:
        graph: what to rewrite.
        what: a selector, such as `op:dropout`.
    """
    mask = selected(graph, what, option="what")
    stands_for: dict[int, int] = {}
    nodes = []
    for index, node in enumerate(graph.nodes):
        inputs = tuple([stands_for.get(value, value) for value in node.inputs])
        if mask[index] and node.kind == "op" and inputs and len(node.outputs) == 1:
            stands_for[node.outputs[0]] = inputs[0]
        else:
            nodes.append(replace(node, inputs=inputs))
    return with_nodes(graph, nodes, scopes=remaining_scopes(graph, nodes))
