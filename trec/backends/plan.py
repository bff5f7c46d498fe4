"""Decide which nodes become boxes and which scopes become clusters."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, compress
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.ir.types import NODE_KINDS, NodeKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.ir.graph import Graph
    from trec.ir.types import Node

_STATE: tuple[NodeKind, ...] = ("param", "buffer")
_OUTER: tuple[NodeKind, ...] = ("input", "output")
_MANY = 2
_FEW = 4
"""Ends of one container that are drawn apart."""
_WEIGHTS: dict[NodeKind, int] = {"input": 0, "output": 0, "module": _MANY, "constant": _MANY}
"""For how many boxes a node counts that is not one, when it is asked whether a scope holds a single one."""


class Plan(Struct, frozen=True):
    """Which rows of a graph are drawn, and inside what."""

    drawn: Sequence[int]
    """The nodes that are boxes, or in the box of another."""
    stands_for: dict[int, int]
    """Scope that a node is drawn instead of: a call that holds nothing else. Index of the node to that of the scope."""
    cluster_of: tuple[int, ...]
    """For each scope, the cluster that what it holds is drawn in; -1 for none."""
    scopes: tuple[int, ...]
    """For each cluster, the scope that it frames."""
    parents: tuple[int, ...]
    """For each cluster, the one around it; -1 for none."""
    merged: dict[int, int]
    """Inputs and outputs that are drawn in the box of an earlier one: tensors of one container that one step reads or
    yields, or all of a container that goes to many."""


def plan(graph: Graph, *, params: bool) -> Plan:
    """Return what is drawn: every node but hidden ones, every scope but the root and those of one box.

    Hidden with the parameters is what only keeps their books: an operator on nothing but them whose result nobody
    reads, such as a count of batches.

    Args:
        graph: what to draw.
        params: whether parameters and buffers are boxes.
    """
    aten = dict(graph.meta).get("level") == "aten"
    drawn = range(len(graph.nodes)) if params else _without_state(graph)
    counts, lone = _count(graph, drawn, aten)
    stands_for: dict[int, int] = {}
    cluster_of: list[int] = []
    scopes: list[int] = []
    parents: list[int] = []
    for index, scope in enumerate(graph.scopes):
        around = -1 if scope.parent < 0 else cluster_of[scope.parent]
        if index == 0 or counts[index] == 0:
            cluster_of.append(around)
        elif counts[index] == 1:
            stands_for.setdefault(lone[index], index)
            cluster_of.append(around)
        else:
            cluster_of.append(len(scopes))
            scopes.append(index)
            parents.append(around)
    return Plan(drawn, stands_for, tuple(cluster_of), tuple(scopes), tuple(parents), _merged(graph))


def plan_of_all(graph: Graph) -> Plan:
    """Return a plan by which every node is a box of its own, no two share one, and every scope is a cluster."""
    count = len(graph.scopes)
    parents = tuple([scope.parent for scope in graph.scopes])
    return Plan(range(len(graph.nodes)), {}, tuple(range(count)), tuple(range(count)), parents, {})


def _without_state(graph: Graph) -> list[int]:
    nodes, state = graph.nodes, [index for kind in _STATE for index in graph.of_kind.get(kind, ())]
    is_state = [False] * len(graph.values)
    for index in state:
        for value in nodes[index].outputs:
            is_state[value] = True
    books = [
        index
        for index, node in enumerate(nodes)
        if node.inputs
        and is_state[node.inputs[0]]
        and node.kind == "op"
        and all(map(is_state.__getitem__, node.inputs))
    ]
    made = {value for index in books for value in nodes[index].outputs}
    read = made.intersection(chain.from_iterable([node.inputs for node in nodes])) if books else made
    shown = bytearray(b"\1") * len(nodes)
    for index in chain(state, [index for index in books if read.isdisjoint(nodes[index].outputs)]):
        shown[index] = 0
    return list(compress(range(len(nodes)), shown))


def _merged(graph: Graph) -> dict[int, int]:
    """Return inputs and outputs that lie in one container and have one end, or more ends than can be told apart."""
    containers: dict[tuple[int, str, str], dict[object, list[int]]] = {}
    for index in [index for kind in _OUTER for index in graph.of_kind.get(kind, ())]:
        node = graph.nodes[index]
        container, dot, _ = node.name.removeprefix(f"{graph.scopes[node.parent].name}.").partition(".")
        if dot:
            ends = containers.setdefault((node.parent, node.kind, container), {})
            ends.setdefault(_end(graph, node), []).append(index)
    merged: dict[int, int] = {}
    for ends in containers.values():
        together = [sorted(chain(*ends.values()))] if len(ends) > _FEW else ends.values()
        for leader, *others in together:
            merged.update(dict.fromkeys(others, leader))
    return merged


def _end(graph: Graph, node: Node) -> object:
    """Return what reads an input, or what an output comes from."""
    if node.kind == "output":
        return graph.producers[node.inputs[0]]
    return frozenset(graph.users[node.outputs[0]])


def _count(graph: Graph, drawn: Iterable[int], aten: bool) -> tuple[list[int], list[int]]:
    """Count for each scope the boxes in it: 0, 1 for a single operator, or more; and find that operator.

    A module inside a module counts as many, so that only the innermost call disappears into its operator. Parameters
    do not count below the level of operators, where they are drawn beside the box of their module.
    """
    nodes, counts, lone = graph.nodes, [0] * len(graph.scopes), [-1] * len(graph.scopes)
    weights: dict[NodeKind, int] = {
        **dict.fromkeys(NODE_KINDS, 1),
        **_WEIGHTS,
        **dict.fromkeys(_STATE, _MANY if aten else 0),
    }
    for index in drawn:
        node = nodes[index]
        weight = weights[node.kind]
        if weight:
            counts[node.parent] += weight
            lone[node.parent] = index
    for index in range(len(graph.scopes) - 1, 0, -1):
        scope = graph.scopes[index]
        if counts[index] == 1 and scope.kind != "module":
            counts[scope.parent] += 1
            lone[scope.parent] = lone[index]
        elif counts[index]:
            counts[scope.parent] += _MANY
    return counts, lone
