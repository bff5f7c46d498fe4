"""Nodes and uses as rows of cells of an XML format that declares its columns first; what repeats is printed once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from trec.backends.escape import xml
from trec.backends.plain import NUMBERS, Plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from trec.backends.plain import Attributes, Use
    from trec.ir.graph import Graph

CellType = Literal["string", "integer", "long", "boolean"]

_TYPES: dict[str, CellType] = {
    "depth": "integer",
    "source_port": "integer",
    "target_port": "integer",
    "carried": "boolean",
    **dict.fromkeys(NUMBERS, "long"),
}
_OF_ALL = ("node_kind", "op", "level", "depth", "scope", "path")
_OF_TENSORS = ("tensor_shape", "dtype", "device")
_OF_TRAINING = ("phase", "differentiates")
_OF_USES = ("value", *_OF_TENSORS, "source_port", "target_port", "carried")


class Column(Struct, frozen=True):
    """One attribute of all nodes or all uses."""

    id: int
    """Position among the columns of nodes, or among those of uses."""
    title: str
    type: CellType


class Rows:
    """The columns of a graph, and its rows in the order of the program."""

    def __init__(self, graph: Graph, cell: Callable[[Column, str], str]) -> None:
        """Collect the columns.

        Args:
            graph: what to print.
            cell: prints a value, escaped already, in a column.
        """
        self.graph, self.plain, self._cell = graph, Plain(graph), cell
        used = sorted({node.attrs for node in graph.nodes})
        titles = dict.fromkeys([*_OF_ALL, *_OF_TENSORS, "code"])
        titles |= dict.fromkeys([title for row in used for title in self.plain.rows[row]])
        if len(graph.phases) > 1:
            titles |= dict.fromkeys(_OF_TRAINING)
        self.of_nodes = {title: Column(index, title, _type(title)) for index, title in enumerate(titles)}
        """Columns of nodes by title."""
        self.of_uses = {title: Column(index, title, _type(title)) for index, title in enumerate(_OF_USES)}
        """Columns of uses by title."""
        self._arguments = {row: self._print(self.plain.rows[row], self.of_nodes) for row in used}
        self._tensors = [self._print(row, self.of_nodes) for row in self.plain.types]
        self._scopes = [
            self._print({"scope": name, "path": path}, self.of_nodes)
            for name, path in zip(self.plain.names, self.plain.paths, strict=True)
        ]

    def nodes(self) -> Iterator[str]:
        """Yield the cells of each node."""
        known: dict[tuple[str, str, int], str] = {}
        code: dict[int, str] = {-1: ""}
        plain = self.plain
        for node in self.graph.nodes:
            key = (node.kind, node.op, node.depth)
            start = known.get(key)
            if start is None:
                row = {"node_kind": node.kind, "op": node.op, "level": plain.level(node), "depth": node.depth}
                start = known[key] = self._print(row, self.of_nodes)
            if node.source not in code:
                code[node.source] = self._print({"code": plain.code(node)}, self.of_nodes)
            type_ = plain.type(node)
            tensor = self._tensors[type_] if type_ >= 0 else ""
            scope = self._scopes[node.scope if node.scope >= 0 else node.parent]
            training = self._print(plain.training(node), self.of_nodes)
            yield f"{start}{scope}{tensor}{code[node.source]}{training}{self._arguments[node.attrs]}"

    def scopes(self) -> Iterator[str]:
        """Yield the cells of each scope, as of a node that holds others."""
        for index, scope in enumerate(self.graph.scopes):
            row = {"node_kind": "scope", "op": scope.cls, "level": scope.kind, "depth": scope.depth}
            yield self._print(row, self.of_nodes) + self._scopes[index]

    def uses(self) -> Iterator[tuple[Use, str]]:
        """Yield each use with its cells, those that loops carry last."""
        tensors = [self._print(row, self.of_uses) for row in self.plain.types]
        ports: dict[tuple[int, int, bool], str] = {}
        values = self.graph.values
        title = self.of_uses["value"]
        for use in self.plain.uses():
            value = values[use[2]]
            found = ports.get(use[3:])
            if found is None:
                row: Attributes = {"source_port": use[3], "target_port": use[4]}
                if use[5]:
                    row["carried"] = "true"
                found = ports[use[3:]] = self._print(row, self.of_uses)
            yield use, f"{self._cell(title, xml(value.name))}{tensors[value.type]}{found}"

    def _print(self, row: Attributes, columns: dict[str, Column]) -> str:
        return "".join([self._cell(columns[title], xml(str(value))) for title, value in row.items()])


def _type(title: str) -> CellType:
    return _TYPES.get(title, "string")
