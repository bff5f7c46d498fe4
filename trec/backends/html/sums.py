"""What the calls of a graph hold, all that is inside them counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.costs import costs
from trec.analysis.sizes import elements

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
        "params": _parameters(graph),
        "flops": [cost.flops or 0 for cost in found],
        "bytes": [cost.output_bytes for cost in found],
        "held": [cost.parameter_bytes for cost in found],
    }


def _operators(graph: Graph) -> list[int]:
    counts = [0] * len(graph.scopes)
    for node in graph.nodes:
        if node.kind == "op":
            counts[node.parent] += 1
        elif node.kind == "module":
            inside = graph.attrs_of(node).get("ops")
            counts[node.scope] += inside if isinstance(inside, int) else 1
    for index in range(len(counts) - 1, 0, -1):
        scope = graph.scopes[index]
        counts[scope.parent] += counts[index] * (1 + len(scope.repeats))
    return counts


def _parameters(graph: Graph) -> list[int]:
    """Count each parameter once in every scope that holds one of its readers."""
    own: list[dict[int, int]] = [{} for _ in graph.scopes]
    inner = [0] * len(graph.scopes)
    sizes = {
        value: elements(graph.type_of(value))
        for node in graph.nodes
        if node.kind == "param"
        for value in node.outputs
    }  # fmt: skip
    for node in graph.nodes:
        read = {value: sizes[value] for value in node.inputs if value in sizes}
        scope = node.scope if node.kind == "module" else node.parent
        own[scope].update(read)
        inside = graph.attrs_of(node).get("params") if node.kind == "module" else None
        if isinstance(inside, int):
            inner[scope] += inside - sum(read.values())
    counts = [0] * len(graph.scopes)
    for index in range(len(own) - 1, -1, -1):
        around, times = graph.scopes[index].parent, 1 + len(graph.scopes[index].repeats)
        counts[index] = inner[index] + sum(own[index].values())
        if index:
            # What is read in a repeated call is another parameter each time, unless it lies outside.
            own[around].update({value: size * times for value, size in own[index].items()})
            inner[around] += inner[index] * times
            own[index].clear()
    return counts
