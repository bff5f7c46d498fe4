"""How many operators, parameters, bytes of parameters and floating point operations a collapsed call holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.costs import are_counted, flops_of_rows
from trec.analysis.shares import shares
from trec.analysis.sizes import elements, size_bytes
from trec.ir.types import FLOPS, AttrRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.ir.graph import Graph
    from trec.passes.grouping import Grouping, Segment


class Totals:
    """Sums over the members of segments of one graph, as `runs` found them."""

    def __init__(self, graph: Graph, groups: Sequence[int], grouping: Grouping) -> None:
        self.graph, self.groups, self.grouping = graph, groups, grouping
        self.types = [(elements(type_), size_bytes(type_)) for type_ in graph.types]
        self.flops = flops_of_rows(graph) if are_counted(graph) else []
        self.repeated = any(scope.repeats for scope in graph.scopes)
        found = grouping.parameters.items()
        self.several = {value: graph.nodes[index] for value, index in found if graph.times(graph.nodes[index]) > 1}
        """The parameters that stand for several."""

    def of(self, segment: Segment) -> tuple[int, int, int, int]:
        """Return the operators of a segment, the elements and bytes of distinct parameters they read, and operations.

        Operations are floating point operations, as far as they were counted.
        """
        known = self.grouping.parameters
        read = {value for value in segment.reads if value in known}
        ops, params, param_bytes = self.operators(segment), 0, 0
        for index in segment.special:
            node = self.graph.nodes[index]
            if node.kind == "module":
                inner = dict(self.graph.attrs[node.attrs])
                times = self.times(node.scope, segment.scope)
                # What it reads from outside is counted with what this segment reads.
                outer, outer_bytes = self.parameters(known.keys() & set(node.inputs), node.scope)
                ops += _count(inner, "ops") * times
                params += (_count(inner, "params") - outer) * times
                param_bytes += (_count(inner, "param_bytes") - outer_bytes) * times
            elif node.kind == "param":
                read.update(node.outputs)
        own, own_bytes = self.parameters(read, segment.scope)
        return ops, params + own, param_bytes + own_bytes, self.operations(segment) if self.flops else 0

    def operators(self, segment: Segment) -> int:
        """Return how many operators are members of a segment."""
        if not self.repeated:
            return self.grouping.size(segment) - len(segment.special)
        members = map(self.graph.nodes.__getitem__, self.grouping.members(segment))
        ran = [node.parent if node.scope < 0 else node.scope for node in members if node.kind == "op"]
        return sum([self.times(scope, segment.scope) for scope in ran])

    def operations(self, segment: Segment) -> int:
        """Return how many floating point operations were counted in a segment."""
        total = 0
        for index in self.grouping.members(segment):
            node = self.graph.nodes[index]
            if flops := self.flops[node.attrs]:
                total += flops * self.times(node.parent if node.scope < 0 else node.scope, segment.scope)
        return total

    def times(self, scope: int, call: int) -> int:
        """Return how often a scope ran in one run of a call around it."""
        counts = self.graph.counts
        return counts[scope] // counts[call]

    def parameters(self, values: Iterable[int], call: int) -> tuple[int, int]:
        """Return the elements and bytes of the parameters that a call reads in one run, of those that repeat all."""
        total = total_bytes = 0
        rows, types = self.graph.values, self.types
        for value in values:
            size, bytes_ = types[rows[value].type]
            times = self.times_read(value, call) if value in self.several else 1
            total += size * times
            total_bytes += bytes_ * times
        return total, total_bytes

    def times_read(self, value: int, call: int) -> int:
        """Return how many of the parameters that one stands for are read in one run of a call."""
        graph, source = self.graph, self.several[value]
        users = [graph.nodes[user] for user in graph.users[value]]
        readers = {node.parent if node.scope < 0 else node.scope for node in users}
        numbers = [number for reader in readers for scope, number in shares(graph, source, reader) if scope == call]
        return max(numbers, default=1)


def row_of(ops: int, params: int, param_bytes: int, flops: int) -> AttrRow:
    """Return the attributes of a node for the totals of its members."""
    row: AttrRow = (("ops", ops), ("params", params), ("param_bytes", param_bytes))
    return (*row, (FLOPS, flops)) if flops else row


def _count(row: Mapping[str, object], name: str) -> int:
    found = row.get(name, 0)
    return found if isinstance(found, int) else 0
