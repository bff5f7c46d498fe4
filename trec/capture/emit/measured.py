"""What a recording with costs has measured, put on the nodes and calls of its graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.costs import with_flops
from trec.ir.rewrite import with_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trec.capture.emit.program import Program
    from trec.ir.graph import Graph


def measured(
    graph: Graph,
    program: Program,
    seconds: Mapping[int, float],
    scopes: Sequence[str],
    steps: Sequence[str],
    groups: Sequence[str],
) -> Graph:
    """Return the graph with floating point operations on its nodes, and with what was timed.

    Args:
        graph: the graph of the program, one node for each step.
        program: its steps with their costs.
        seconds: what each call of a module took, by index of its scope.
        scopes: names of the calls of modules.
        steps: names of the steps.
        groups: names of the calls of functions; one took what its operators did.
    """
    attrs = list(graph.attrs)
    flops = [0 if step.cost is None else step.cost[0] for step in program.steps]
    counted = with_nodes(graph, with_flops(graph.nodes, flops, attrs), attrs=attrs)
    found = {scopes[scope]: taken for scope, taken in seconds.items()}
    found.update(dict.fromkeys(groups, 0.0))
    for step, name in zip(program.steps, steps, strict=True):
        if step.cost is not None:
            found[name] = step.cost[1]
            if step.group >= 0:
                found[groups[step.group]] += step.cost[1]
    counted.__dict__["seconds"] = found
    return counted
