"""Make what Google's Model Explorer reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.backends.escape import printable
from trec.backends.json_files import write_json
from trec.backends.plain import Plain, arguments
from trec.ir.collector import paused

if TYPE_CHECKING:
    import os

    from trec.backends.plain import Attributes
    from trec.ir.graph import Graph
    from trec.ir.types import Node

_NAMED = frozenset({"input", "output", "param", "buffer"})
"""Kinds of nodes whose name says more than what they do."""


@paused()
def to_model_explorer(graph: Graph, path: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Return the graph as a graph collection of Model Explorer, which shows calls of modules as layers to open.

    What a loop carries is an edge as any other.

    Args:
        graph: what to hand over.
        path: file that the JSON text is written to as well; with the suffix `.gz` it is compressed.

    Source: "Develop custom adapter" and "JSON format" in the documentation of Model Explorer.
    """
    plain = Plain(graph)
    namespaces = _namespaces(plain)
    name = printable(graph.name)
    incoming: list[list[Attributes]] = [[] for _ in graph.nodes]
    for source, target, _, source_port, target_port, _ in plain.uses():
        ports = {"sourceNodeOutputId": str(source_port), "targetNodeInputId": str(target_port)}
        incoming[target].append({"sourceNodeId": str(source), **ports})
    arguments_ = [_pairs(row) for row in plain.rows]
    nodes = [
        {
            "id": str(index),
            "label": printable(node.name if node.kind in _NAMED else node.op),
            "namespace": namespaces[node.parent],
            "attrs": [*_pairs(_facts(plain, node)), *arguments_[node.attrs]],
            "incomingEdges": incoming[index],
            "outputsMetadata": _outputs(plain, node),
        }
        for index, node in enumerate(graph.nodes)
    ]
    whole = {"id": name, "nodes": nodes, "groupNodeAttributes": _groups(plain, namespaces)}
    data = {"label": name, "graphs": [whole]}
    if path is not None:
        write_json(path, data)
    return data


def _namespaces(plain: Plain) -> list[str]:
    """Return for each scope the layers around what it holds, outermost first; empty for the root.

    A layer is named as its module is seen from the one around it, which is unique there; so calls stay apart.
    """
    found = [""]
    taken = {""}
    graph = plain.graph
    for index, scope in enumerate(graph.scopes[1:], start=1):
        around = plain.paths[scope.parent]
        own = plain.names[index].removeprefix(f"{around}.") if around else plain.names[index]
        own = own.replace("/", "∕").replace(";", ";") or "·"  # what separates layers may stand in no name
        outer = f"{found[scope.parent]}/" if found[scope.parent] else ""
        namespace = f"{outer}{own}"
        if namespace in taken:
            namespace += f" ({index})"
        taken.add(namespace)
        found.append(namespace)
    return found


def _facts(plain: Plain, node: Node) -> Attributes:
    row = {"kind": node.kind, "name": printable(node.name), "op": printable(node.op), "level": plain.level(node)}
    row["path"] = plain.paths[node.scope if node.scope >= 0 else node.parent]
    return row if node.source < 0 else {**row, "code": plain.code(node)}


def _groups(plain: Plain, namespaces: list[str]) -> dict[str, dict[str, str]]:
    groups: dict[str, dict[str, str]] = {}
    for index, scope in enumerate(plain.graph.scopes[1:], start=1):
        row = {"class": scope.cls, "kind": scope.kind, "path": scope.path, **arguments(plain.graph.attrs[scope.attrs])}
        if plain.graph.counts[index] > 1:
            row["count"] = plain.graph.counts[index]
        groups[namespaces[index]] = {key: printable(str(value)) for key, value in row.items()}
    return groups


def _outputs(plain: Plain, node: Node) -> list[Attributes]:
    values = [plain.graph.values[value] for value in node.outputs]
    return [
        {"id": str(port), "attrs": _pairs({**plain.types[value.type], "value": printable(value.name)})}
        for port, value in enumerate(values)
    ]


def _pairs(row: Attributes) -> list[dict[str, str]]:
    return [{"key": key, "value": str(value)} for key, value in row.items()]
