"""What a drawing shows, by labels, whoever made it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import networkx

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.ir.graph import Graph

Edges = Counter[tuple[str, str]]


class Shown(NamedTuple):
    """The nodes and edges of a drawing."""

    nodes: Counter[tuple[str, str, str, tuple[str, ...]]]
    """Label, fill, shape, and the titles of the clusters around, the outermost first."""
    clusters: Counter[tuple[str, ...]]
    """The titles of a cluster and those around it."""
    edges: Edges


def statements(digraph: Any) -> Iterator[tuple[str, tuple[str, ...], dict[str, str]]]:
    """Yield node, edge and cluster statements of a `graphviz.Digraph`: what is stated, the titles around, attributes.

    An edge is stated as `a -> b`, a cluster as the empty text.
    """
    around: list[str] = []
    for line in digraph.body:
        text = line.strip()
        attributes = {key: value.strip('"') for key, value in _ATTRIBUTE.findall(text)}
        if text.startswith("subgraph"):
            around.append("")
        elif text == "}":
            around.pop()
        elif text.startswith("graph") and around:
            around[-1] = attributes["label"]
            yield "", tuple(around), attributes
        elif not text.startswith(("graph", "node [")):
            yield text.split(" [")[0], tuple(around), attributes


_ATTRIBUTE = re.compile(r'(\w+)=("[^"]*"|[^\s\]]+)')


def read(digraph: Any) -> Shown:
    """Read a `graphviz.Digraph` as Graphviz does: a node lies in a cluster that it is only named in, too."""
    looks: dict[str, dict[str, str]] = {}
    stated: dict[str, tuple[str, ...]] = {}
    implied: dict[str, tuple[str, ...]] = {}
    clusters: Counter[tuple[str, ...]] = Counter()
    pairs: list[list[str]] = []
    for text, around, attributes in statements(digraph):
        if not text:
            clusters[around] += 1
        elif " -> " in text:
            pairs.append(text.split(" -> "))
            implied |= {name: around for name in pairs[-1] if len(around) > len(implied.get(name, ()))}
        else:
            looks[text], stated[text] = attributes, around
    nodes = Counter(
        (look["label"], look["fillcolor"], look.get("shape", ""), stated[name] or implied.get(name, ()))
        for name, look in looks.items()
    )
    return Shown(nodes, clusters, Counter((looks[a]["label"], looks[b]["label"]) for a, b in pairs))


def flat(package: Any, rec: Any, depth: int) -> tuple[Counter[tuple[str, str]], Edges]:
    """Return what a package's own base class gives a renderer to draw: labels with classes, and edges."""
    styler = package.renderer.GraphvizStyler()

    class Flat(package.renderer.base.BaseRenderer):  # type: ignore[misc]
        def render_node(self, dest: Any, node: Any) -> None:
            dest[0][styler.style_node(node)["label"], type(node).__name__] += 1

        def render_edge(self, dest: Any, fnode: Any, tnode: Any) -> None:
            dest[1][tuple([styler.style_node(node)["label"] for node in (fnode, tnode)])] += 1

    found: tuple[Counter[tuple[str, str]], Edges] = (Counter(), Counter())
    Flat(rec, depth)(found)
    return found


def network_of(digraph: Any) -> networkx.MultiDiGraph[Any]:
    """Return a `graphviz.Digraph` as a network, with the labels of its nodes."""
    network: networkx.MultiDiGraph[Any] = networkx.MultiDiGraph()
    for text, _, attributes in statements(digraph):
        if " -> " in text:
            network.add_edge(*text.split(" -> "))
        elif text:
            network.add_node(text, label=attributes["label"])
    return network


def has_cycle(digraph: Any) -> bool:
    """Tell whether data flows in a circle on a drawing."""
    return not networkx.is_directed_acyclic_graph(network_of(digraph))


def drawn_flows(digraph: Any) -> set[tuple[int, int]]:
    """Return which inputs reach which outputs on a drawing, by position."""
    network = network_of(digraph)
    ends: dict[str, dict[int, str]] = {"Input": {}, "Output": {}}
    for node, row in network.nodes(data=True):
        kind, _, number = row["label"].split("\n")[0].partition("-")
        if kind in ends:
            ends[kind].setdefault(int(number or 1) - 1, node)
    return _reaching(network, ends["Input"], ends["Output"])


def true_flows(graph: Graph) -> set[tuple[int, int]]:
    """Return which inputs of a model reach which of its outputs, by position."""
    network = graph.to_networkx()
    ends = {
        kind: {row["index"]: node for node, row in network.nodes(data=True) if row["kind"] == kind}
        for kind in ("input", "output")
    }
    return _reaching(network, ends["input"], ends["output"])


def _reaching(network: Any, sources: dict[int, Any], targets: dict[int, Any]) -> set[tuple[int, int]]:
    return {
        (i, j)
        for i, source in sources.items()
        for j, target in targets.items()
        if networkx.has_path(network, source, target)
    }
