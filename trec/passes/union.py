"""Join several runs of one model into one graph, which says what ran in which."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.joint_runs import JointRuns
from trec.errors import OptionError
from trec.ir.builder import GraphBuilder
from trec.ir.collector import paused
from trec.ir.given import given_graphs
from trec.ir.rewrite import with_nodes
from trec.ir.run_marks import EITHER, RUNS, Runs, beside_runs, marks, named_runs, run_names
from trec.ir.types import Carried, Derivative
from trec.passes.alternatives import any_row, any_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trec.analysis.joint_runs import Members
    from trec.ir.graph import Graph

_IN_ALL = frozenset({"unused_param", "unused_buffer", "uncalled_module"})
"""Kinds of notes that hold of several runs only if they hold of each."""


def union(graphs: Iterable[Graph], names: Sequence[str] | None = None) -> Graph:
    """Return one graph of several runs of a model: other inputs, other modes, other ways through it.

    Calls and steps are aligned by path and structure, each run with all before it. A node or scope that did not run in
    all of them has the attribute `runs`: in which it did, counted from 0. Pictures say `3 of 8` and draw it dashed.
    What differs between runs, a size or an argument, is written as alternatives, in the order of the runs: `16|32`.

    Where a node reads the results of different nodes in different runs, it reads a link `either`, which reads them all;
    its `read_in` tells the port of each and its runs. `read_in` of any other node tells the ports that only some of its
    runs have, and `made_in` the results.

    Args:
        graphs: the runs, recorded at one level.
        names: what they are called; their numbers from 1 when left out.

    Raises:
        OptionError: there are no graphs, they are of different levels, one is a union, or the names do not fit.

    Ensures:
        The union of equal graphs is that graph. `run` gives each of them back.

    Cost: near-linear in all nodes, for each run.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> def net(*ops):
        ...     builder = GraphBuilder("Net")
        ...     root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2,), "float32")
        ...     value = builder.node("input", parent=root, name="x", results=[type_])
        ...     for op in ops:
        ...         value = builder.node("op", op, parent=root, inputs=value, results=[type_])
        ...     _ = builder.node("output", parent=root, inputs=value)
        ...     return builder.build()
        >>> print(union([net("relu", "tanh"), net("tanh")]))
        graph Net: 5 nodes, 4 values, 1 scope, runs=('1', '2')
          %x: f32[2] = input
          %1: f32[2] = relu(%x, runs=(0,))
          %2: f32[2] = link either(%1, %x, read_in=((0, (0,)), (1, (1,))))
          %3: f32[2] = tanh(%2)
          output(%3)
    """
    runs = given_graphs(graphs)
    called = named_runs(len(runs), names)
    levels = list(dict.fromkeys([dict(graph.meta).get("level") for graph in runs]))
    if len(levels) > 1:
        raise OptionError(f"graphs of the levels {levels} have no union: record all of them at the same level")
    if any(map(run_names, runs)):
        raise OptionError("one of the graphs is a union already: expected a graph of one run each")
    with paused():
        return _Union(runs, called).graph()


class _Union:
    """Build the graph of several runs."""

    def __init__(self, graphs: Sequence[Graph], names: tuple[str, ...]) -> None:
        self.graphs = graphs
        self.joint = JointRuns(graphs)
        first = graphs[0]
        meta = [pair for pair in first.meta if all(pair in graph.meta for graph in graphs)]
        self.builder = GraphBuilder(first.name, (*meta, (RUNS, names)))
        self.values: list[dict[int, int]] = [{} for _ in graphs]
        """For each run, what its values are here."""
        self.at: list[dict[int, int]] = [{} for _ in graphs]
        """For each run, what its nodes are here."""
        self.parents: list[int] = []
        """For each value here, the scope that it is made in."""
        self.made_in: list[Runs] = []
        """For each value here, the runs in which it is made."""
        self.ran_in: list[Runs] = []
        """For each node here, the runs in which it ran."""
        self.links: dict[tuple[tuple[int, Runs], ...], int] = {}
        """The value of each link, by what it reads in which runs."""

    def graph(self) -> Graph:
        """Return the union."""
        for members in self.joint.scopes:
            self._add_scope(members)
        for members in self.joint.nodes:
            self._add_node(members)
        self._give_values()
        self._carry()
        derivatives = {
            (at[row.node], at[row.forward])
            for graph, at in zip(self.graphs, self.at, strict=True)
            for row in graph.derivatives
        }
        self.builder.derivatives += [Derivative(*row) for row in sorted(derivatives)]
        first, *others = [graph.notes for graph in self.graphs]
        notes = [*first, *dict.fromkeys([note for some in others for note in some if note not in first])]
        shared = set(first).intersection(*others)
        self.builder.notes += [note for note in notes if note.kind not in _IN_ALL or note in shared]
        built = self.builder.build()
        return with_nodes(built, built.nodes, carried=built.carried)

    def _carry(self) -> None:
        """Say what loops carry; what only some of the runs carry that make and read it goes by way of a link."""
        rows: dict[Carried, list[int]] = {}
        for run, graph in enumerate(self.graphs):
            for edge in graph.carried:
                loop = self.joint.scope_at[run].get(edge.loop, -1)
                row = Carried(self.values[run][edge.value], self.at[run][edge.node], edge.port, loop)
                rows.setdefault(row, []).append(run)
        for row, found in rows.items():
            runs = tuple(found)
            if set(self.made_in[row.value]).intersection(self.ran_in[row.node]) != set(runs):
                value = self._link(self.builder.nodes[row.node].parent, ((row.value, runs),), runs)
                row = replace(row, value=value)
            self.builder.carried.append(row)

    def _add_scope(self, members: Members) -> None:
        run, index = next(iter(members.items()))
        graph, scope = self.graphs[run], self.graphs[run].scopes[index]
        rows = [self.graphs[run].attrs[self.graphs[run].scopes[at].attrs] for run, at in members.items()]
        at = self.builder.scope(
            scope.kind, path=scope.path, cls=scope.cls, parent=self.joint.scope_at[run].get(scope.parent, -1),
            call=scope.call, name=scope.name, source=graph.source_of(scope), phase=scope.phase,
            attrs=(*beside_runs(any_row(rows)), *marks(members, len(self.graphs))),
        )  # fmt: skip
        self.builder.scopes[at] = replace(self.builder.scopes[at], repeats=scope.repeats)

    def _give_values(self) -> None:
        """Tell scopes of functions what they were given and what they returned, in the first of their runs."""
        for at, members in enumerate(self.joint.scopes):
            run, index = next(iter(members.items()))
            scope, values = self.graphs[run].scopes[index], self.values[run]
            inputs, outputs = (tuple([values[value] for value in side]) for side in (scope.inputs, scope.outputs))
            self.builder.scopes[at] = replace(self.builder.scopes[at], inputs=inputs, outputs=outputs)

    def _add_node(self, members: Members) -> None:
        run, index = next(iter(members.items()))
        graph, node = self.graphs[run], self.graphs[run].nodes[index]
        rows = {run: self.graphs[run].nodes[at] for run, at in members.items()}
        parent = self.joint.scope_at[run][node.parent]
        read, inputs = self._read(parent, {run: row.inputs for run, row in rows.items()})
        made, types, names = [], [], []
        for port in range(max([len(row.outputs) for row in rows.values()])):
            given = {run: row.outputs[port] for run, row in rows.items() if port < len(row.outputs)}
            types.append(self._type(given))
            first = next(iter(given))
            names.append(self.graphs[first].values[given[first]].name)
            self.made_in.append(tuple(given))
            if len(given) < len(members):
                made.append((port, tuple(given)))
        attrs = any_row([self.graphs[run].attrs[row.attrs] for run, row in rows.items()])
        results = self.builder.node(
            node.kind, node.op, parent=parent, name=node.name, inputs=inputs, results=types, value_names=names,
            attrs=(*beside_runs(attrs), *marks(members, len(self.graphs), read, made)), source=graph.source_of(node),
            scope=self.joint.scope_at[run].get(node.scope, -1),
        )  # fmt: skip
        self.ran_in.append(tuple(members))
        self.parents += [parent] * len(results)
        for run, row in rows.items():
            self.values[run].update(zip(row.outputs, results, strict=False))
            self.at[run][members[run]] = len(self.builder.nodes) - 1

    def _type(self, given: Members) -> int:
        return self.builder.types.add(any_type([self.graphs[run].type_of(value) for run, value in given.items()]))

    # ---- what nodes read

    def _read(self, parent: int, inputs: dict[int, tuple[int, ...]]) -> tuple[list[tuple[int, Runs]], list[int]]:
        """Return the ports that not all runs have, and for each port what is read, adding links where runs differ."""
        read, found = [], []
        for port in range(max(map(len, inputs.values()))):
            sources: dict[int, list[int]] = {}
            for run, values in inputs.items():
                if port < len(values):
                    sources.setdefault(self.values[run][values[port]], []).append(run)
            runs = tuple(sorted([run for some in sources.values() for run in some]))
            if len(runs) < len(inputs):
                read.append((port, runs))
            if len(sources) == 1:
                found.append(next(iter(sources)))
            else:
                found.append(self._link(parent, tuple([(value, tuple(some)) for value, some in sources.items()]), runs))
        return read, found

    def _link(self, parent: int, sources: tuple[tuple[int, Runs], ...], runs: Runs) -> int:
        """Return the value of the link that yields each of some values in its runs."""
        if sources not in self.links:
            built = self.builder
            for value, _ in sources:
                parent = self._common(parent, self.parents[value])
            types = [built.types[built.values[value].type] for value, _ in sources]
            read = [(port, some) for port, (_, some) in enumerate(sources)]
            made = built.node(
                "link", EITHER, parent=parent, inputs=[value for value, _ in sources],
                results=[built.types.add(any_type(types))], attrs=marks(runs, len(self.graphs), read),
            )  # fmt: skip
            self.links[sources] = made[0]
            self.parents.append(parent)
            self.made_in.append(runs)
            self.ran_in.append(runs)
        return self.links[sources]

    def _common(self, one: int, other: int) -> int:
        """Return the innermost scope around two scopes."""
        inside = set()
        while one >= 0:
            inside.add(one)
            one = self.builder.scopes[one].parent
        while other not in inside:
            other = self.builder.scopes[other].parent
        return other
