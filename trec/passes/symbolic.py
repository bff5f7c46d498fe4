"""Give the sizes that vary between runs names, and say what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.same_structure import check_structure
from trec.errors import OptionError
from trec.ir.collector import paused
from trec.ir.given import given_graphs
from trec.ir.rewrite import with_nodes
from trec.ir.run_marks import named_runs, run_names
from trec.ir.tables import AttrTable, Table
from trec.ir.types import FLOPS, TensorType, Value
from trec.passes.dimensions import Dimensions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, Node


def symbolic(graphs: Iterable[Graph], names: Mapping[str, Sequence[str | None]] | None = None) -> Graph:
    """Return the graph of two or more runs of one structure, in which sizes that vary are names and expressions.

    A size of an input that varies gets a name: the one that is given, else one by its place. The first dimension is
    `B`, the second `T`; the last ones of four or five are `H` and `W`, or `D`, `H`, `W`; a vector has `N`. Sizes that
    are equal in all runs have one name. Any other size is what its operator makes of those that it is given, as far as
    that is known, else the simplest expression of the names that holds in all runs: `2*T+1`, `B*T`, `(H+1)//2`. What
    follows from none is a name of its own: `s0`. So are arguments, as of `view`; those that follow from no size are
    written as alternatives, `3|7`.

    Two runs allow several expressions for one size, so take sizes that have nothing to do with one another, or more
    runs.

    Args:
        graphs: the runs.
        names: for inputs by name, a name for each dimension, or None; no name has an `x`, which stands between sizes.

    Raises:
        StructureError: the runs differ in more than sizes and arguments; the message says where.
        OptionError: there are fewer than two graphs, or `names` does not fit.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> def net(size):
        ...     builder = GraphBuilder("Net")
        ...     root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((size, 4), "float32")
        ...     value = builder.node("input", parent=root, name="x", results=[type_])
        ...     double = builder.tensor_type((2 * size, 4), "float32")
        ...     value = builder.node("op", "repeat", parent=root, inputs=value, results=[double])
        ...     _ = builder.node("output", parent=root, inputs=value)
        ...     return builder.build()
        >>> print(symbolic([net(3), net(5)]))
        graph Net: 3 nodes, 2 values, 1 scope
          %x: f32[B,4] = input
          %1: f32[2*B,4] = repeat(%x)
          output(%1)
    """
    runs = given_graphs(graphs)
    if len(runs) < 2:
        raise OptionError(f"sizes that vary need two runs or more, found {len(runs)}")
    if any(map(run_names, runs)):
        raise OptionError("one of the graphs is a union: expected a graph of one run each")
    with paused():
        check_structure(runs, named_runs(len(runs), None))
        return _Symbolic(runs, dict(names or {})).graph()


class _Symbolic:
    def __init__(self, graphs: Sequence[Graph], names: Mapping[str, Sequence[str | None]]) -> None:
        self.graphs, self.first = graphs, graphs[0]
        self.dimensions = Dimensions(graphs, names)
        self.rows: Table[AttrRow] = AttrTable()

    def graph(self) -> Graph:
        """Return the graph of all runs."""
        nodes = [self._node(index) for index in range(len(self.first.nodes))]
        scopes = []
        for index, scope in enumerate(self.first.scopes):
            rows = [graph.attrs[graph.scopes[index].attrs] for graph in self.graphs]
            scopes.append(replace(scope, attrs=self.rows.add(self.dimensions.row(rows, ()))))
        types: Table[TensorType] = Table()
        values = [
            Value(types.add(replace(self.first.type_of(at), shape=self.dimensions.shape(at))), value.name)
            for at, value in enumerate(self.first.values)
        ]
        meta = tuple([pair for pair in self.first.meta if all(pair in graph.meta for graph in self.graphs)])
        bare = replace(
            self.first,
            meta=meta,
            scopes=tuple(scopes),
            values=tuple(values),
            types=tuple(types),
            attrs=tuple(self.rows),
        )
        return with_nodes(bare, nodes, values=values, attrs=bare.attrs, carried=self.first.carried)

    def _node(self, index: int) -> Node:
        node = self.first.nodes[index]
        rows = [graph.attrs[graph.nodes[index].attrs] for graph in self.graphs]
        if len({dict(row).get(FLOPS) for row in rows}) > 1:  # a number, or not known
            rows = [tuple([pair for pair in row if pair[0] != FLOPS]) for row in rows]
        self.dimensions.add(node)
        return replace(node, attrs=self.rows.add(self.dimensions.row(rows, (*node.outputs, *node.inputs))))
