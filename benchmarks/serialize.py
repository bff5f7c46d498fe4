"""Seconds and bytes to save, load and verify a large graph, beside others: `python benchmarks/serialize.py [nodes]`.

Seconds are of the processor, the least of some runs. `pickle` writes and reads the same graph, without a check;
networkx has the same nodes and edges as JSON (`node_link_data`), of a tenth as many nodes, times ten.
"""

from __future__ import annotations

import json
import pickle
import sys
import tempfile
from functools import partial
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import networkx

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


def main(nodes: int) -> None:
    """Print the figures of one graph in each format, and of others."""
    graph = large(nodes)
    print(repr(graph))
    print(f"{'verify':12} {best(graph.verify):6.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        own = times(".trec", graph.save, load, Path(folder, "large.trec"))
        times(".json", graph.save, load, Path(folder, "large.json"), own)
        times(".trec.gz", graph.save, load, Path(folder, "large.trec.gz"), own)
        times("pickle", partial(_pickled, graph), _unpickled, Path(folder, "large.pickle"), own)
        network = large(nodes // 10).to_networkx(scopes=False)
        times("networkx", partial(_linked, network), _unlinked, Path(folder, "large.nx"), own, factor=10)


def times(
    label: str,
    save: Callable[[Path], object],
    load: Callable[[Path], object],
    path: Path,
    own: tuple[float, float] | None = None,
    factor: int = 1,
) -> tuple[float, float]:
    """Print how long a file takes to be saved and loaded, and how many times as long as that of `own`; return both."""
    saved, loaded = best(partial(save, path)) * factor, best(partial(load, path)) * factor
    ratio = f"   {saved / own[0]:6.1f} and {loaded / own[1]:5.1f} times as long" if own else ""
    size = path.stat().st_size * factor / 1e6
    print(f"{label:12} save {saved:6.2f} s   load {loaded:6.2f} s   {size:6.1f} MB{ratio}")
    return saved, loaded


def _pickled(graph: Graph, path: Path) -> None:
    path.write_bytes(pickle.dumps(graph, protocol=5))


def _unpickled(path: Path) -> Any:
    return pickle.loads(path.read_bytes())


def _linked(network: Any, path: Path) -> None:
    path.write_text(json.dumps(networkx.node_link_data(network, edges="edges")))


def _unlinked(path: Path) -> Any:
    return networkx.node_link_graph(json.loads(path.read_text()), edges="edges")


def best(function: Callable[[], object], runs: int = 3) -> float:
    """Return the least processor time of some runs, in seconds."""
    seconds = []
    for _ in range(runs):
        start = process_time()
        result = function()
        seconds.append(process_time() - start)
        del result  # to free a graph is not part of making it
    return min(seconds)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
