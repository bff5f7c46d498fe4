"""How long DOT text of a large graph takes, and how much memory, beside bare f-strings and other makers of DOT.

Run: python benchmarks/dot.py [nodes]

Seconds are of processor time, the least of three runs; memory is what Python allocates at most, found out in a run of
its own. The others take too long for a large graph, so they get one of a tenth of the nodes. The last column is the
time for a line of text, as a multiple of what it takes a loop with one f-string for each node and each edge.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
import warnings
from typing import TYPE_CHECKING, Any

import graphviz
import networkx

from trec.backends.dot import lines
from trec.backends.lower import lower
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

_LOOK = 'shape="box" style="rounded,filled" fillcolor="#ece6fb" color="#7a5fc0" fontcolor="#1b2430" fontsize="10"'
_STROKE = 'color="#8e98a8"'


def blocks(nodes: int) -> Graph:
    """Return a graph of about that many nodes and twice as many edges: residual blocks in a row."""
    builder = GraphBuilder("Blocks", (("level", "function"),))
    root = builder.scope("module", path="", cls="Blocks")
    wide = builder.tensor_type((8, 128, 768), "float32")
    matrix = builder.tensor_type((768, 768), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[wide], attrs=(("index", 0),))
    size = 10
    for index in range(max(1, nodes // size)):
        block = builder.scope("module", path=f"layers.{index}", cls="Block", parent=root)
        (y,) = builder.node("op", "layer_norm", parent=block, inputs=[x], results=[wide])
        parts = []
        for name in ("q", "k"):
            path = f"layers.{index}.{name}"
            scope = builder.scope(
                "module", path=path, cls="Linear", parent=block, attrs=(("in_features", 768), ("out_features", 768))
            )
            (weight,) = builder.node("param", parent=scope, name=f"{path}.weight", results=[matrix])
            (part,) = builder.node("op", "linear", parent=scope, inputs=[y, weight], results=[wide])
            parts.append(part)
        (y,) = builder.node("op", "scaled_dot_product_attention", parent=block, inputs=[*parts, y, x], results=[wide])
        (y,) = builder.node("op", "__add__", parent=block, inputs=[x, y], results=[wide])
        (z,) = builder.node("op", "gelu", parent=block, inputs=[y, x, *parts], results=[wide])
        (z,) = builder.node("op", "reshape", parent=block, inputs=[z, y, x], results=[wide])
        (x,) = builder.node("op", "__add__", parent=block, inputs=[y, z], results=[wide])
    builder.node("output", parent=root, name="output", inputs=[x], attrs=(("index", 0),))
    return builder.build()


def bare(graph: Graph) -> str:
    """Return DOT as it is made without any thought: one f-string for each node and each edge."""
    nodes, values, producers = graph.nodes, graph.values, graph.producers
    rows = ["digraph {"]
    for index, node in enumerate(nodes):
        rows.append(f'\tn{index} [label="{node.op}" tooltip="{node.name}: {node.op}" {_LOOK}]')
    for index, node in enumerate(nodes):
        for value in node.inputs:
            rows.append(f'\tn{producers[value]} -> n{index} [tooltip="{values[value].name}: 8×128×768" {_STROKE}]')
    return "\n".join([*rows, "}"])


def by_graphviz(graph: Graph) -> str:
    """Return the same as the package `graphviz` writes it."""
    look, stroke = ({key: value.strip('"') for key, value in map(_pair, text.split())} for text in (_LOOK, _STROKE))
    digraph = graphviz.Digraph()
    for index, node in enumerate(graph.nodes):
        digraph.node(f"n{index}", label=node.op, tooltip=f"{node.name}: {node.op}", **look)
    for index, node in enumerate(graph.nodes):
        for value in node.inputs:
            tooltip = f"{graph.values[value].name}: 8×128×768"
            digraph.edge(f"n{graph.producers[value]}", f"n{index}", tooltip=tooltip, **stroke)
    return str(digraph.source)


def _pair(text: str) -> list[str]:
    return text.split("=")


def by_pydot(graph: Graph) -> str:
    """Return what networkx writes of the nodes and edges by way of pydot."""
    network: networkx.MultiDiGraph[int] = networkx.MultiDiGraph()
    network.add_nodes_from((index, {"label": node.op}) for index, node in enumerate(graph.nodes))
    uses = [(graph.producers[value], index) for index, node in enumerate(graph.nodes) for value in node.inputs]
    network.add_edges_from(uses)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(networkx.nx_pydot.to_pydot(network))


def measure(label: str, work: Callable[[], Any], unit: float = 0.0, rows: int = 0) -> tuple[Any, float]:
    """Run the work for the time and for the peak of memory, print both, and return its result and the seconds."""
    seconds = min(_seconds(work) for _ in range(3))
    tracemalloc.start()
    result = work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    ratio = f"{seconds / rows / unit:8.1f}" if unit else ""
    print(f"{label:32} {seconds:8.2f} s {peak / 2**20:8.0f} MiB {ratio}")
    return result, seconds


def _seconds(work: Callable[[], Any]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _size(graph: Graph) -> int:
    return len(graph.nodes) + sum(len(node.inputs) for node in graph.nodes)


def main(nodes: int) -> None:
    """Print the figures for a graph of that many nodes, and those of others for a tenth."""
    graph = blocks(nodes)
    rows = _size(graph)
    print(f"{len(graph.nodes)} nodes, {rows - len(graph.nodes)} edges, {len(graph.scopes)} scopes")
    text, seconds = measure("bare f-strings", lambda: bare(graph))
    unit = seconds / rows
    print(f"{'':32} {len(text) / 2**20:8.0f} MiB of text")
    text, _ = measure("DOT", lambda: graph.to_dot(params=True), unit, rows)
    print(f"{'':32} {len(text) / 2**20:8.0f} MiB of text")
    del text
    drawing, _ = measure("  lower", lambda: lower(graph, params=True), unit, rows)
    measure("  print", lambda: sum(map(len, lines(drawing))), unit, rows)
    few = blocks(nodes // 10)
    measure("a tenth: DOT", lambda: few.to_dot(params=True), unit, _size(few))
    measure("a tenth: graphviz.Digraph", lambda: by_graphviz(few), unit, _size(few))
    measure("a tenth: networkx and pydot", lambda: by_pydot(few), unit, _size(few))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
