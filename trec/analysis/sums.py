"""What calls hold in all: operators, parameters, their bytes, and floating point operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.below import common, sums_of_distinct
from trec.analysis.sizes import elements, size_bytes
from trec.ir.types import FLOPS

if TYPE_CHECKING:
    from trec.ir.graph import Graph


class Sums:
    """Operators, parameters, bytes and FLOPs of each scope, in one of its runs."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sizes = [(elements(type_), size_bytes(type_)) for type_ in graph.types]
        self.rows = [dict(row) for row in graph.attrs]
        own = [[0, 0, 0, 0] for _ in graph.scopes]
        read: list[set[int]] = [set() for _ in graph.scopes]
        for node in graph.nodes:
            scope = node.scope if node.scope >= 0 else node.parent
            params = [value for value in node.inputs if graph.nodes[graph.producers[value]].kind == "param"]
            read[scope].update(params)
            for at, number in enumerate(self._own(node.kind, node.attrs, params)):
                own[scope][at] += number
        once = [
            sums_of_distinct(graph, read, [self.sizes[value.type][at] for value in graph.values]) for at in range(2)
        ]
        instead = self._repeated(read, own)
        for index in range(len(graph.scopes) - 1, 0, -1):
            row = graph.scopes[index]
            for at in range(4):
                own[row.parent][at] += own[index][at] * (1 + len(row.repeats))
            for at in range(2):
                instead[row.parent][at] += instead[index][at]
        self.of_scopes = [
            (ops, params + once[0][index] - instead[index][0], bytes_ + once[1][index] - instead[index][1], flops)
            for index, (ops, params, bytes_, flops) in enumerate(own)
        ]

    def _repeated(self, read: list[set[int]], own: list[list[int]]) -> list[list[int]]:
        """Let parameters of repeated calls count as often as these run; return what they would count as once.

        Both are put where a parameter begins to count so: in the innermost scope around it that reads it.
        """
        graph, counts = self.graph, self.graph.counts
        meets: dict[int, int] = {}
        for scope, values in enumerate(read):
            for value in values:
                holder = graph.nodes[graph.producers[value]].parent
                if counts[holder] > 1:
                    meets[value] = max(meets.get(value, 0), common(graph, holder, scope))
        instead = [[0, 0] for _ in graph.scopes]
        for value, scope in meets.items():
            times = counts[graph.nodes[graph.producers[value]].parent] // counts[scope]
            for at, size in enumerate(self.sizes[graph.values[value].type]):
                own[scope][1 + at] += size * times
                instead[scope][at] += size
        return instead

    def _own(self, kind: str, attrs: int, params: list[int]) -> tuple[int, int, int, int]:
        row = self.rows[attrs]
        flops = _int(row.get(FLOPS))
        if kind != "module":
            return int(kind == "op"), 0, 0, flops
        # What it reads from outside is counted with what is read there.
        outside = [self.sizes[self.graph.values[value].type] for value in set(params)]
        held = _int(row.get("params")) - sum([size for size, _ in outside])
        held_bytes = _int(row.get("param_bytes")) - sum([size for _, size in outside])
        return _int(row.get("ops")), held, held_bytes, flops


def _int(value: object) -> int:
    return value if isinstance(value, int) else 0
