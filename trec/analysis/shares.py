"""How many of the equal sources that one stands for are read in one run of a scope."""

from __future__ import annotations

from itertools import combinations
from math import prod
from typing import TYPE_CHECKING

from trec.analysis.below import common
from trec.ir.types import ROLLED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Node


_MOST = 12
"""Loops in one another of which it is found out which ones change weights; a file may hold any number of them."""


def shares(graph: Graph, source: Node, reader: int) -> Iterator[tuple[int, int]]:
    """Yield a scope and those around it, inside out, each with how many sources one of its runs reads.

    A loop around a reader, which the source lies outside of, goes on to another one with each iteration unless it is
    rolled. If they are not as many as these loops go on to, only the fewest and innermost do whose iterations are.

    Args:
        graph: the program.
        source: a parameter, buffer or constant, which stands for as many as `Graph.times` says.
        reader: index of a scope that holds a node which reads it, or that such a node stands for.
    """
    scopes, counts, total = graph.scopes, graph.counts, graph.times(source)
    meeting, scope = common(graph, reader, source.parent), reader
    path = []
    while scope != meeting:
        path.append(scope)
        scope = scopes[scope].parent
    loops = [at for at in path if scopes[at].repeats and not dict(graph.attrs[scopes[at].attrs]).get(ROLLED)]
    changing = _changing([1 + len(scopes[at].repeats) for at in loops], total // counts[meeting])
    each = {loops[at] for at in changing}
    number = total // counts[meeting] // prod([1 + len(scopes[at].repeats) for at in each])
    for scope in path:
        yield scope, number
        number *= 1 + len(scopes[scope].repeats) if scope in each else 1
    while meeting >= 0:
        yield meeting, total // counts[meeting]
        meeting = scopes[meeting].parent


def _changing(sizes: Sequence[int], total: int) -> Sequence[int]:
    """Return the positions of loops with so many iterations in all; of all loops if even these are not enough."""
    if total % prod(sizes) == 0:
        return range(len(sizes))
    if len(sizes) > _MOST:
        return ()
    for count in range(1, len(sizes)):
        for chosen in combinations(range(len(sizes)), count):
            if prod([sizes[at] for at in chosen]) == total:
                return chosen
    return ()
