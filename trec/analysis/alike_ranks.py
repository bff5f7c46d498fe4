"""Which ranks run one program: equal steps, which meet equal steps of equal ranks.

Source: colour refinement, the coarsest equitable partition of a graph; Cardon and Crochemore, 1982.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.ir.collectives import RANK, collective_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from trec.analysis.meetings import Meeting
    from trec.ir.graph import Graph
    from trec.ir.types import Node


def representatives(graphs: Mapping[int, Graph], meetings: Sequence[Meeting]) -> dict[int, int]:
    """Return for each rank the lowest one that runs the same program, which may be itself.

    Programs are the same but for the numbers of the ranks. What one rank sends to another of a second kind, all of its
    kind send to some of that kind, at the same step. So whatever holds between steps of two kinds holds for all.

    Args:
        graphs: the graph of each rank.
        meetings: how they communicate.

    Cost: linear in all steps, and in the communications times the number of kinds at worst.
    """
    kinds = _numbered({rank: _program(graph) for rank, graph in graphs.items()})
    while True:
        met: dict[int, list[tuple[int, tuple[tuple[int, int], ...]]]] = {rank: [] for rank in graphs}
        for meeting in meetings:
            whole = tuple(sorted([(kinds[part.rank], part.node) for part in meeting.parts]))
            for part in meeting.parts:
                met[part.rank].append((part.node, whole))
        finer = _numbered({rank: (kinds[rank], *sorted(found)) for rank, found in met.items()})
        if len(set(finer.values())) == len(set(kinds.values())):
            break
        kinds = finer
    lowest: dict[int, int] = {}
    for rank in sorted(kinds):
        lowest.setdefault(kinds[rank], rank)
    return {rank: lowest[kind] for rank, kind in kinds.items()}


def _numbered(found: Mapping[int, Hashable]) -> dict[int, int]:
    numbers: dict[Hashable, int] = {}
    return {rank: numbers.setdefault(key, len(numbers)) for rank, key in found.items()}


def _program(graph: Graph) -> Hashable:
    """Return all of a graph but what numbers ranks."""
    nodes = tuple([_step(graph, node) for node in graph.nodes])
    scopes = tuple([(scope.name, scope.cls, scope.kind, scope.parent, scope.repeats) for scope in graph.scopes])
    types = tuple([graph.types[value.type] for value in graph.values])
    return (nodes, scopes, types, graph.carried)


def _step(graph: Graph, node: Node) -> Hashable:
    says = collective_of(graph, node)
    facts: Any = graph.attrs[node.attrs]
    if says is not None:
        facts = (says.collective, says.bytes, says.reduction, says.tag, says.blocking)
    else:  # an operator may be told where in a group it runs
        facts = tuple([pair for pair in facts if pair[0] != RANK])
    return node.kind, node.op, node.name, node.parent, node.inputs, node.outputs, facts, node.scope
