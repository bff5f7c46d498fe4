"""How long a large graph takes in each format of data, and how much memory, beside the writers of networkx.

Run: python benchmarks/formats.py [nodes]
"""

from __future__ import annotations

import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import networkx

from benchmarks.dot import blocks, measure
from trec.backends.mermaid import to_mermaid
from trec.backends.places import places

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Return how long the work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(nodes: int) -> None:
    """Print the figures for a graph of that many nodes, and ratios for one of a tenth."""
    graph = blocks(nodes)
    print(f"{len(graph.nodes)} nodes, {sum(len(node.inputs) for node in graph.nodes)} edges")
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".gexf", ".graphml", ".csv", ".me.json", ".cyto.json"):
            path = Path(folder) / f"net{suffix}"
            measure(suffix, partial(graph.write, path))
            print(f"{path.stat().st_size / 2**20:32.1f} MiB")
        measure("mermaid", lambda: to_mermaid(graph))
        measure("layout", lambda: places(graph))
        measure("sigma", graph.to_sigma)
        measure("networkx", graph.to_networkx)
        measure("simple", lambda: graph.to_networkx(simple=True))

        small = blocks(nodes // 10)
        network = small.to_networkx(scopes=False)
        for suffix, write in ((".gexf", networkx.write_gexf), (".graphml", networkx.write_graphml_xml)):
            own = seconds(partial(small.write, Path(folder) / f"small{suffix}"))
            other = seconds(partial(write, network, Path(folder) / f"other{suffix}"))
            print(f"{suffix:12} of {len(small.nodes)} nodes: networkx takes {other / own:.1f} times as long")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
