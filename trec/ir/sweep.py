"""One loop over the nodes that finds out whether any of several checks would find a fault.

A graph of a million nodes is checked whenever it is loaded, and nearly always all is well. Then one loop is enough,
which takes half the time of the single checks. What is wrong, and where, they say themselves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.facts import depth, form

if TYPE_CHECKING:
    from trec.ir.facts import Facts, Form
    from trec.ir.types import Node

SWEPT = frozenset({"node-indices", "one-producer", "production-order", "inputs-earlier", "node-depths"})
"""The names of the checks that find nothing where `sweep` finds nothing."""


def sweep(facts: Facts) -> bool:
    """Return whether nodes refer to what exists, read what earlier ones make, and lie at the right depths.

    Found on the way, and left in `facts`: the nodes that are special. To come back for them would take longer than to
    check them, as they lie far apart in memory.
    """
    graph, inside, places, made = facts.graph, facts.inside, facts.places, 0
    scopes, attrs, sources = len(graph.scopes), len(graph.attrs), len(graph.sources)
    special: dict[Form, Node] = {}
    for node in graph.nodes:
        for value in node.inputs:
            if value >= made or value < 0:
                return False
        outputs = node.outputs
        if len(outputs) == 1 and outputs[0] == made:
            made += 1
        else:
            for value in outputs:
                if value != made:
                    return False
                made += 1
        parent, row, source = node.parent, node.attrs, node.source
        if parent >= scopes or parent < 0 or row >= attrs or row < 0 or source >= sources or source < -1:
            return False
        if node.scope != -1 or node.kind != "op" or node.depth != inside[parent]:
            if not -1 <= node.scope < scopes or node.depth != depth(node, graph.scopes, inside):
                return False
            special.setdefault(form(node, graph.scopes, places), node)
    facts.special = special
    return made == len(graph.values)
