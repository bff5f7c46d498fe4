"""What every pass ends with: a list of nodes becomes a graph with its tables in canonical form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.ir.tables import Table
from trec.ir.types import AttrRow, Carried, Node, Scope, Source, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.ir.graph import Graph


def with_nodes(
    graph: Graph,
    nodes: Sequence[Node],
    *,
    scopes: Sequence[int] | None = None,
    values: Sequence[Value] | None = None,
    attrs: Sequence[AttrRow] | None = None,
) -> Graph:
    """Return the graph with these nodes instead of its own, every index brought up to date.

    Args:
        graph: where scopes, types, attribute rows and sources are looked up.
        nodes: the new program in execution order. Its inputs and outputs index `values`, everything else the tables
            of `graph`.
        scopes: ascending indices of the scopes that stay; all of them when left out. The parent of each must stay.
        values: the values that the nodes refer to; those of `graph` when left out.
        attrs: the attribute rows that the nodes refer to; those of `graph` when left out.

    Ensures:
        Values are numbered in the order of their production, and every table holds what is used, in the order of its
        first use (scopes before nodes), so equal programs are equal graphs.
    """
    old_values = graph.values if values is None else values
    old_attrs = graph.attrs if attrs is None else attrs
    kept = range(len(graph.scopes)) if scopes is None else scopes
    scope_id = {old: new for new, old in enumerate(kept)}
    scope_id[-1] = -1
    order: list[int] = []
    for node in nodes:
        order += node.outputs
    value_id = dict(zip(order, range(len(order)), strict=True))

    types: Table[TensorType] = Table()
    rows: Table[AttrRow] = Table([()])
    places: Table[Source] = Table()
    row_id = _Renumbered(old_attrs, rows)
    place_id = _Renumbered(graph.sources, places)
    type_id = _Renumbered(graph.types, types)

    new_scopes = []
    for old in kept:
        scope = graph.scopes[old]
        new_scopes.append(
            Scope(
                scope.kind,
                scope.name,
                scope.path,
                scope.cls,
                scope.call,
                scope_id[scope.parent],
                scope.depth,
                row_id[scope.attrs],
                place_id[scope.source],
                tuple([value_id[v] for v in scope.inputs if v in value_id]),
                tuple([value_id[v] for v in scope.outputs if v in value_id]),
            )
        )
    new_nodes = []
    renumbered = value_id.__getitem__
    made = 0
    for node in nodes:
        first, made = made, made + len(node.outputs)
        new_nodes.append(
            Node(
                node.kind,
                node.op,
                node.name,
                scope_id[node.parent],
                node.depth,
                tuple(map(renumbered, node.inputs)),
                (first,) if made == first + 1 else tuple(range(first, made)),
                row_id[node.attrs],
                place_id[node.source],
                scope_id[node.scope],
            )
        )
    new_values = [
        value if type_id[value.type] == value.type else Value(type_id[value.type], value.name)
        for value in map(old_values.__getitem__, order)
    ]
    carried = _carried(graph, new_nodes, value_id) if graph.carried else []
    return revised(
        graph,
        nodes=tuple(new_nodes),
        values=tuple(new_values),
        scopes=tuple(new_scopes),
        types=tuple(types),
        attrs=tuple(rows),
        sources=tuple(places),
        carried=tuple(carried),
    )


def _carried(graph: Graph, nodes: Sequence[Node], value_id: dict[int, int]) -> list[Carried]:
    node_id = {node.name: position for position, node in enumerate(nodes)}
    return [
        Carried(value_id[edge.value], node_id[reader], edge.port)
        for edge in graph.carried
        if edge.value in value_id and (reader := graph.nodes[edge.node].name) in node_id
    ]


def revised(graph: Graph, **changes: object) -> Graph:
    """Return the graph with some fields changed, and with the times that were taken of what is still there.

    A node that stands for the rest of a call that others ran in has no time of its own.
    """
    changed = replace(graph, **changes)
    if graph.seconds:
        names = [scope.name for scope in changed.scopes]
        names += [node.name for node in changed.nodes if node.scope < 0]
        changed.__dict__["seconds"] = {name: graph.seconds[name] for name in names if name in graph.seconds}
    return changed


class _Renumbered(dict[int, int]):
    """Old position to new position of a table's rows, filled as they are asked for; -1 stays -1."""

    def __init__(
        self, old: Sequence[object], new: Table[object] | Table[AttrRow] | Table[Source] | Table[TensorType]
    ) -> None:
        super().__init__({-1: -1})
        self.old, self.new = old, new

    def __missing__(self, position: int) -> int:
        found = self[position] = self.new.add(self.old[position])  # type: ignore[arg-type]
        return found
