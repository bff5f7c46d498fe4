"""What every pass ends with: a list of nodes becomes a graph with its tables in canonical form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic

from msgspec.structs import replace

from trec.ir.tables import Row, Table
from trec.ir.types import AttrRow, Carried, Derivative, Lifetime, Node, Scope, Source, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.ir.graph import Graph

_UNUSED = -2


def with_nodes(
    graph: Graph,
    nodes: Sequence[Node],
    *,
    scopes: Sequence[int] | None = None,
    values: Sequence[Value] | None = None,
    attrs: Sequence[AttrRow] | None = None,
    carried: Iterable[Carried] | None = None,
) -> Graph:
    """Return the graph with these nodes instead of its own, every index brought up to date.

    Args:
        graph: where scopes, types, attribute rows and sources are looked up.
        nodes: the new program in execution order. Its inputs and outputs index `values`, everything else the tables
            of `graph`.
        scopes: ascending indices of the scopes that stay; all of them when left out. The parent of each must stay.
        values: the values that the nodes refer to; those of `graph` when left out.
        attrs: the attribute rows that the nodes refer to; those of `graph` when left out.
        carried: what loops carry; their nodes index `nodes`, everything else is as for nodes. When left out, those of
            `graph` whose reader is still there by its name, and still reads.

    Ensures:
        Values are numbered in the order of their production, and every table holds what is used, in the order of its
        first use (scopes before nodes), so equal programs are equal graphs. A row of `carried` whose value is not
        produced any more is left out; rows of which only the loop told them apart, which is gone, are one. What an
        operator differentiates is known by name, also where a call around either has become a node.
    """
    kept = range(len(graph.scopes)) if scopes is None else scopes
    old_values = graph.values if values is None else values
    new = _Renumbering(graph, nodes, kept, graph.attrs if attrs is None else attrs, len(old_values))
    if carried is None:
        carried = _of_readers(graph, nodes) if graph.carried else ()
    # In the order in which the tables are filled.
    new_scopes = new.scopes([graph.scopes[index] for index in kept])
    new_nodes = new.nodes(nodes)
    new_values = new.values(old_values)
    changed = revised(
        graph,
        nodes=new_nodes,
        values=new_values,
        scopes=new_scopes,
        types=tuple(new.types),
        attrs=tuple(new.rows),
        sources=tuple(new.places),
        carried=new.carried(carried),
        derivatives=_of_survivors(graph, nodes) if graph.derivatives else (),
    )
    if graph.lifetimes:
        renamed = {old.name: new.name for old, new in zip(graph.values, old_values, strict=False)}
        changed.__dict__["lifetimes"] = _lifetimes(graph, changed, renamed)
    return changed


def revised(graph: Graph, **changes: object) -> Graph:
    """Return the graph with some fields changed, and with what was measured of what is still there.

    A node that stands for the rest of a call that others ran in has no time of its own.
    """
    changed = replace(graph, **changes)
    if graph.seconds:
        names = [scope.name for scope in changed.scopes]
        names += [node.name for node in changed.nodes if node.scope < 0]
        changed.__dict__["seconds"] = {name: graph.seconds[name] for name in names if name in graph.seconds}
    if graph.lifetimes:
        changed.__dict__["lifetimes"] = graph.lifetimes
    return changed


def _lifetimes(graph: Graph, changed: Graph, renamed: Mapping[str, str]) -> tuple[Lifetime, ...]:
    """Return how long what is still there lived: to a node that stands for the one before, or to the last one left."""
    present, standing = {node.name for node in changed.nodes}, {"": ""}
    last = ""
    for node in graph.nodes:
        name, scope = node.name, node.parent
        while name not in present and scope >= 0:
            name, scope = graph.scopes[scope].name, graph.scopes[scope].parent
        last = standing[node.name] = name if name in present else last
    left = {value.name for value in changed.values}
    found = []
    for row in graph.lifetimes:
        values = tuple([new for name in row.values if (new := renamed.get(name, name)) in left])
        if values or (not row.values and row.maker in present):
            last, maker, held = [standing.get(name, "") for name in (row.node, row.maker, row.held)]
            found.append(Lifetime(values, last, row.bytes, maker, held))
    return tuple(found)


def remaining_scopes(graph: Graph, nodes: Iterable[Node]) -> list[int]:
    """Return the scopes of a graph, ascending, that stay when only some of its nodes do: those that are not emptied."""
    held = _occupied(graph, graph.nodes)
    stays = _occupied(graph, nodes)
    stays[0] = 1
    for index, scope in enumerate(graph.scopes):
        if not held[index] and stays[scope.parent]:
            stays[index] = 1
    return [index for index in range(len(graph.scopes)) if stays[index]]


def _occupied(graph: Graph, nodes: Iterable[Node]) -> bytearray:
    """Mark the scopes that hold one of the nodes, at any depth, or that one stands for."""
    marks = bytearray(len(graph.scopes) + 1)  # one more for the scope -1
    for node in nodes:
        marks[node.parent] = marks[node.scope] = 1
    for index in range(len(graph.scopes) - 1, 0, -1):
        if marks[index]:
            marks[graph.scopes[index].parent] = 1
    return marks


def _of_readers(graph: Graph, nodes: Sequence[Node]) -> list[Carried]:
    position = {node.name: index for index, node in enumerate(nodes) if node.inputs}  # an input may bear the name now
    return [
        Carried(edge.value, position[name], edge.port, edge.loop)
        for edge in graph.carried
        if (name := graph.nodes[edge.node].name) in position
    ]


def _of_survivors(graph: Graph, nodes: Sequence[Node]) -> tuple[Derivative, ...]:
    """Return which of the new nodes differentiates which, for those that are still there or lie in one."""
    position = {node.name: index for index, node in enumerate(nodes)}
    found: dict[tuple[int, int], None] = {}

    def new(index: int) -> int:
        node = graph.nodes[index]
        at, scope = position.get(node.name, -1), node.parent
        while at < 0 <= scope:
            at, scope = position.get(graph.scopes[scope].name, -1), graph.scopes[scope].parent
        return at

    for row in graph.derivatives:
        node, forward = new(row.node), new(row.forward)
        if 0 <= forward < node and graph.phase_of(nodes[node]) != "forward":
            found[node, forward] = None
    return tuple([Derivative(*row) for row in sorted(found)])


class _Renumbering:
    """Old index to new index for every table, and the rows that follow from it.

    Lists that are indexed with -1, which stands for none, end with it.
    """

    def __init__(
        self, graph: Graph, nodes: Sequence[Node], kept: Sequence[int], attrs: Sequence[AttrRow], values: int
    ) -> None:
        self.scope_id = [-1] * (len(graph.scopes) + 1)
        for new, old in enumerate(kept):
            self.scope_id[old] = new
        self.order: list[int] = []
        """The old values in the order of their production now."""
        for node in nodes:
            self.order += node.outputs
        self.value_id = [-1] * values
        """For each old value the new one; -1 if it is not produced any more."""
        for new, old in enumerate(self.order):
            self.value_id[old] = new
        self.rows: Table[AttrRow] = Table([()])
        self.places: Table[Source] = Table()
        self.types: Table[TensorType] = Table()
        self.row_id = _Positions(attrs, self.rows)
        self.place_id = _Positions(graph.sources, self.places)
        self.type_id = _Positions(graph.types, self.types)

    def scopes(self, scopes: Iterable[Scope]) -> tuple[Scope, ...]:
        value_id, scope_id = self.value_id, self.scope_id
        row_id, place_id = self.row_id.new, self.place_id.new
        found = []
        for scope in scopes:
            parent, attrs, source = scope_id[scope.parent], row_id[scope.attrs], place_id[scope.source]
            if attrs == _UNUSED:
                attrs = self.row_id.use(scope.attrs)
            if source == _UNUSED:
                source = self.place_id.use(scope.source)
            same = parent == scope.parent and attrs == scope.attrs and source == scope.source
            if not (same and not scope.inputs and not scope.outputs):
                scope = Scope(
                    scope.kind,
                    scope.name,
                    scope.path,
                    scope.cls,
                    scope.call,
                    parent,
                    scope.depth,
                    attrs,
                    source,
                    tuple([value_id[value] for value in scope.inputs if value_id[value] >= 0]),
                    tuple([value_id[value] for value in scope.outputs if value_id[value] >= 0]),
                    scope.repeats,
                    scope.phase,
                )
            found.append(scope)
        return tuple(found)

    def nodes(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        scope_id, value_id = self.scope_id, self.value_id
        row_id, place_id = self.row_id.new, self.place_id.new
        found = []
        made = 0
        for node in nodes:
            inputs = node.inputs
            if len(inputs) == 2:  # most read one value or two, and a call takes longer than either
                one, two = inputs
                inputs = (value_id[one], value_id[two])
            elif len(inputs) == 1:
                inputs = (value_id[inputs[0]],)
            else:
                inputs = tuple([value_id[value] for value in inputs])
            first, made = made, made + len(node.outputs)
            attrs, source = row_id[node.attrs], place_id[node.source]
            if attrs == _UNUSED:
                attrs = self.row_id.use(node.attrs)
            if source == _UNUSED:
                source = self.place_id.use(node.source)
            found.append(
                Node(
                    node.kind,
                    node.op,
                    node.name,
                    scope_id[node.parent],
                    node.depth,
                    inputs,
                    (first,) if made == first + 1 else tuple(range(first, made)),
                    attrs,
                    source,
                    scope_id[node.scope],
                )
            )
        return tuple(found)

    def values(self, values: Sequence[Value]) -> tuple[Value, ...]:
        type_id, found = self.type_id.new, []
        for old in self.order:
            value = values[old]
            type_ = type_id[value.type]
            if type_ == _UNUSED:
                type_ = self.type_id.use(value.type)
            found.append(value if type_ == value.type else Value(type_, value.name))
        return tuple(found)

    def carried(self, carried: Iterable[Carried]) -> tuple[Carried, ...]:
        rows = [
            Carried(self.value_id[edge.value], edge.node, edge.port, self.scope_id[edge.loop])
            for edge in carried
            if self.value_id[edge.value] >= 0
        ]
        return tuple(dict.fromkeys(rows))


class _Positions(Generic[Row]):
    """New positions of the rows of a table, which are added to it as they are used."""

    def __init__(self, rows: Sequence[Row], table: Table[Row]) -> None:
        self.rows, self.table = rows, table
        self.new = [*[_UNUSED] * len(rows), -1]
        """For each old position the new one, or `_UNUSED`."""

    def use(self, old: int) -> int:
        """Return the new position of a row that is used for the first time."""
        self.new[old] = self.table.add(self.rows[old])
        return self.new[old]
