"""Decide which nodes become boxes and which scopes become clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from trec.ir.graph import Graph

_STATE = ("param", "buffer")
_OUTER = ("input", "output")
_MANY = 2


class Plan(Struct, frozen=True):
    """Which rows of a graph are drawn, and inside what."""

    shown: tuple[bool, ...]
    """For each node, whether it is a box."""
    stands_for: dict[int, int]
    """Scope that a node is drawn instead of: a call that holds nothing else. Index of the node to that of the scope."""
    cluster_of: tuple[int, ...]
    """For each scope, the cluster that what it holds is drawn in; -1 for none."""
    scopes: tuple[int, ...]
    """For each cluster, the scope that it frames."""
    parents: tuple[int, ...]
    """For each cluster, the one around it; -1 for none."""


def plan(graph: Graph, *, params: bool) -> Plan:
    """Return what is drawn: every node but hidden parameters, every scope but the root and those of one box.

    Args:
        graph: what to draw.
        params: whether parameters and buffers are boxes.
    """
    aten = dict(graph.meta).get("level") == "aten"
    shown = tuple([params or node.kind not in _STATE for node in graph.nodes])
    counts, lone = _count(graph, shown, aten)
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
    return Plan(shown, stands_for, tuple(cluster_of), tuple(scopes), tuple(parents))


def _count(graph: Graph, shown: tuple[bool, ...], aten: bool) -> tuple[list[int], list[int]]:
    """Count for each scope the boxes in it: 0, 1 for a single operator, or more; and find that operator.

    A module inside a module counts as many, so that only the innermost call disappears into its operator. Parameters
    do not count below the level of operators, where they are drawn beside the box of their module.
    """
    counts = [0] * len(graph.scopes)
    lone = [-1] * len(graph.scopes)
    for index, node in enumerate(graph.nodes):
        if not shown[index] or node.kind in _OUTER or (node.kind in _STATE and not aten):
            continue
        counts[node.parent] += _MANY if node.kind in ("module", "constant", *_STATE) else 1
        lone[node.parent] = index
    for index in range(len(graph.scopes) - 1, 0, -1):
        scope = graph.scopes[index]
        if counts[index] == 1 and scope.kind != "module":
            counts[scope.parent] += 1
            lone[scope.parent] = lone[index]
        elif counts[index]:
            counts[scope.parent] += _MANY
    return counts, lone
