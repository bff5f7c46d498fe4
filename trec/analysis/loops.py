"""Repeats that are one program run again and again: equal blocks, wired alike."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from trec.analysis.blocks import Block, Blocks
from trec.analysis.carries import Carries
from trec.analysis.item_runs import item_runs
from trec.analysis.loop import LEAST_SAVED, Loop, calls_modules, is_same, is_worth_it, name_of, names_in
from trec.analysis.places import Places
from trec.analysis.tandem import Run
from trec.analysis.wiring import Iteration, Wiring

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trec.analysis.loop import Item
    from trec.analysis.wiring import Link

_ATTEMPTS = 8
"""How often loops are cut where sources are read otherwise, before each is taken on its own."""


def find_loops(blocks: Blocks, *, same: bool = False, leave: frozenset[str] = frozenset()) -> list[Loop]:
    """Return the repeats of a program, in program order, outer ones before those inside their first iteration.

    Iterations are wired alike if each reads the same in itself, in the one before and outside. Where it reads what the
    iterations of an earlier loop make, or have of their own, the numbers of these count on by a fixed step: one by one
    in the same order, as the second half of a U-Net reads the first, or in reverse, as a backward pass does.

    A source that belongs to an iteration may be read elsewhere too, if those of all iterations are read alike.

    Args:
        blocks: the program.
        same: only calls of the same modules, with the same parameters.
        leave: names of nodes; no loop is found that holds one of them, or has one as a source of its own.
    """
    cuts: set[int] = set()
    for _ in range(_ATTEMPTS):
        search = _Search(blocks, same=same, leave=leave, cuts=cuts)
        new = search.cuts_between_sources()
        if not new:
            return search.loops()
        cuts |= new
    return _Search(blocks, same=same, leave=leave, cuts=cuts, paired=False).loops()


def whole_steps(loops: Sequence[Loop]) -> list[Loop]:
    """Return loops around calls that all iterations read the same weights in, as steps of training do.

    They are to be folded before others: what repeats in one of them can only then be told from what it reads.
    """
    read = {start for loop in loops for start in loop.read}
    found: list[Loop] = []
    end = 0
    for loop in loops:
        is_outer = loop.start >= end
        end = max(end, loop.end)
        if is_outer and len(loop.items) > 1 and not loop.own[0] and not loop.read and loop.start not in read:
            found.append(loop)
    return found


class _Search:
    """One walk through a program, in its order."""

    def __init__(
        self, blocks: Blocks, *, same: bool, leave: frozenset[str], cuts: set[int], paired: bool = True
    ) -> None:
        self.blocks, self.same, self.leave, self.cuts = blocks, same, leave, cuts
        self.places = Places(blocks)
        """The loops that others may read one by one, also those that are not worth it on their own."""
        self.inner: list[Loop] = []
        """Loops inside others."""
        walks = [self._walk(blocks.root.items, blocks.root.scope, paired=paired)]
        while walks:
            part = next(walks[-1], None)
            if part is None:
                walks.pop()
            else:
                walks.append(self._walk(part[0], part[1], paired=part[2]))
        self.kept = self._kept()
        self.carries = Carries(blocks, self.places) if blocks.handed else None

    def loops(self) -> list[Loop]:
        """Return what was found, without loops that lie in what others leave out."""
        kept, found = set(self.kept), [*self.kept]
        for loop in self.inner:
            around = self.places.around(loop.start)
            if around is None or around not in kept or loop.start < around.start + around.length:
                found.append(loop)
        return sorted(found, key=lambda loop: (loop.start, -loop.length))

    def _walk(self, items: Sequence[Item], scope: int, *, paired: bool) -> Iterator[tuple[Sequence[Item], int, bool]]:
        """Find the loops among some items; yield, each in its place, the parts to walk through before going on."""
        at = 0
        for part, loop in self._among(items, scope, paired=paired):
            yield from _opened(items[at : part.start], paired=paired)
            at = part.end
            worth = is_worth_it(self.blocks, loop)
            if paired:
                self.places.add(loop)
            elif worth:
                self.inner.append(loop)
            block = loop.items[0]
            if not worth:
                yield from _opened(items[part.start : part.end], paired=False)
            elif len(loop.items) > 1:
                yield loop.items, scope, False
            elif isinstance(block, Block):
                yield block.items, block.scope, False
        yield from _opened(items[at:], paired=paired)

    def _among(self, items: Sequence[Item], scope: int, *, paired: bool) -> Iterator[tuple[Run, Loop]]:
        """Yield the loops among some items of a scope, in program order, each with the items that it is."""
        for run in item_runs(self.blocks, items, self.places if paired else None):
            for part, loop in self._consistent(items, scope, run, paired=paired):
                if self._is_wanted(loop, items[part.start : part.end]):
                    yield part, loop

    def _consistent(self, items: Sequence[Item], scope: int, run: Run, *, paired: bool) -> Iterator[tuple[Run, Loop]]:
        """Yield the parts of a run whose iterations are wired alike."""
        if not paired and self._is_handed_on(items[run.start : run.start + run.period]):
            return
        period = run.period
        iterations = [Iteration(self.blocks, items[at : at + period]) for at in range(run.start, run.end, period)]
        wiring = Wiring(self.blocks, self.places if paired else None, scope, iterations[0].start, iterations[-1].end)
        links = [
            None,
            *[wiring.link(*pair) if pair[1].start not in self.cuts else None for pair in pairwise(iterations)],
        ]
        at = 0
        while at + 1 < len(iterations):
            link = links[at + 1]
            if link is None or not wiring.begins(iterations[at], link[0]):
                at += 1
                continue
            end = at + 2
            while end < len(iterations) and links[end] == link:
                end += 1
            part = Run(run.start + at * period, period, end - at)
            yield part, self._loop(scope, iterations[at:end], link[0], wiring)
            at = end

    def _is_handed_on(self, items: Sequence[Item]) -> bool:
        """Return whether a loop around some items carries what they make or read."""
        blocks = self.blocks
        spans = [blocks.item_span(item) for item in items] if blocks.handed else []
        return any(blocks.steps[step] in blocks.handed for span in spans for step in range(*span))

    def _loop(self, scope: int, iterations: Sequence[Iteration], links: Sequence[Link], wiring: Wiring) -> Loop:
        first = iterations[0]
        reads = list(enumerate(first.reads))
        return Loop(
            scope,
            list(first.items),
            first.start,
            first.end - first.start,
            len(iterations),
            tuple([name_of(self.blocks, iteration.items[0]) for iteration in iterations[1:]]),
            [
                (item, value, link[2])
                for item, value, link in _linked(self.blocks, first, links)
                if link[0] == "carried"
            ],
            self._begun(first, iterations[-1], links),
            own := wiring.own(iterations),
            not own[0] and not any(links[at][0] == "paired" and self.blocks.is_source(value) for at, value in reads),
            frozenset([link[1] for link in links if link[0] == "paired"]),
        )

    def _begun(self, first: Iteration, last: Iteration, links: Sequence[Link]) -> list[tuple[Item, int, int]]:
        found = []
        for (item, value, link), other in zip(_linked(self.blocks, first, links), last.reads, strict=True):
            if link[0] == "paired" and any(self.places.begins(read, *link[1:]) for read in (value, other)):
                found.append((item, value, other))
        return found

    def _is_wanted(self, loop: Loop, items: Sequence[Item]) -> bool:
        if self.same and not is_same(self.blocks, loop, items):
            return False
        return not self.leave or self.leave.isdisjoint(names_in(self.blocks, loop))

    def _kept(self) -> list[Loop]:
        """Return the loops that are worth it, and those without which they would not be loops."""
        found = self.places.loops
        at = {loop.start: loop for loop in found}
        kept = {loop.start: loop for loop in found if is_worth_it(self.blocks, loop)}
        pending = list(kept.values())
        near = self._neighbours()
        while pending:
            loop = pending.pop()
            for start in near[loop.start]:
                if start not in kept:
                    kept[start] = at[start]
                    pending.append(at[start])
        return [loop for loop in found if loop.start in kept]

    def _neighbours(self) -> dict[int, set[int]]:
        """Return for each loop those that it reads, those that read its sources, and large ones that read it."""
        near = {loop.start: set(loop.read) for loop in self.places.loops}
        for loop in self.places.loops:
            for start in loop.read if loop.saved >= LEAST_SAVED else ():
                near[start].add(loop.start)
            for values in loop.own:
                for value in values:
                    for user in self.blocks.graph.users[value]:
                        other = self.places.of_node(user)
                        if other is not None:
                            near[loop.start].add(other[0])
        return near

    def cuts_between_sources(self) -> set[int]:
        """Return the steps at which loops must end because what reads the sources of the iterations changes there.

        The same holds for what a loop around them carries from one of its iterations to another.

        Loops of modules cut one another first: where loops of steps begin depends on them.
        """
        kept = {loop.start for loop in self.kept}
        modules = {loop.start for loop in self.kept if calls_modules(self.blocks, loop)}
        return self._cuts(modules, outside=False) or self._cuts(kept, outside=True)

    def _cuts(self, starts: set[int], *, outside: bool) -> set[int]:
        found = set()
        for loop in self.kept:
            readers = [[self._readers(value, starts, outside=outside) for value in values] for values in loop.own]
            found |= {loop.start + loop.length * at for at in range(1, loop.count) if readers[at] != readers[at - 1]}
            if self.carries is not None:
                found |= self.carries.cuts(loop, starts, outside=outside)
        return found

    def _readers(self, value: int, starts: set[int], *, outside: bool) -> list[tuple[int, int]]:
        """Return what reads a source: positions in loops, the same in each iteration, and nodes outside of them."""
        found = []
        for user in self.blocks.graph.users[value]:
            place = self.places.of_node(user)
            if place is not None and place[0] in starts:
                found.append((place[0], place[2]))
            elif outside:
                found.append((-1, user))
        return sorted(found)


def _opened(items: Iterable[Item], *, paired: bool) -> Iterator[tuple[Sequence[Item], int, bool]]:
    for item in items:
        if isinstance(item, Block):
            yield item.items, item.scope, paired


def _linked(blocks: Blocks, iteration: Iteration, links: Sequence[Link]) -> Iterator[tuple[Item, int, Link]]:
    """Yield what an iteration reads: the item that does, the value, and where it is from."""
    reads = [(item, value) for item in iteration.items for value in blocks.item_reads(item)]
    for (item, value), link in zip(reads, links, strict=False):
        yield item, value, link
