"""What is no step, matched once the steps are: calls in which none ran, parameters, inputs and outputs."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from trec.analysis.blocks import Blocks
    from trec.ir.graph import Graph

_SOURCES = frozenset({"param", "buffer", "constant"})


def match_empty(blocks: tuple[Blocks, Blocks], scopes: dict[int, int], home: Callable[[int, int], int]) -> None:
    """Match calls in which no step ran, by class and name, in order.

    Args:
        blocks: both graphs.
        scopes: scopes of the first and those of the second that they are; pairs are added.
        home: returns for one of the two and a scope of it the innermost around it that is not merely put around others.
    """
    before, after = blocks
    known = set(scopes.values())
    free: dict[Hashable, deque[int]] = {}
    for index, scope in enumerate(after.graph.scopes):
        if index not in known and not after.has_steps[index]:
            free.setdefault((home(1, scope.parent), scope.kind, scope.cls), deque()).append(index)
    for index, scope in enumerate(before.graph.scopes):
        if index not in scopes and not before.has_steps[index]:
            alike = free.get((scopes.get(home(0, scope.parent)), scope.kind, scope.cls))
            if alike:
                scopes[index] = alike.popleft()


def match_read_sources(one: Graph, other: Graph, nodes: dict[int, int], taken: set[int]) -> None:
    """Match parameters, buffers and constants by the steps that read them, then by name.

    Args:
        one: the first graph.
        other: the second.
        nodes: nodes of the first and those of the second that they are; pairs are added.
        taken: the nodes of the second among them.
    """
    for here, there in sorted(nodes.items()):
        for value, partner in zip(one.nodes[here].inputs, other.nodes[there].inputs, strict=False):
            _match(one, other, one.producers[value], other.producers[partner], nodes, taken)
    for index, node in enumerate(one.nodes):
        if node.kind in _SOURCES and index not in nodes:
            _match(one, other, index, other.index_of.get(node.name, -1), nodes, taken)


def match_sources(one: Graph, other: Graph, nodes: dict[int, int], taken: set[int]) -> None:
    """Match parameters, buffers and constants by the steps that read them, by name, then by type; as above."""
    match_read_sources(one, other, nodes, taken)
    rest: dict[Hashable, deque[int]] = {}
    for index, node in enumerate(other.nodes):
        if node.kind in _SOURCES and index not in taken:
            rest.setdefault((node.kind, str(other.type_of(node.outputs[0]))), deque()).append(index)
    for index, node in enumerate(one.nodes):
        if node.kind in _SOURCES and index not in nodes:
            alike = rest.get((node.kind, str(one.type_of(node.outputs[0]))))
            if alike:
                _match(one, other, index, alike.popleft(), nodes, taken)


def match_boundary(one: Graph, other: Graph, kind: str, nodes: dict[int, int], taken: set[int]) -> None:
    """Match inputs or outputs by name, then by position; as above."""
    here, there = ([index for index, node in enumerate(graph.nodes) if node.kind == kind] for graph in (one, other))
    names = {other.nodes[index].name: index for index in there}
    for index in here:
        partner = names.get(one.nodes[index].name)
        if partner is not None:
            nodes[index] = partner
            taken.add(partner)
    rest = [index for index in here if index not in nodes], [index for index in there if index not in taken]
    for index, partner in zip(*rest, strict=False):
        nodes[index] = partner
        taken.add(partner)


def _match(one: Graph, other: Graph, here: int, there: int, nodes: dict[int, int], taken: set[int]) -> None:
    if there >= 0 and here not in nodes and there not in taken:
        kind = one.nodes[here].kind
        if kind in _SOURCES and kind == other.nodes[there].kind:
            nodes[here] = there
            taken.add(there)
