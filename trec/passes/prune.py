"""Leave out operators whose results nobody needs."""

from __future__ import annotations

from operator import or_
from typing import TYPE_CHECKING

from trec.analysis.effects import effects
from trec.analysis.selectors import nodes as selected
from trec.ir.derivation import derived
from trec.ir.rewrite import remaining_scopes, with_nodes

if TYPE_CHECKING:
    from trec.analysis.selectors import Selector
    from trec.ir.graph import Graph

_ALWAYS = frozenset({"input", "output"})
"""Kinds of nodes that are there for their own sake: what is given and returned."""


def prune(graph: Graph, *, keep: Selector = ()) -> Graph:
    """Return the graph without dead operators: those that no output and nothing with an effect depends on.

    Effects are what shows elsewhere (see `trec.analysis.effects.effects`): writes into what the caller gave or the
    model keeps, running statistics and random numbers, what ranks communicate, what leaves torch. Parameters, buffers
    and constants go with their last reader. A collapsed call counts by its results alone, so prune before `collapse`.

    Args:
        graph: what to rewrite.
        keep: nodes that stay all the same, with all that they depend on; see `trec.analysis.selectors.nodes`.

    Ensures:
        A path leads from one remaining node to another exactly if one did before. Inputs and outputs stay.

    Raises:
        OptionError: `keep` is wrong, or selects nothing.
    """
    nodes, producers = graph.nodes, graph.producers
    live = bytearray(map(or_, selected(graph, keep, option="keep"), effects(graph)))
    for index, node in enumerate(nodes):
        if node.kind in _ALWAYS:
            live[index] = 1
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
