"""How long DOT text, the drawing beneath it and the networkx view of a large graph take, and how much memory.

Run: python benchmarks/dot.py [nodes]
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from typing import TYPE_CHECKING, Any

from trec.backends.dot import lines
from trec.backends.lower import lower
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph


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


def measure(label: str, work: Callable[[], Any]) -> Any:
    """Run the work once for the time and once for the peak of memory, print both and return its result."""
    start = time.perf_counter()
    result = work()
    seconds = time.perf_counter() - start
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"{label:12} {seconds:8.3f} s {peak / 2**20:8.1f} MiB")
    return result


def main(nodes: int) -> None:
    """Print the figures for a graph of that many nodes."""
    graph = blocks(nodes)
    uses = sum(len(node.inputs) for node in graph.nodes)
    print(f"{len(graph.nodes)} nodes, {uses} edges, {len(graph.scopes)} scopes")
    drawing = measure("lower", lambda: lower(graph, params=True))
    text = measure("print", lambda: "\n".join(lines(drawing)))
    print(f"{len(text) / 2**20:.1f} MiB of DOT, {len(drawing.boxes)} boxes, {len(drawing.edges)} edges")
    measure("networkx", graph.to_networkx)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
