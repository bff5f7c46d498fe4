"""Ask networkx about a model: its longest path, its operators, and what every path must pass.

Run: python examples/networkx_analysis.py
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import networkx
from models import UNet

import trec

if TYPE_CHECKING:
    from trec import Graph

STATE = ("param", "buffer", "constant")


def data_flow(graph: Graph) -> networkx.MultiDiGraph[int]:
    """Return the graph without parameters, buffers and constants: what happens to the inputs."""
    network = graph.to_networkx()
    network.remove_nodes_from([node for node, row in network.nodes(data=True) if row["kind"] in STATE])
    return network


def operators(network: networkx.MultiDiGraph[int]) -> Counter[str]:
    """Return how often each operator is called."""
    return Counter(row["op"] for _, row in network.nodes(data=True) if row["kind"] == "op")


def longest_path(network: networkx.MultiDiGraph[int]) -> list[str]:
    """Return the names along the longest chain of steps: what no parallel machine can shorten."""
    return [network.nodes[node]["name"] for node in networkx.dag_longest_path(network, weight=None)]


def bottlenecks(network: networkx.MultiDiGraph[int]) -> list[str]:
    """Return the names of the steps without which the graph falls apart, in program order."""
    points = networkx.articulation_points(networkx.Graph(network))
    return [network.nodes[node]["name"] for node in sorted(points)]


def busiest(network: networkx.MultiDiGraph[int], count: int) -> list[tuple[str, float]]:
    """Return the steps that most of the shortest paths between others lead through, with their share of paths."""
    shares: dict[int, float] = networkx.betweenness_centrality(networkx.DiGraph(network))
    first = sorted(shares, key=lambda node: (-shares[node], node))[:count]
    return [(network.nodes[node]["name"], shares[node]) for node in first]


def report(graph: Graph, depth: int = 1) -> str:
    """Return all of it as text: operators and path of the whole graph, the rest of the graph collapsed to a depth."""
    network = data_flow(graph)
    collapsed = data_flow(graph.collapse(depth=depth))
    path = longest_path(network)
    lines = [repr(graph), "", "operators"]
    lines += [f"{count:6}  {name}" for name, count in operators(network).most_common()]
    lines += ["", f"longest path: {len(path)} steps", *[f"        {name}" for name in path]]
    lines += ["", f"bottlenecks at depth {depth}", *[f"        {name}" for name in bottlenecks(collapsed)]]
    lines += ["", f"betweenness at depth {depth}"]
    lines += [f"{share:6.3f}  {name}" for name, share in busiest(collapsed, 5)]
    return "\n".join(lines)


def main() -> None:
    """Print the report for a U-Net, and one question that takes a line."""
    graph = trec.capture(UNet().eval(), (1, 3, 64, 64))
    print(report(graph))
    network: Any = graph.to_networkx()
    node = {row["name"]: node for node, row in network.nodes(data=True)}
    behind = networkx.descendants(network, node["bottom.0.weight"])
    print("\nnot influenced by bottom.0.weight:")
    print(", ".join(row["op"] for key, row in network.nodes(data=True) if row["kind"] == "op" and key not in behind))


if __name__ == "__main__":
    main()
