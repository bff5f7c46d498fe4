"""What is read instead of what, where two graphs have the same steps."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING

from trec.analysis.align import align

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterator, Mapping

    from trec.analysis.edit_texts import Row
    from trec.ir.graph import Graph

_FAR = 64
"""How many nodes behind one that has no partner are looked at."""


class Wiring:
    """What the matched nodes of two graphs read."""

    def __init__(
        self,
        before: Graph,
        after: Graph,
        nodes: Mapping[int, int],
        scopes: Mapping[int, int],
        moved: Collection[int],
    ) -> None:
        """Compare what nodes read.

        Args:
            before: the earlier graph.
            after: the later one.
            nodes: nodes of `before` and the nodes of `after` that they became.
            scopes: the same of scopes.
            moved: nodes of `after` that were moved, themselves or in a call around them.
        """
        self.before, self.after, self.nodes, self.scopes = before, after, nodes, scopes
        self.came = {there: here for here, there in nodes.items()}
        self.settled = {here: there for here, there in nodes.items() if there not in moved}
        """The matched nodes that were not moved; for what flows, a move is to be taken out here and put in there."""
        self.settled_came = {there: here for here, there in self.settled.items()}
        """The same the other way round."""
        self.of_moved: dict[str, tuple[str, str]] = {}
        """For each call and node that was moved, what it read that it does not read now, and what it reads instead."""
        self._behind: tuple[dict[int, frozenset[int]], dict[int, frozenset[int]]] = ({}, {})
        """For each graph, what `_source` found."""

    def rows(self) -> Iterator[Row]:
        """Yield edits for what reads other values than before, calls as a whole, but for what was put between."""
        told: dict[Row, None] = {}
        for there, here in sorted(self.came.items()):
            for one, other in self._ports(here, there):
                if min(one, other) >= 0 and self._is_same(one, other):
                    continue
                if not self._follows(one, other) and not self._goes_with_moved(there):
                    before = self.before.values[one].name if one >= 0 else "nothing"
                    after = self.after.values[other].name if other >= 0 else "nothing"
                    reader = self._reader(there, here, one, other)
                    if there in self.settled_came:
                        told["rewired", *reader, before, after] = None
                    else:
                        self.of_moved.setdefault(reader[1], (before, after))
        yield from told

    def _ports(self, here: int, there: int) -> Iterator[tuple[int, int]]:
        """Yield what a node read and reads now, port by port; -1 where one of them has no such port."""
        old, new = self.before.nodes[here].inputs, self.after.nodes[there].inputs
        if len(old) == len(new):
            yield from zip(old, new, strict=True)
            return
        was, now = [self._became(value) for value in old], [self._is(value) for value in new]
        for (a, c), (b, d) in pairwise([(-1, -1), *align(was, now), (len(old), len(new))]):
            yield from zip_longest(old[a + 1 : b], new[c + 1 : d], fillvalue=-1)

    def _became(self, value: int) -> Hashable:
        """Return what a value of the first graph is in the second."""
        node = self.before.producers[value]
        return self._result(self.before, value, node, self.nodes[node]) if node in self.nodes else f"gone {value}"

    def _is(self, value: int) -> Hashable:
        """Return the same of a value of the second graph."""
        node = self.after.producers[value]
        return self._result(self.after, value, self.came[node], node) if node in self.came else f"new {value}"

    def _result(self, graph: Graph, value: int, here: int, there: int) -> Hashable:
        """Return which result of two nodes that are one a value is: by its place, or its type if others came or went.

        Args:
            graph: the graph of the value.
            value: a result of one of the two.
            here: the node of the first graph.
            there: the node of the second.
        """
        were, are = self.before.nodes[here].outputs, self.after.nodes[there].outputs
        if len(were) == len(are) == 1:
            return there, 0
        old, new = [self.before.type_of(one) for one in were], [self.after.type_of(one) for one in are]
        port = (were if graph is self.before else are).index(value)
        if old == new or (len(old) == len(new) and Counter(old) != Counter(new)):
            return there, port
        types = old if graph is self.before else new
        return there, types[port], types[:port].count(types[port]) if len(old) == len(new) else 0

    def _follows(self, one: int, other: int) -> bool:
        """Return whether one of two values is read no more, or newly, since what makes it is gone, new or moved."""
        if one < 0:
            return self.after.producers[other] not in self.settled_came
        return other < 0 and self.before.producers[one] not in self.settled

    def _goes_with_moved(self, there: int) -> bool:
        """Return whether a node differentiates one that was moved, and so reads what that reads."""
        forward = self.after.differentiated.get(there, ())
        return any(node in self.came and node not in self.settled_came for node in forward)

    def _is_same(self, one: int, other: int) -> bool:
        """Return whether a value is the one that it was, or follows from what was added, removed or moved before it."""
        old, new = self.before.producers[one], self.after.producers[other]
        if self.nodes.get(old) == new:
            are_alone = len(self.before.nodes[old].outputs) == len(self.after.nodes[new].outputs) == 1
            return are_alone or self._became(one) == self._is(other)
        if new in self.settled_came and old in self.settled:
            return False
        before = frozenset(self.settled[index] for index in self._source(self.before, old, self.settled))
        return not before.isdisjoint(self._source(self.after, new, self.settled_came))

    def _source(self, graph: Graph, index: int, matched: dict[int, int]) -> frozenset[int]:
        """Return the matched nodes that a node without partner depends on, by way of others without partner.

        Of many only the last are kept, so that the work stays linear.
        """
        behind = self._behind[graph is self.after]
        pending = [] if index in behind else [index]
        while pending:
            at = pending[-1]
            makers = set() if at in matched else {graph.producers[value] for value in graph.nodes[at].inputs}
            unknown = [maker for maker in makers if maker not in behind]
            if unknown:
                pending += unknown
                continue
            found = {at} if at in matched else set[int]().union(*[behind[maker] for maker in makers])
            behind[at] = frozenset(found if len(found) <= _FAR else nlargest(_FAR, found))
            pending.pop()
        return behind[index]

    def _reader(self, there: int, here: int, one: int, other: int) -> tuple[str, str]:
        """Return the outermost call around a node that holds neither the old nor the new maker of what it reads.

        Returns:
            `scope` and its name, or the kind and name of the node itself.
        """
        found: tuple[str, str] = (self.after.nodes[there].kind, self.after.nodes[there].name)
        scope, partner = self.after.nodes[there].parent, self.before.nodes[here].parent
        while scope > 0 and self.scopes.get(partner) == scope:
            if other >= 0 and _holds(self.after, scope, self.after.producers[other]):
                break
            if one >= 0 and _holds(self.before, partner, self.before.producers[one]):
                break
            found = "scope", self.after.scopes[scope].name
            scope, partner = self.after.scopes[scope].parent, self.before.scopes[partner].parent
        return found


def _holds(graph: Graph, scope: int, node: int) -> bool:
    at = graph.nodes[node].parent
    while at > scope:
        at = graph.scopes[at].parent
    return at == scope
