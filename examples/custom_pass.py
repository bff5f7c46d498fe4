"""Write a pass: any function from a graph to a graph. This one takes out operators that change nothing.

Run: python examples/custom_pass.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from models import gpt2, token_ids
from msgspec.structs import replace

import trec
from trec.ir.rewrite import with_nodes

if TYPE_CHECKING:
    from trec import Graph


def bypass(graph: Graph, *, op: str) -> Graph:
    """Return the graph without the calls of an operator; what they returned is their first argument.

    Args:
        graph: what to rewrite.
        op: name of the operator, such as `dropout`.
    """
    stands_for: dict[int, int] = {}
    nodes = []
    for node in graph.nodes:
        inputs = tuple(stands_for.get(value, value) for value in node.inputs)
        if node.op == op and len(node.outputs) == 1 and inputs:
            stands_for[node.outputs[0]] = inputs[0]
        else:
            nodes.append(replace(node, inputs=inputs))
    return with_nodes(graph, nodes)  # numbers values anew and drops what is no longer used


def main() -> None:
    """Print a block of GPT-2 before and after."""
    graph = trec.capture(gpt2(layers=1), args=(token_ids(8),))
    shorter = graph.apply(bypass, op="dropout").verify()
    for title, one in (("before", graph), ("after", shorter)):
        ops = [node.op for node in one.nodes if node.kind == "op"]
        print(f"{title:7} {len(ops)} operators, {ops.count('dropout')} of them dropout")
    print("the same pictures from here on:", shorter.collapse(depth=2).to_dot().splitlines()[0])


if __name__ == "__main__":
    main()
