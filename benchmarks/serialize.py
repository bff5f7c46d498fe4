"""Seconds and bytes to save, load and verify a large graph: `python benchmarks/serialize.py [nodes]`."""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from trec.ir.builder import GraphBuilder
from trec.ir.serialize import load
from trec.ir.types import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

OPS = ("linear", "relu", "layer_norm", "matmul", "softmax", "dropout", "__add__", "view", "transpose", "conv2d")


def large(nodes: int) -> Graph:
    """Return a graph of so many nodes in which one module call holds ten of them."""
    builder = GraphBuilder("Large", meta=(("level", "function"),))
    root = builder.scope("module", path="", cls="Large")
    types = [builder.tensor_type((8, 128, 64 * size), "float32") for size in range(1, 9)]
    (value,) = builder.node("input", parent=root, name="x", results=types[:1], attrs=(("index", 0),))
    before, block = value, root
    for index in range(nodes - 2):
        if index % 10 == 0:
            block = builder.scope("module", path=f"layers.{index // 10}", cls="Block", parent=root)
            name = f"layers.{index // 10}.weight"
            (weight,) = builder.node("param", parent=block, name=name, results=types[:1], attrs=(("qualname", name),))
            before = weight
            continue
        source = Source("model.py", 1 + index % 50)
        attrs = (("dim", index % 7), ("bias", True)) if index % 3 == 0 else ()
        (result,) = builder.node(
            "op",
            OPS[index % 10],
            parent=block,
            inputs=[value, before],
            results=[types[index % 8]],
            attrs=attrs,
            source=source,
        )
        before, value = value, result
    builder.node("output", parent=root, inputs=[value], attrs=(("index", 0),))
    return builder.build()


def main() -> None:
    """Print the figures of one graph in each format."""
    graph = large(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    print(repr(graph))
    print(f"{'verify':12} {best(graph.verify):6.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".trec", ".json", ".trec.gz"):
            path = Path(folder, f"large{suffix}")
            saved = best(partial(graph.save, path))
            loaded = best(partial(load, path))
            size = path.stat().st_size / 1e6
            print(f"{suffix:12} save {saved:5.2f} s   load and verify {loaded:5.2f} s   {size:6.1f} MB")


def best(function: Callable[[], object], times: int = 3) -> float:
    """Return the least of some runs' seconds."""
    seconds = []
    for _ in range(times):
        start = perf_counter()
        result = function()
        seconds.append(perf_counter() - start)
        del result  # to free a graph is not part of making it
    return min(seconds)


if __name__ == "__main__":
    main()
