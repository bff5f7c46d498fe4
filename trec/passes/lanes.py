"""The rows of a graph that holds the programs of several ranks side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.joint_order import Joint
from trec.ir.builder import GraphBuilder, unique
from trec.ir.collectives import RANK
from trec.ir.rewrite import with_nodes
from trec.ir.types import Note, Scope, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.analysis.joint_order import End, Step
    from trec.ir.graph import Graph

_AT_ROOT = frozenset({"input", "output"})


class Lanes:
    """The programs of several ranks, each in a region of its own; scopes and values are numbered anew."""

    def __init__(self, graphs: Mapping[int, Graph], stands: Mapping[int, int], name: str | None) -> None:
        """Make the scopes.

        Args:
            graphs: the ranks that stay.
            stands: for each rank the one that stands for it.
            name: name of the new graph; None for that of the lowest rank's.
        """
        first = graphs[min(graphs)]
        meta = tuple([pair for pair in first.meta if pair[0] != RANK])
        self.graphs, self.builder = graphs, GraphBuilder(name or first.name, meta=meta)
        self.builder.scope("region", path="", cls="ranks")
        self.lane: dict[int, int] = {}
        """Index of the region of each rank."""
        self.first: dict[int, int] = {}
        """Index that the root scope of each rank has now."""
        self.values: dict[int, list[int]] = {}
        """For each rank, the index that each value has now."""
        self.nodes: dict[End, int] = {}
        """The index that each node has now."""
        self.names: dict[str, int] = {self.builder.name: 0}
        for rank, graph in graphs.items():
            self.values[rank] = [-1] * len(graph.values)
            self._add_scopes(rank, graph, [str(other) for other in stands if stands[other] == rank != other])

    def _add_scopes(self, rank: int, graph: Graph, others: list[str]) -> None:
        scopes, root = self.builder.scopes, graph.scopes[0]
        self.lane[rank] = len(scopes)
        # A root that is a region itself is the lane; a module is called in it.
        self.first[rank] = len(scopes) + (root.kind == "module")
        row = self.builder.attrs.add(((RANK, rank),))
        names = tuple([f"rank {other}" for other in others])
        scopes.append(Scope("region", f"rank {rank}", "", f"rank {rank}", 0, 0, 1, row, repeats=names))
        for index, scope in enumerate(graph.scopes):
            if index or root.kind == "module":
                scopes.append(
                    replace(
                        scope,
                        name=f"rank {rank}.{scope.name}",
                        parent=self.lane[rank] if index == 0 else self.first[rank] + scope.parent,
                        depth=scope.depth + (root.kind == "module"),
                        attrs=self.builder.attrs.add(graph.attrs[scope.attrs]),
                        source=self._source(graph, scope.source),
                        repeats=tuple([f"rank {rank}.{name}" for name in scope.repeats]),
                    )
                )
        self.names.update((scope.name, 0) for scope in scopes[self.lane[rank] :])

    def graph(self, order: Iterable[Step]) -> Graph:
        """Return the graph with the steps of all ranks in an order in which they can run."""
        for step in order:
            if isinstance(step, Joint):
                self._add_joint(step)
            else:
                self._add_node(*step)
        self._fill_scopes()
        for rank, graph in self.graphs.items():
            self._add_carried(rank, graph)
            self._add_derivatives(rank, graph)
        built = self.builder.build()
        return with_nodes(replace(built, notes=self._notes()), built.nodes, carried=built.carried)

    def _add_node(self, rank: int, index: int) -> None:
        graph = self.graphs[rank]
        node = graph.nodes[index]
        known = self.values[rank]
        shift = graph.scopes[0].kind == "module"
        at_root = node.kind in _AT_ROOT
        outputs = self._add_values(rank, node.outputs, [f"rank {rank}.{graph.values[at].name}" for at in node.outputs])
        self.nodes[rank, index] = len(self.builder.nodes)
        self.builder.nodes.append(
            replace(
                node,
                name=unique(f"rank {rank}.{node.name}", self.names) if node.scope < 0 else f"rank {rank}.{node.name}",
                parent=self.lane[rank] if at_root else self.first[rank] + node.parent,
                depth=1 if at_root else node.depth + shift,
                inputs=tuple([known[value] for value in node.inputs]),
                outputs=outputs,
                attrs=self.builder.attrs.add(graph.attrs[node.attrs]),
                source=self._source(graph, node.source),
                scope=node.scope if node.scope < 0 else self.first[rank] + node.scope,
            )
        )

    def _add_joint(self, joint: Joint) -> None:
        """Add a communication where its first rank begins it; it reads what all give and yields what all get."""
        rank, index = joint.ends[0]
        graph = self.graphs[rank]
        node = graph.nodes[index]
        row = (*joint.says.row(), ("groups", tuple(sorted(joint.groups))))
        name = unique(f"rank {rank}.{node.name}", self.names)
        inputs = [self.values[lane][at] for lane, end in joint.ends for at in self.graphs[lane].nodes[end].inputs]
        made = [(lane, at) for lane, end in joint.ends for at in self.graphs[lane].nodes[end].outputs]
        outputs: list[int] = []
        for port, (lane, at) in enumerate(made):
            outputs += self._add_values(lane, (at,), [name if len(made) == 1 else f"{name}:{port}"])
        for end in joint.ends:
            self.nodes[end] = len(self.builder.nodes)
        self.builder.nodes.append(
            replace(
                node,
                name=name,
                parent=self.first[rank] + node.parent,
                depth=node.depth + (graph.scopes[0].kind == "module"),
                inputs=tuple(inputs),
                outputs=tuple(outputs),
                attrs=self.builder.attrs.add(row),
                source=self._source(graph, node.source),
            )
        )

    def _add_values(self, rank: int, values: Sequence[int], names: Sequence[str]) -> tuple[int, ...]:
        graph, first = self.graphs[rank], len(self.builder.values)
        for at, (value, name) in enumerate(zip(values, names, strict=True)):
            self.values[rank][value] = first + at
            self.builder.values.append(Value(self.builder.types.add(graph.type_of(value)), name))
        return tuple(range(first, len(self.builder.values)))

    def _source(self, graph: Graph, source: int) -> int:
        return -1 if source < 0 else self.builder.sources.add(graph.sources[source])

    def _fill_scopes(self) -> None:
        """Number what functions were given and returned anew, now that every value has its number."""
        for rank, graph in self.graphs.items():
            known = self.values[rank]
            for index, scope in enumerate(graph.scopes):
                if scope.inputs or scope.outputs:
                    at = self.first[rank] + index
                    inputs, outputs = (
                        tuple([known[value] for value in side]) for side in (scope.inputs, scope.outputs)
                    )
                    self.builder.scopes[at] = replace(self.builder.scopes[at], inputs=inputs, outputs=outputs)

    def _add_carried(self, rank: int, graph: Graph) -> None:
        for edge in graph.carried:
            loop = edge.loop if edge.loop < 0 else self.first[rank] + edge.loop
            node, value = self.nodes[rank, edge.node], self.values[rank][edge.value]
            self.builder.carried.append(replace(edge, value=value, node=node, loop=loop))

    def _add_derivatives(self, rank: int, graph: Graph) -> None:
        for row in graph.derivatives:
            node, forward = self.nodes[rank, row.node], self.nodes[rank, row.forward]
            self.builder.derivatives.append(replace(row, node=node, forward=forward))

    def _notes(self) -> tuple[Note, ...]:
        return tuple(dict.fromkeys([note for graph in self.graphs.values() for note in graph.notes]))
