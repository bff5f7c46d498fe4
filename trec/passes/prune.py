"""Leave out operators whose results nobody needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.selectors import nodes as selected
from trec.ir.derivation import derived
from trec.ir.rewrite import remaining_scopes, with_nodes
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from trec.analysis.selectors import Selector
    from trec.ir.graph import Graph

_ALWAYS = frozenset({"input", "output", "host", "region"})
"""Kinds of nodes that are there for their own sake: what is given and returned, and what acts outside torch."""


def prune(graph: Graph, *, keep: Selector = ()) -> Graph:
    """Return the graph without dead operators: those that no output, host node or unseen code depends on.

    What yields no tensor at all is taken to have an effect and stays, and so do gradients that are added up and steps
    of optimizers. Updates of buffers go unless a later step reads them; parameters, buffers and constants go with their
    last reader.

    Args:
        graph: what to rewrite.
        keep: nodes that stay all the same, with all that they depend on; see `trec.analysis.selectors.nodes`.

    Ensures:
        A path leads from one remaining node to another exactly if one did before. Inputs and outputs stay.

    Raises:
        OptionError: `keep` is wrong, or selects nothing.
    """
    nodes, producers = graph.nodes, graph.producers
    live = bytearray(selected(graph, keep, option="keep"))
    for index, node in enumerate(nodes):
        if not node.outputs or node.kind in _ALWAYS or graph.phase_of(node) == "optimizer":
            live[index] = 1
    for row in graph.derivatives:
        if nodes[row.forward].kind in SOURCE_KINDS:
            live[row.node] = 1
    pending = [edge for edge in graph.carried if not live[producers[edge.value]]]
    while True:
        index = live.rfind(1)
        while index >= 0:
            for value in nodes[index].inputs:
                live[producers[value]] = 1
            index = live.rfind(1, 0, index)
        late = [edge for edge in pending if live[edge.node] and not live[producers[edge.value]]]
        if not late:
            break
        for edge in late:
            live[producers[edge.value]] = 1
    if all(live):
        return graph
    kept = [node for node, is_live in zip(nodes, live, strict=True) if is_live]
    return derived(with_nodes(graph, kept, scopes=remaining_scopes(graph, kept)), graph)
