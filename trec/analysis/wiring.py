"""How the iterations of a run are wired: where each takes what it reads, beside the one before it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from trec.analysis.places import step_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trec.analysis.blocks import Blocks
    from trec.analysis.loop import Item
    from trec.analysis.places import Place, Places

Link = tuple[str, int, int]
"""Where from: the kind, for `paired` the first step of the other loop, and a position."""


class Iteration:
    """One repeat of a run, and what it reads."""

    __slots__ = ("derivatives", "end", "high", "ints", "items", "low", "reads", "start", "whole")

    def __init__(self, blocks: Blocks, items: Sequence[Item]) -> None:
        self.items = items
        spans = [blocks.item_span(item) for item in items]
        self.start, self.end = spans[0][0], spans[-1][1]
        self.whole = all(one[1] == other[0] for one, other in pairwise(spans))
        self.low, self.high = blocks.first[self.start], blocks.first[self.end]
        self.reads = [value for item in items for value in blocks.item_reads(item)]
        self.ints = [number for item in items for number in blocks.item_ints(item)]
        self.derivatives = list(differentiated(blocks, self.start, self.end))


class Wiring:
    """What holds between the iterations of one run."""

    def __init__(self, blocks: Blocks, places: Places | None, scope: int, start: int, end: int) -> None:
        """Look at a run.

        Args:
            blocks: the program.
            places: the loops before it, whose iterations those of this one may read one by one; None if they may not.
            scope: the scope that the iterations lie in.
            start: first step of the run.
            end: step after its last.
        """
        self.blocks, self.places, self.scope = blocks, places, scope
        self._first, self._last = blocks.steps[start], blocks.steps[end - 1]

    def link(self, before: Iteration, here: Iteration) -> tuple[list[Link], list[int]] | None:
        """Return where an iteration takes what it reads, beside the one before it, and how its numbers count on.

        Among these is, for each loop whose iterations it reads one by one, the number of that iteration. None if both
        are not iterations of one loop.
        """
        if not (before.whole and here.whole and before.end == here.start):
            return None
        links: list[Link] = []
        steps: dict[int, int] = {}
        own: dict[int, int] = {}
        for position, (value, earlier) in enumerate(zip(here.reads, before.reads, strict=True)):
            found = self._inside(before, here, value) or self._outside(value, earlier, steps)
            if found is None and self.is_own(value, here):
                found = ("own", 0, own.setdefault(value, position))
            if found is None:
                return None
            links.append(found)
        derived = self._derivatives(before, here, steps)
        counts = [number - earlier for number, earlier in zip(here.ints, before.ints, strict=True)]
        return None if derived is None else (links + derived, counts + list(steps.values()))

    def begins(self, first: Iteration, links: list[Link]) -> bool:
        """Return whether an iteration can be the first of a loop that goes on so."""
        own: dict[int, int] = {}
        for position, (value, link) in enumerate(zip(first.reads, links, strict=False)):
            if link[0] == "own":
                if not self.is_own(value, first) or own.setdefault(value, position) != link[2]:
                    return False
            elif not _agrees(link, self.blocks.number[value], first.low, first.high):
                return False
        derived = zip(first.derivatives, links[len(first.reads) :], strict=True)
        return all(_agrees(link, step_of(self.blocks, node), first.start, first.end) for (_, node), link in derived)

    def is_own(self, value: int, iteration: Iteration) -> bool:
        """Return whether a source belongs to an iteration: of the run no other reads it, and no loop before has it."""
        blocks = self.blocks
        if self.places is None:
            return blocks.is_private(value, iteration.start, iteration.end)
        if not blocks.is_source(value) or self.places.of_source(value):
            return False
        users = blocks.graph.users[value]
        first, last = bisect_left(users, self._first), bisect_right(users, self._last) - 1
        return blocks.steps[iteration.start] <= users[first] and users[last] <= blocks.steps[iteration.end - 1]

    def own(self, iterations: Sequence[Iteration]) -> list[tuple[int, ...]]:
        """Return for each iteration of a loop the sources that belong to it, also those of the calls inside."""
        nodes, steps = self.blocks.graph.nodes, self.blocks.steps
        found = []
        for number, here in enumerate(iterations):
            other = iterations[number - 1 if number else 1].start
            values: dict[int, None] = {}
            for step in range(here.start, here.end):
                inputs, compared = nodes[steps[step]].inputs, nodes[steps[other + step - here.start]].inputs
                for value, beside in zip(inputs, compared, strict=True):
                    if value != beside and self._is_new(value) and self._is_new(beside):
                        values[value] = None
            found.append(tuple(values))
        return found

    def _is_new(self, value: int) -> bool:
        return self.blocks.is_source(value) and not (self.places is not None and self.places.of_source(value))

    def _inside(self, before: Iteration, here: Iteration, value: int) -> Link | None:
        at = self.blocks.number[value]
        if here.low <= at < here.high:
            return ("inside", 0, at - here.low)
        return ("carried", 0, at - before.low) if before.low <= at < before.high else None

    def _outside(self, value: int, earlier: int, steps: dict[int, int]) -> Link | None:
        """Return the link to what neither of two iterations has of its own."""
        maker = self.blocks.graph.producers[value]
        if self.blocks.folded.hide(maker, self.scope):
            return None
        if value == earlier:
            return ("same", 0, 0)
        found = _paired(steps, *self.places.of_values(value, earlier)) if self.places is not None else None
        is_other_result = found is None and maker == self.blocks.graph.producers[earlier]
        return ("producer", 0, maker) if is_other_result else found

    def _derivatives(self, before: Iteration, here: Iteration, steps: dict[int, int]) -> list[Link] | None:
        """Return where the nodes are that two iterations differentiate, as for what they read."""
        if len(here.derivatives) != len(before.derivatives):
            return None
        links: list[Link] = []
        for (step, node), (earlier_step, earlier) in zip(here.derivatives, before.derivatives, strict=True):
            at = step_of(self.blocks, node)
            found: Link | None = None
            if here.start <= at < here.end:
                found = ("inside", 0, at - here.start)
            elif node == earlier and not self.blocks.folded.hide(node, self.scope):
                found = ("same", 0, 0)
            elif self.places is not None:
                found = _paired(steps, *self.places.of_nodes(node, earlier))
            if found is None or step != earlier_step:
                return None
            links.append(found)
        return links


def _paired(steps: dict[int, int], here: Place | None, before: Place | None) -> Link | None:
    """Return the link to another loop if both iterations read it at one position, and all they read is as far apart."""
    if here is None or before is None or (here[0], here[2]) != (before[0], before[2]):
        return None
    step = here[1] - before[1]
    return ("paired", here[0], here[2]) if steps.setdefault(here[0], step) == step else None


def _agrees(link: Link, at: int, low: int, high: int) -> bool:
    """Return whether something lies in an iteration, from `low` to `high`, exactly if a link says so, and where."""
    if low <= at < high:
        return link[0] == "inside" and at - low == link[2]
    return link[0] != "inside"


def differentiated(blocks: Blocks, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield what the steps of a span differentiate: the number of the step in it, and the index of a node."""
    found = blocks.graph.differentiated
    if found:
        for step in range(start, end):
            for node in found.get(blocks.steps[step], ()):
                yield step - start, node
