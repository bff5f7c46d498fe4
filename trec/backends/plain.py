"""Nodes, uses and scopes in plain values, the same for every backend that hands over data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.backends.escape import printable
from trec.ir.types import FLOPS, SAVED, TIMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.ir.graph import Graph
    from trec.ir.types import Attr, Node, TensorType

Attributes = dict[str, Any]
Use = tuple[int, int, int, int, int, bool]
"""Producer, reader, value, port of the producer, port of the reader, and whether a loop carries it."""

NUMBERS = ("index", "ops", "params", "param_bytes", FLOPS, SAVED, TIMES)
"""Attributes of nodes that are handed over as numbers, under their own names."""
_TEXTS = ("qualname", "aliases", "error")


class Plain:
    """What there is to say of a graph; what repeats in it is made once.

    All values are texts, numbers or booleans, unknown ones are left out, and no text holds what XML forbids.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.types: list[Attributes] = [tensor(type_) for type_ in graph.types]
        """For each type, shape, element type and device."""
        self.rows: list[Attributes] = [arguments(row) for row in graph.attrs]
        """For each row of attributes, facts under their names and arguments as texts."""
        self.paths = [printable(scope.path) for scope in graph.scopes]
        """For each scope, the path of its module."""
        self.names = [printable(scope.name) for scope in graph.scopes]
        """For each scope, its name."""
        self._level = str(dict(graph.meta).get("level", "function"))
        self._phased = len(graph.phases) > 1
        self._differentiated = {
            graph.nodes[node].name: ",".join([printable(graph.nodes[index].name) for index in indices])
            for node, indices in graph.differentiated.items()
        }

    def own(self, node: Node) -> Attributes:
        """Return what only this node is, without its arguments and its tensor."""
        scope = node.scope if node.scope >= 0 else node.parent
        return {
            "kind": node.kind,
            "name": printable(node.name),
            "op": printable(node.op),
            "level": self.level(node),
            "depth": node.depth,
            "parent": node.parent,
            "scope": scope,
            "path": self.paths[scope],
        }

    def training(self, node: Node) -> Attributes:
        """Return the part of a step of training that a node belongs to, and the names of the nodes it differentiates.

        Nothing in a graph that is all of one part.
        """
        if not self._phased:
            return {}
        row: Attributes = {"phase": self.graph.phase_of(node)}
        found = self._differentiated.get(node.name)
        return row if found is None else {**row, "differentiates": found}

    def node(self, node: Node) -> Attributes:
        """Return everything about a node."""
        row = self.own(node) | self.training(node) | self.rows[node.attrs]
        type_ = self.type(node)
        if type_ >= 0:
            row |= self.types[type_]
        if node.source >= 0:
            row["code"] = self.code(node)
        return row

    def level(self, node: Node) -> str:
        """Return how fine a node is: `module`, `function` or `aten`."""
        if node.kind == "op":
            return "aten" if "." in node.op else "function"
        return "module" if node.kind == "module" else self._level

    def type(self, node: Node) -> int:
        """Return the type of the one tensor that a node yields, or that an output returns; -1 if it is not one."""
        tensors = node.inputs if node.kind == "output" else node.outputs
        return self.graph.values[tensors[0]].type if len(tensors) == 1 else -1

    def code(self, node: Node) -> str:
        """Return the line of code that made a node, which must be known."""
        source = self.graph.sources[node.source]
        return f"{printable(source.file)}:{source.line}"

    def uses(self, *, carried: bool = True) -> Iterator[Use]:
        """Yield every use of a value, and what loops carry if that is wanted."""
        graph = self.graph
        producers = graph.producers
        ports = [port for node in graph.nodes for port in range(len(node.outputs))]
        for index, node in enumerate(graph.nodes):
            for port, value in enumerate(node.inputs):
                yield producers[value], index, value, ports[value], port, False
        if carried:
            for edge in graph.carried:
                yield producers[edge.value], edge.node, edge.value, ports[edge.value], edge.port, True

    def use(self, use: Use) -> Attributes:
        """Return everything about a use."""
        _, _, value, source_port, target_port, carried = use
        row = self.graph.values[value]
        found = {
            "value": printable(row.name),
            **self.types[row.type],
            "source_port": source_port,
            "target_port": target_port,
        }
        return {**found, "carried": True} if carried else found


def tensor(type_: TensorType) -> Attributes:
    """Return shape, element type and device of a tensor."""
    # The sizes are separated by x, so no x may stand in the name of a symbolic one.
    sizes = [printable(str(size)).replace("x", "_") for size in type_.shape]
    return {"tensor_shape": "x".join(sizes), "dtype": printable(type_.dtype), "device": printable(type_.device)}


def arguments(row: tuple[tuple[str, Attr], ...]) -> Attributes:
    """Return attributes under names that are free: known facts as they are, arguments as text."""
    found: Attributes = {}
    for name, value in row:
        if name in NUMBERS and type(value) is int:
            found[name] = value
        elif name in _TEXTS and isinstance(value, str):
            found[name] = printable(value)
        elif value is not None:
            found[f"arg_{printable(name)}"] = printable(str(value))
    return found
