"""A folded graph as it would be if nothing had been folded."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from trec.analysis.paths import is_step
from trec.errors import OptionError
from trec.ir.derivation import members_since
from trec.ir.graph import Graph


class Unfolded(Struct, frozen=True):
    """A graph in which every iteration is there, beside the one in which the first stands for all."""

    graph: Graph
    """The graph."""
    standing: tuple[int, ...]
    """For each of its nodes, the index of the one that stands for it in the folded graph."""


def unfolded(graph: Graph) -> Unfolded | None:
    """Return a folded graph as its other passes make it of what was folded; None if nobody knows, or nothing was.

    A folded graph does not say which iteration of one loop reads which of another. What it was made from does, which is
    at hand while the graph has not been saved and loaded.
    """
    chain = [graph]
    while (derivation := chain[-1].derivation) is not None:
        chain.append(derivation.before)
    chain.reverse()
    repeats = list(map(_repeats, chain))
    folding = [at for at in range(1, len(chain)) if repeats[at] > repeats[at - 1]]
    if not folding or repeats[folding[0] - 1]:
        return None
    before = whole = chain[folding[0] - 1]
    for at in range(folding[0], len(chain)):
        derivation = chain[at].derivation
        if at in folding or derivation is None:
            continue
        if derivation.again is None:
            return None
        try:
            whole = derivation.again(whole)
        except OptionError:  # what it was to be applied to is not there, or is called otherwise
            return None
    standing = _standing(graph, whole, before)
    return Unfolded(whole, standing) if -1 not in standing and _steps(whole) == _steps(graph) else None


def _repeats(graph: Graph) -> int:
    return sum([len(scope.repeats) for scope in graph.scopes])


def _steps(graph: Graph) -> Counter[tuple[str, str]]:
    """Return how often each operator ran."""
    found: Counter[tuple[str, str]] = Counter()
    for node in graph.nodes:
        if is_step(node.kind):
            found[node.kind, node.op] += graph.times(node)
    return found


def _standing(graph: Graph, whole: Graph, before: Graph) -> tuple[int, ...]:
    """Return for each node of `whole` the node of `graph` that stands for it; both were made from `before`."""
    became: dict[int, int] = {}
    for index, members in enumerate(_members(graph, before)):
        became |= dict.fromkeys(members, index)
    return tuple(
        [next((became[member] for member in members if member in became), -1) for members in _members(whole, before)]
    )


def _members(graph: Graph, before: Graph) -> list[list[int]]:
    """Return for each node of a graph the nodes of `before` that it stands for."""
    made = members_since(graph, before)
    return [made.get(node.name) or [before.index_of.get(node.name, -1)] for node in graph.nodes]
