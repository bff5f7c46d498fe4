"""Whether two graphs are the same program, whatever its names, and in whatever order its sources come."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def assert_alike(one: Graph, other: Graph) -> None:
    """Steps, what they read, the calls that hold them, and what refers to them are the same, row by row."""
    assert canonical(one) == canonical(other)


def canonical(graph: Graph) -> tuple[Any, ...]:
    """Return all rows of a graph, in terms of steps numbered in order and sources in the order of their first use."""
    order = [index for index, node in enumerate(graph.nodes) if node.inputs or node.kind not in SOURCE_KINDS]
    number: dict[int, Any] = {index: at for at, index in enumerate(order)}
    for index in order:
        for value in graph.nodes[index].inputs:
            number.setdefault(graph.producers[value], len(number))
    loose = [index for index in range(len(graph.nodes)) if index not in number]
    number.update({index: graph.nodes[index].kind for index in loose})  # which of them it is shows nowhere

    def place(value: int) -> tuple[Any, int]:
        maker = graph.producers[value]
        return number[maker], graph.nodes[maker].outputs.index(value)

    def call(index: int) -> tuple[Any, ...]:
        if index <= 0:
            return (index,)
        scope = graph.scopes[index]
        given = [tuple(map(place, values)) for values in (scope.inputs, scope.outputs)]
        return (*call(scope.parent), scope.kind, scope.path, scope.cls, scope.phase, len(scope.repeats), *given)

    rows = [
        (number[index], node.kind, node.op, call(node.parent), call(node.scope), tuple(map(place, node.inputs)),
         len(node.outputs))
        for index, node in enumerate(graph.nodes)
    ]  # fmt: skip
    carried = [(place(edge.value), number[edge.node], edge.port, call(edge.loop)) for edge in graph.carried]
    derivatives = [(number[row.node], number[row.forward]) for row in graph.derivatives]
    return Counter(rows), Counter(map(call, range(len(graph.scopes)))), Counter(carried), Counter(derivatives)
