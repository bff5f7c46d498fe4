"""Processor seconds to collapse a large graph to each depth, beside networkx: `python benchmarks/collapse.py [nodes]`.

The networkx figure is for merging nodes in a `MultiDiGraph` that is there already, without sums, ports or an order. At
the depth below the deepest module trec has nothing to do and networkx copies.
"""

from __future__ import annotations

import sys
from time import process_time
from typing import TYPE_CHECKING, Any

import networkx

from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

RUNS = 3


def layers(nodes: int) -> Graph:
    """Return a graph of about so many nodes: layers of two modules that call linear ones, with operators between."""
    builder = GraphBuilder("Layers", (("level", "function"),))
    builder.scope("module", path="", cls="Layers")
    wide = builder.tensor_type((8, 128, 64), "float32")
    square = builder.tensor_type((64, 64), "float32")
    (x,) = builder.node("input", parent=0, name="x", results=[wide], attrs=(("index", 0),))
    number = 0
    while len(builder.nodes) < nodes - 1:
        layer = builder.scope("module", path=f"layers.{number}", cls="Layer", parent=0)
        for part, linears in (("attention", ("query", "key", "value", "out")), ("mlp", ("up", "down"))):
            path = f"layers.{number}.{part}"
            inside = builder.scope("module", path=path, cls=part.title(), parent=layer)
            h = x
            for name in linears:
                linear = builder.scope("module", path=f"{path}.{name}", cls="Linear", parent=inside)
                attrs = (("qualname", f"{path}.{name}.weight"),)
                (weight,) = builder.node("param", parent=linear, name=attrs[0][1], results=[square], attrs=attrs)
                (y,) = builder.node("op", "linear", parent=linear, inputs=[h, weight], results=[wide])
                (y,) = builder.node("op", "view", parent=inside, inputs=[y], results=[wide])
                (h,) = builder.node("op", "mul", parent=inside, inputs=[y, h], results=[wide])
            (x,) = builder.node("op", "add", parent=layer, inputs=[x, h], results=[wide])
        number += 1
    builder.node("output", parent=0, name="output0", inputs=[x], attrs=(("index", 0),))
    return builder.build()


def merged(network: Any, groups: list[int]) -> Any:
    """Return a networkx graph in which nodes of one group are one node, as one would write it by hand."""
    result: Any = networkx.MultiDiGraph()
    for node, row in network.nodes(data=True):
        group = groups[row["parent"]]
        result.add_node(node if group < 0 else ("call", group), **row)
    for source, target, row in network.edges(data=True):
        ends = [
            node if (group := groups[network.nodes[node]["parent"]]) < 0 else ("call", group)
            for node in (source, target)
        ]
        if ends[0] != ends[1]:
            result.add_edge(*ends, **row)
    return result


def groups_at(graph: Graph, depth: int) -> list[int]:
    """Return for each scope the one at that depth around it, or -1."""
    groups: list[int] = []
    for index, scope in enumerate(graph.scopes):
        outer = groups[scope.parent] if scope.parent >= 0 else -1
        groups.append(index if scope.depth == depth else outer)
    return groups


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the least time of some runs, and the last result."""
    times = []
    result: Any = None
    for _ in range(RUNS):
        result = None  # to free the last one is not part of making the next
        start = process_time()
        result = work()
        times.append(process_time() - start)
    return min(times), result


def main(nodes: int) -> None:
    """Print the figures for a graph of about so many nodes."""
    graph = layers(nodes)
    print(f"{len(graph.nodes)} nodes, {len(graph.scopes)} scopes")
    figures = []
    for depth in range(5):
        time, collapsed = seconds(lambda depth=depth: graph.collapse(depth=depth))  # type: ignore[misc]
        figures.append((time, len(collapsed.nodes)))
        del collapsed
    network = graph.to_networkx(scopes=False)
    for depth, (time, count) in enumerate(figures):
        groups = groups_at(graph, depth)
        start = process_time()
        merged(network, groups)
        baseline = process_time() - start
        print(f"depth {depth}: {count:8} nodes {time:8.3f} s, networkx {baseline:8.3f} s, {baseline / time:6.1f} times")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
