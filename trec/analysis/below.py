"""What lies in a scope or below it: where two scopes meet, and sums in which each thing counts once."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trec.ir.graph import Graph


def common(graph: Graph, one: int, other: int) -> int:
    """Return the innermost scope around two scopes; the parent of a scope has a smaller index."""
    while one != other:
        if one > other:
            one = graph.scopes[one].parent
        else:
            other = graph.scopes[other].parent
    return one


def sums_of_distinct(graph: Graph, own: Iterable[set[int]], sizes: Sequence[int]) -> list[int]:
    """Return for each scope the sum of the sizes of what it or a scope below it has, each thing once.

    Args:
        graph: where the scopes are.
        own: for each scope what it has itself.
        sizes: the size of each thing.

    Cost: of n things O(n log n), since the smaller set is put into the larger one.
    """
    held = [set(things) for things in own]
    sums = [sum([sizes[thing] for thing in things]) for things in held]
    for index in range(len(held) - 1, 0, -1):
        parent = graph.scopes[index].parent
        large, small = (parent, index) if len(held[parent]) >= len(held[index]) else (index, parent)
        added = sum([sizes[thing] for thing in held[small] - held[large]])
        held[large] |= held[small]
        held[parent], sums[parent] = held[large], sums[large] + added
    return sums
