"""Make a `networkx.MultiDiGraph` of a graph, in plain values that every writer of networkx takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.backends.escape import printable
from trec.errors import DependencyError
from trec.ir.types import FLOPS

if TYPE_CHECKING:
    import networkx

    from trec.ir.graph import Graph
    from trec.ir.types import Attr, Node, TensorType

Attributes = dict[str, Any]

_TEXTS = ("qualname", "aliases", "phase", "error")
_NUMBERS = ("index", "ops", "params", "param_bytes", FLOPS)


def to_networkx(graph: Graph, *, scopes: bool = True, carried: bool = False) -> networkx.MultiDiGraph[int]:
    """Return the graph for networkx: one node per node, one edge per use, plain values only.

    Args:
        graph: what to hand over.
        scopes: whether the scopes are a graph attribute; without it `networkx.write_gexf` and `write_graphml` take
            the result.
        carried: whether the edges that a loop carries to its next iteration are added.

    Raises:
        DependencyError: the package `networkx` is not installed.

    Cost: linear, but some kB for each node.
    """
    try:
        import networkx
    except ImportError as error:
        raise DependencyError("to_networkx() needs the package networkx: pip install networkx") from error

    network: networkx.MultiDiGraph[int] = networkx.MultiDiGraph()
    network.graph["name"] = printable(graph.name)
    if scopes:
        network.graph["scopes"] = _scopes(graph)
    types = [_tensor(type_) for type_ in graph.types]
    rows = [_arguments(row) for row in graph.attrs]
    level = str(dict(graph.meta).get("level", "function"))
    network.add_nodes_from(
        (index, _node(graph, node, types, rows[node.attrs], level)) for index, node in enumerate(graph.nodes)
    )
    network.add_edges_from(_uses(graph, types))
    if carried:
        network.add_edges_from(
            (source, target, {**row, "carried": True}) for source, target, row in _carried(graph, types)
        )
    return network


def _scopes(graph: Graph) -> list[Attributes]:
    rows: list[Attributes] = []
    for index, scope in enumerate(graph.scopes):
        row = {
            "id": index,
            "kind": scope.kind,
            "name": scope.name,  # as it is: the list of scopes is for programs, and no writer of networkx takes it
            "path": scope.path,
            "cls": scope.cls,
            "call": scope.call,
            "depth": scope.depth,
        }
        if scope.parent >= 0:
            row["parent"] = scope.parent
        rows.append(row)
    return rows


def _tensor(type_: TensorType) -> Attributes:
    # The sizes are separated by x, so no x may stand in the name of a symbolic one.
    sizes = [printable(str(size)).replace("x", "_") for size in type_.shape]
    return {"tensor_shape": "x".join(sizes), "dtype": printable(type_.dtype), "device": printable(type_.device)}


def _arguments(row: tuple[tuple[str, Attr], ...]) -> Attributes:
    """Return attributes under names that are free: known facts as they are, arguments as text."""
    found: Attributes = {}
    for name, value in row:
        if name in _NUMBERS and type(value) is int:
            found[name] = value
        elif name in _TEXTS and isinstance(value, str):
            found[name] = printable(value)
        elif value is not None:
            found[f"arg_{printable(name)}"] = printable(str(value))
    return found


def _node(graph: Graph, node: Node, types: list[Attributes], arguments: Attributes, level: str) -> Attributes:
    if node.kind == "op":
        level = "aten" if "." in node.op else "function"
    elif node.kind == "module":
        level = "module"
    own = node.scope if node.scope >= 0 else node.parent
    row: Attributes = {
        "kind": node.kind,
        "name": printable(node.name),
        "op": printable(node.op),
        "level": level,
        "depth": node.depth,
        "parent": node.parent,
        "scope": own,
        "path": printable(graph.scopes[own].path),
        **arguments,
    }
    tensors = node.inputs if node.kind == "output" else node.outputs
    if len(tensors) == 1:
        row.update(types[graph.values[tensors[0]].type])
    if node.source >= 0:
        source = graph.sources[node.source]
        row["code"] = f"{printable(source.file)}:{source.line}"
    return row


def _uses(graph: Graph, types: list[Attributes]) -> list[tuple[int, int, Attributes]]:
    edges: list[tuple[int, int, Attributes]] = []
    ports = [port for node in graph.nodes for port in range(len(node.outputs))]
    names = [printable(value.name) for value in graph.values]
    producers, values = graph.producers, graph.values
    for index, node in enumerate(graph.nodes):
        for port, value in enumerate(node.inputs):
            row = {"value": names[value], **types[values[value].type], "source_port": ports[value], "target_port": port}
            edges.append((producers[value], index, row))
    return edges


def _carried(graph: Graph, types: list[Attributes]) -> list[tuple[int, int, Attributes]]:
    edges: list[tuple[int, int, Attributes]] = []
    for edge in graph.carried:
        producer = graph.producers[edge.value]
        value = graph.values[edge.value]
        row = {
            "value": printable(value.name),
            **types[value.type],
            "source_port": graph.nodes[producer].outputs.index(edge.value),
            "target_port": edge.port,
        }
        edges.append((producer, edge.node, row))
    return edges
