"""What calls hold in all: operators, parameters, their bytes, and floating point operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.below import sums_of_distinct
from trec.analysis.shares import shares
from trec.analysis.sizes import elements, size_bytes
from trec.ir.types import FLOPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trec.ir.graph import Graph


class Sums:
    """Operators, parameters, bytes and FLOPs of each scope, in one of its runs."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sizes = [(elements(type_), size_bytes(type_)) for type_ in graph.types]
        self.rows = [dict(row) for row in graph.attrs]
        self.times = {node.outputs[0]: graph.times(node) for node in graph.nodes if node.kind == "param"}
        """For each parameter, how many it stands for."""
        self.repeated: list[dict[int, int]] = [{} for _ in graph.scopes]
        """For each scope, how many one of its runs reads of the parameters that stand for several."""
        own = [[0, 0, 0, 0] for _ in graph.scopes]
        read: list[set[int]] = [set() for _ in graph.scopes]
        for node in graph.nodes:
            scope = node.scope if node.scope >= 0 else node.parent
            params = {value for value in node.inputs if value in self.times}
            if params:
                several = {value for value in params if self.times[value] > 1}
                read[scope] |= params - several
                self._repeat(several, scope)
            for at, number in enumerate(self._own(node.kind, node.attrs, params, self.repeated[scope])):
                own[scope][at] += number
        for index in range(len(graph.scopes) - 1, 0, -1):
            row = graph.scopes[index]
            for at in range(4):
                own[row.parent][at] += own[index][at] * (1 + len(row.repeats))
        once = [
            sums_of_distinct(graph, read, [self.sizes[value.type][at] for value in graph.values]) for at in range(2)
        ]
        for index, numbers in enumerate(self.repeated):
            for value, number in numbers.items():
                for at, size in enumerate(self.sizes[graph.values[value].type]):
                    own[index][1 + at] += size * number
        self.of_scopes = [
            (ops, params + once[0][index], bytes_ + once[1][index], flops)
            for index, (ops, params, bytes_, flops) in enumerate(own)
        ]

    def _repeat(self, values: set[int], scope: int) -> None:
        """Let parameters that stand for several, which a scope reads, count in it and in those around it."""
        for value in values - self.repeated[scope].keys():
            source = self.graph.nodes[self.graph.producers[value]]
            for around, number in shares(self.graph, source, scope):
                self.repeated[around][value] = max(self.repeated[around].get(value, 0), number)

    def _own(self, kind: str, attrs: int, params: set[int], numbers: Mapping[int, int]) -> tuple[int, int, int, int]:
        row = self.rows[attrs]
        flops = _int(row.get(FLOPS))
        if kind != "module":
            return int(kind == "op"), 0, 0, flops
        # What it reads from outside is counted with what is read there.
        outside = [(*self.sizes[self.graph.values[value].type], numbers.get(value, 1)) for value in params]
        held = _int(row.get("params")) - sum([size * number for size, _, number in outside])
        held_bytes = _int(row.get("param_bytes")) - sum([size * number for _, size, number in outside])
        return _int(row.get("ops")), held, held_bytes, flops


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
