"""How many operators, parameters, bytes of parameters and floating point operations a collapsed call holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.sizes import elements, size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow
    from trec.passes.grouping import Segment


class Totals:
    """Sums over the members of segments of one graph."""

    def __init__(self, graph: Graph, groups: Sequence[int]) -> None:
        self.graph, self.groups = graph, groups
        self.types = [(elements(type_), size_bytes(type_)) for type_ in graph.types]
        self.repeated = any(scope.repeats for scope in graph.scopes)
        self.flops = [_count(dict(row), "flops") for row in graph.attrs]
        self.counted = any(self.flops)

    def row(self, segment: Segment) -> AttrRow:
        """Return how many operators a segment holds, what distinct parameters these read, and FLOPs if counted."""
        graph, producers = self.graph, self.graph.producers
        nodes = graph.nodes
        kinds = [nodes[index].kind for index in segment.members]
        ops = kinds.count("op")
        if self.repeated:
            ops = sum(
                [
                    self.times(nodes[index].parent, segment.scope)
                    for index, kind in zip(segment.members, kinds, strict=True)
                    if kind == "op"
                ]
            )
        read = set(segment.sources)
        read.update([producers[value] for value in segment.inputs])
        params = param_bytes = 0
        for index in segment.members if len(kinds) > kinds.count("op") else ():
            node = nodes[index]
            if node.kind == "module":
                inner = dict(graph.attrs[node.attrs])
                times = self.times(node.scope, segment.scope)
                # What it reads from outside is counted with the sources and inputs of this segment.
                outer, outer_bytes = self.parameters({producers[value] for value in node.inputs}, -1)
                ops += _count(inner, "ops") * times
                params += (_count(inner, "params") - outer) * times
                param_bytes += (_count(inner, "param_bytes") - outer_bytes) * times
            elif node.kind == "param":
                read.add(index)
        own, own_bytes = self.parameters(read, segment.scope)
        row: AttrRow = (("ops", ops), ("params", params + own), ("param_bytes", param_bytes + own_bytes))
        flops = self._flops(segment) if self.counted else 0
        return (*row, ("flops", flops)) if flops else row

    def _flops(self, segment: Segment) -> int:
        nodes = [self.graph.nodes[index] for index in segment.members]
        return sum(
            [
                self.flops[node.attrs] * self.times(node.scope if node.scope >= 0 else node.parent, segment.scope)
                for node in nodes
            ]
        )

    def times(self, scope: int, call: int) -> int:
        """Return how often a scope ran in one run of a call around it."""
        counts = self.graph.counts
        return counts[scope] // counts[call]

    def parameters(self, indices: Iterable[int], call: int) -> tuple[int, int]:
        """Return the elements and bytes of the parameters among some nodes, those that repeat in a call repeated."""
        total = total_bytes = 0
        for index in indices:
            node = self.graph.nodes[index]
            if node.kind == "param":
                times = 1
                if self.repeated and call >= 0 and self.groups[node.parent] == call:
                    times = self.times(node.parent, call)
                elements_, bytes_ = self.types[self.graph.values[node.outputs[0]].type]
                total += elements_ * times
                total_bytes += bytes_ * times
        return total, total_bytes


def _count(row: Mapping[str, object], name: str) -> int:
    found = row.get(name, 0)
    return found if isinstance(found, int) else 0
