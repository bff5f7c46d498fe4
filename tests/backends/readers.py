"""What the real readers of DOT make of a text."""

from __future__ import annotations

import html
import json
import re
import subprocess
import warnings
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any

import pydot

from trec.backends.lower import lower

if TYPE_CHECKING:
    from trec.backends.drawing import Box, Cluster, Drawing
    from trec.ir.graph import Graph

_TAG = re.compile(r"<[^<>]*>")


def by_dot(text: str) -> dict[str, Any]:
    """Return the graph that the program `dot` reads, as its own JSON form, without a layout."""
    done = subprocess.run(["dot", "-Tdot_json"], input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stderr, done.stderr.decode()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def svg_by_dot(text: str) -> str:
    """Return the picture that the program `dot` draws."""
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    assert not done.stderr, done.stderr.decode()
    return done.stdout.decode()


def by_pydot(text: str) -> pydot.Dot:
    """Return the graph that pydot parses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pydot calls its own parser by names that this parser has given up
        graphs = pydot.graph_from_dot_data(text)
    assert graphs is not None
    (found,) = graphs
    return found


def everything(graph: pydot.Graph) -> tuple[dict[str, pydot.Node], list[pydot.Edge], list[pydot.Subgraph]]:
    """Return the nodes, edges and clusters of a graph of pydot, of all depths."""
    nodes, edges, clusters = {}, [], []
    pending: list[pydot.Graph] = [graph]
    while pending:
        inner = pending.pop()
        for node in inner.get_nodes():
            if node.get_name() not in ("node", "edge", "graph") and node.get_attributes():
                nodes[node.get_name()] = node
        edges += inner.get_edges()
        for subgraph in inner.get_subgraphs():
            if str(subgraph.get_name()).startswith("cluster"):
                clusters.append(subgraph)
            pending.append(subgraph)
    return nodes, edges, clusters


def label(row: pydot.Node | pydot.Subgraph) -> str:
    """Return the label of a node or cluster of pydot as DOT has it."""
    return str(row.get("label"))


def visible(label: str) -> str:
    """Return what a reader sees of a label as DOT has it, quoted or HTML-like, its lines joined by spaces."""
    if label.startswith("<"):
        text = _TAG.sub("", label[1:-1].replace("<BR/>", "\n")).replace("\\\\", "\\")
    else:
        text = label.removeprefix('"').removesuffix('"').replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")
    return " ".join(html.unescape(text).split())


def expected(box: Box | Cluster, drawing: Drawing) -> str:
    """Return what a reader is to see of a box or cluster."""
    if drawing.looks[box.look].shape == "point":
        return ""
    text = " ".join([box.title, box.subtitle, box.detail])
    return " ".join(re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", text).split())


def drawn(graph: Graph, **options: Any) -> Drawing:
    """Return the drawing that a backend with these options prints."""
    return lower(graph, **options)


def words(svg: str) -> list[str]:
    """Return the words that a picture shows."""
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    parts = [part for text in root.iter(f"{space}text") for part in (text, *text.iter(f"{space}tspan"))]
    return [word for part in parts for word in (part.text or "").split()]
