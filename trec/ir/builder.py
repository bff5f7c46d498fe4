"""The one mutable object of the IR: it collects rows and hands out a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.graph import Graph
from trec.ir.tables import AttrTable, Table, clean, storable
from trec.ir.types import (
    AttrRow,
    Carried,
    Derivative,
    Node,
    NodeKind,
    Note,
    Phase,
    Scope,
    ScopeKind,
    Source,
    TensorType,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class GraphBuilder:
    """Collect scopes, nodes and values in execution order, then `build` the graph.

    A scope must be added after its parent, a node after the producers of its inputs. Repeated types, attribute rows
    and sources are stored once; names that are taken get a number.

    Example:
        >>> builder = GraphBuilder("Net")
        >>> root = builder.scope("module", path="", cls="Net")
        >>> x, = builder.node("input", parent=root, name="x", results=[builder.tensor_type((2, 3), "float32")])
        >>> y, = builder.node("op", "relu", parent=root, inputs=[x], results=[builder.type_of(x)])
        >>> _ = builder.node("output", parent=root, inputs=[y])
        >>> print(builder.build())
        graph Net: 3 nodes, 2 values, 1 scope
          %x: f32[2,3] = input
          %1: f32[2,3] = relu(%x)
          output(%1)
    """

    def __init__(self, name: str, meta: AttrRow = ()) -> None:
        self.name = clean(name)
        self.meta = storable(meta)
        self.nodes: list[Node] = []
        self.values: list[Value] = []
        self.scopes: list[Scope] = []
        self.types: Table[TensorType] = Table()
        self.attrs = AttrTable()
        self.sources: Table[Source] = Table()
        self.carried: list[Carried] = []
        self.notes: list[Note] = []
        self.derivatives: list[Derivative] = []
        self._names: dict[str, int] = {}
        self._inner: list[int] = []
        self._standing: set[int] = set()

    def tensor_type(self, shape: Iterable[int | str], dtype: str, device: str = "cpu", layout: str = "strided") -> int:
        """Return the index of a tensor type in the table of types."""
        return self.types.add(TensorType(tuple(shape), dtype, device, layout))

    def type_of(self, value: int) -> int:
        """Return the index of the type of a value that has been produced."""
        return self.values[value].type

    def scope(
        self,
        kind: ScopeKind,
        *,
        path: str,
        cls: str,
        parent: int = -1,
        call: int = 0,
        name: str | None = None,
        attrs: AttrRow | int = (),
        source: Source | int | None = None,
        inputs: Sequence[int] = (),
        outputs: Sequence[int] = (),
        phase: Phase = "forward",
    ) -> int:
        """Add one call of a module or function and return its index.

        Args:
            kind: what it is a call of.
            path: qualified path of the module, or of the enclosing module for a function.
            cls: class of the module, or name of the function.
            parent: index of the scope that the call was made in; -1 for the root.
            call: how many calls of that module came before.
            name: wanted name; made from path and call when left out, and made unique.
            attrs: constructor arguments of the module, arguments of the function; or the index of such a row.
            source: line that made the call, or its index in the table of sources.
            inputs: tensors that a function was given, in the order of its arguments.
            outputs: tensors that a function returned, in order.
            phase: what part of a step of training it belongs to.
        """
        path = clean(path)
        if name is None:
            name = path or self.name
            if call:
                name = f"{name}#{call + 1}"
        row = attrs if type(attrs) is int else self._row(attrs)
        line = source if type(source) is int else self._source(source)
        name = unique(clean(name), self._names)
        made = tuple(inputs), tuple(outputs)
        return self.scope_row(kind, name, path, clean(cls), call, parent, row, line, *made, phase)

    def scope_row(
        self,
        kind: ScopeKind,
        name: str,
        path: str,
        cls: str,
        call: int,
        parent: int,
        attrs: int,
        source: int,
        inputs: tuple[int, ...] = (),
        outputs: tuple[int, ...] = (),
        phase: Phase = "forward",
    ) -> int:
        """Add a scope whose texts are clean, with a unique name, and whose attributes and source are in the tables."""
        inner = -1 if parent < 0 else self._inner[parent]
        depth = inner + 1
        self._inner.append(depth if kind == "module" or parent < 0 else inner)
        self.scopes.append(Scope(kind, name, path, cls, call, parent, depth, attrs, source, inputs, outputs, (), phase))
        return len(self.scopes) - 1

    def node(
        self,
        kind: NodeKind,
        op: str = "",
        *,
        parent: int,
        name: str = "",
        inputs: Iterable[int] = (),
        results: Sequence[int] = (),
        attrs: AttrRow | int = (),
        source: Source | int | None = None,
        scope: int = -1,
        value_names: Sequence[str] = (),
    ) -> range:
        """Add a node and return the indices of the values that it produces.

        Args:
            kind: what the node stands for.
            op: name of the function, operator or class; the kind when left out.
            parent: index of the scope that holds it.
            name: wanted name; made from the scope and `op` when left out, and made unique.
            inputs: values that it reads, one entry per use.
            results: for each value that it produces, the index of its type.
            attrs: arguments that are no tensors, and facts of the node; or the index of such a row.
            source: line that ran it, or its index in the table of sources.
            scope: the call that a collapsed node stands for.
            value_names: names of the results; made from the name of the node when left out.
        """
        op = clean(op) or kind
        if not name:
            name = self.scopes[scope].name if scope >= 0 else inner_name(self.scopes[parent], op)
        name = clean(name)
        if scope >= 0 and name == self.scopes[scope].name and scope not in self._standing:
            self._standing.add(scope)  # a collapsed node has the name of its scope
        else:
            name = unique(name, self._names)
        first = len(self.values)
        names = list(map(clean, value_names)) or [
            name if len(results) == 1 else f"{name}:{p}" for p in range(len(results))
        ]
        self.values.extend(map(Value, results, names))
        outputs = range(first, len(self.values))
        depth = self.scopes[scope].depth if scope >= 0 else self._inner[parent] + 1
        self.nodes.append(
            Node(
                kind,
                op,
                name,
                parent,
                depth,
                tuple(inputs),
                tuple(outputs),
                attrs if type(attrs) is int else self._row(attrs),
                source if type(source) is int else self._source(source),
                scope,
            )
        )
        return outputs

    def _row(self, attrs: AttrRow | int) -> int:
        return self.attrs.add(attrs) if attrs else 0  # type: ignore[arg-type]

    def _source(self, source: Source | int | None) -> int:
        return -1 if source is None else self.sources.add(source)  # type: ignore[arg-type]

    def build(self) -> Graph:
        """Return what has been collected as a graph; it is not verified."""
        return Graph(
            self.name,
            tuple(self.nodes),
            tuple(self.values),
            tuple(self.scopes),
            tuple(self.types),
            tuple(self.attrs),
            tuple(self.sources),
            self.meta,
            tuple(self.carried),
            tuple(self.notes),
            tuple(self.derivatives),
        )


def inner_name(scope: Scope, op: str) -> str:
    """Return the name of an operator in a scope, before it is made unique."""
    return op if scope.parent < 0 else f"{scope.name}.{op}"


def unique(name: str, taken: dict[str, int]) -> str:
    """Return the name, with `_1`, `_2`, ... appended if it is taken, and take it."""
    count = taken.get(name)
    if count is None:
        taken[name] = 0
        return name
    while (candidate := f"{name}_{count + 1}") in taken:
        count += 1
    taken[name] = count + 1
    taken[candidate] = 0
    return candidate
