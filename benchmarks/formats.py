"""How long a large graph takes in each format, and how much memory, beside the writers of networkx.

Run: python benchmarks/formats.py [nodes]

Seconds are of processor time; memory is what Python allocates at most, found out in a run of its own.
"""

from __future__ import annotations

import sys
import tempfile
import time
import tracemalloc
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import networkx

from benchmarks.dot import blocks
from trec.backends.places import places

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

_SVG_NODES = 10_000
_SUFFIXES = (".gexf", ".graphml", ".csv", ".me.json", ".cyto.json")


def report(label: str, work: Callable[[], object], path: Path | None = None) -> None:
    """Print how long the work takes, its peak of memory, and the size of the file that it writes."""
    start = time.process_time()
    work()
    seconds = time.process_time() - start
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = f"{path.stat().st_size / 2**20:7.1f} MiB written" if path is not None else ""
    print(f"{label:30} {seconds:7.2f} s {peak / 2**20:7.0f} MiB {size}")


def formats(graph: Graph, folder: Path) -> None:
    """Print the figures of all formats for one graph."""
    print(f"{len(graph.nodes)} nodes, {sum(len(node.inputs) for node in graph.nodes)} edges")
    report("DOT", graph.to_dot)
    report("DOT with parameters", lambda: graph.to_dot(params=True))
    report("Mermaid", graph.to_mermaid)
    report("networkx", graph.to_networkx)
    report("networkx, simple", lambda: graph.to_networkx(simple=True))
    report("layout", lambda: places(graph))
    report("sigma, with layout", graph.to_sigma)
    for suffix in _SUFFIXES:
        path = folder / f"net{suffix}"
        report(suffix, partial(graph.write, path), path)


def beside_networkx(graph: Graph, folder: Path) -> None:
    """Print the figures of networkx's writers beside those of trec."""
    network = graph.to_networkx(scopes=False)
    print(f"{len(graph.nodes)} nodes, {sum(len(node.inputs) for node in graph.nodes)} edges")
    for suffix, write in ((".gexf", networkx.write_gexf), (".graphml", networkx.write_graphml_xml)):
        own, other = folder / f"own{suffix}", folder / f"other{suffix}"
        report(suffix, partial(graph.write, own), own)
        report(f"{suffix} by networkx", partial(write, network, other), other)


def main(nodes: int) -> None:
    """Print the figures for a graph of that many nodes, those of networkx for a tenth, of SVG for ten thousand."""
    with tempfile.TemporaryDirectory() as folder:
        formats(blocks(nodes), Path(folder))
        beside_networkx(blocks(nodes // 10), Path(folder))
    picture = blocks(_SVG_NODES)
    report(f"SVG of {len(picture.nodes)} nodes", lambda: picture.to_svg(params=True))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
