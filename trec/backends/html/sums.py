"""What the calls of a graph hold, all that is inside them counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.costs import costs
from trec.analysis.sums import Sums

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def sums(graph: Graph) -> dict[str, list[int]]:
    """Return what is in each scope.

    These are operators (`ops`), distinct elements of parameters (`params`), floating point operations (`flops`), bytes
    of results (`bytes`) and of parameters (`held`).

    Of a scope that stands for several equal calls it is what one of them holds; repeats inside are counted.

    Cost: linear, times the depth of scopes.
    """
    found = costs(graph).scopes
    return {
        "ops": _operators(graph),
        "params": [params for _, params, _, _ in Sums(graph).of_scopes],
        "flops": [cost.flops or 0 for cost in found],
        "bytes": [cost.output_bytes for cost in found],
        "held": [cost.parameter_bytes for cost in found],
    }


def _operators(graph: Graph) -> list[int]:
    counts = [0] * len(graph.scopes)
    for node in graph.nodes:
        if node.kind == "op":
            counts[node.parent if node.scope < 0 else node.scope] += 1
        elif node.kind == "module":
            inside = graph.attrs_of(node).get("ops")
            counts[node.scope] += inside if isinstance(inside, int) else 1
    for index in range(len(counts) - 1, 0, -1):
        scope = graph.scopes[index]
        counts[scope.parent] += counts[index] * (1 + len(scope.repeats))
    return counts
