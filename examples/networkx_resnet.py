"""Ask networkx what is central in a residual network and what its longest path is, and draw the answer.

Run: python examples/networkx_resnet.py [folder]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import networkx
from models import ResNet
from places import output

import trec
from trec.backends.style import Style

if TYPE_CHECKING:
    from trec import Graph
    from trec.ir.types import Node


def flow(graph: Graph) -> networkx.DiGraph[int]:
    """Return what happens to the image, without the parameters."""
    return graph.hide("kind:param or kind:buffer").to_networkx(simple=True)


def centrality(network: networkx.DiGraph[int]) -> dict[str, float]:
    """Return for each step the share of shortest paths that lead through it, by name."""
    shares = networkx.betweenness_centrality(network)
    return {network.nodes[node]["name"]: share for node, share in shares.items()}


def heaviest(network: networkx.DiGraph[int]) -> list[dict[str, Any]]:
    """Return the steps of the path with the most operations: what no parallel machine can shorten."""
    for _, target, edge in network.edges(data=True):
        edge["weight"] = network.nodes[target].get("flops", 0)
    return [network.nodes[node] for node in networkx.dag_longest_path(network)]


def main() -> None:
    """Write a report, and a picture in which what is more central is darker."""
    graph = trec.capture(ResNet().eval(), (1, 3, 32, 32), costs=True)
    network = flow(graph)
    shares = centrality(network)
    first = sorted(shares, key=lambda name: (-shares[name], name))[:10]
    path = heaviest(network)
    flops = sum(row.get("flops", 0) for row in path)
    lines = ["most central", *[f"{shares[name]:8.3f}  {name}" for name in first], ""]
    lines += [f"longest path: {len(path)} of {len(network)} steps, {flops:,} of {graph.stats().flops:,} FLOPs"]
    lines += [f"{row.get('flops', 0):>12,}  {row['name']}" for row in path]
    output("resnet-networkx.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def share(_: Graph, node: Node) -> float:
        return round(shares.get(node.name, 0.0), 4)

    output("resnet-centrality.svg").write_text(
        graph.focus("stage2").to_svg(style=Style(colour_by=share), title="Betweenness in stage2"), encoding="utf-8"
    )
    print(*lines[:4], lines[len(first) + 2], sep="\n")


if __name__ == "__main__":
    main()
