"""Which nodes and scopes of one graph are which of another."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from trec.analysis.align import align, stretches
from trec.analysis.blocks import Block, Blocks
from trec.analysis.likeness import (
    crosses,
    has_calls,
    is_loose,
    known_by_name,
    name_of,
    of_one_path,
    same_class,
    same_name,
    same_name_and_class,
    same_program,
    same_program_and_name,
    same_word,
    size_of,
)
from trec.analysis.matching_rest import match_boundary, match_empty, match_read_sources, match_sources
from trec.analysis.mirrors import Mirrors, forward_of
from trec.analysis.wrapping import holding, opened, regrouped, without_wrapper

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from trec.analysis.align import Names, Pairs
    from trec.analysis.likeness import Item, Key
    from trec.ir.graph import Graph


class Matching:
    """Pairs of nodes and of scopes of two graphs.

    Blocks are matched from the root inwards: those that are the same program first, then those with the same name and
    class, with the same name, with the same class; each time in order, within what is still open between matches. What
    is left and equal is matched out of order: it was moved. Calls put around others, or taken away from there,
    are looked through. Parameters follow the steps that read them, and what a backward pass does follows what it
    differentiates.
    """

    def __init__(self, before: Graph, after: Graph) -> None:
        table: dict[Hashable, int] = {}
        self.before, self.after = Blocks(before, names=False, table=table), Blocks(after, names=False, table=table)
        self.nodes: dict[int, int] = {}
        """Nodes of `before` and the nodes of `after` that they became."""
        self.scopes: dict[int, int] = {0: 0}
        """The same for scopes."""
        self.moved: set[int] = set()
        """Nodes of `after` that stand elsewhere in the order, or in another call, than before."""
        self.moved_scopes: set[int] = set()
        """The same for scopes."""
        self.taken: set[int] = set()
        """Nodes of `after` that are matched."""
        self.around: tuple[set[int], set[int]] = (set(), set())
        """Scopes of `before`, and of `after`, that have no partner while some of what is in them has."""
        self._aside: set[Item] = set()
        """Calls of both graphs that were moved, and are matched last."""
        self._came: tuple[dict[int, int], dict[int, int]] = ({}, {})
        """Nodes and scopes of `after` that the forward is matched with, each its own; empty before it is."""
        self._left: tuple[list[Item], list[Item]] = ([], [])
        self.mirrors = Mirrors(before), Mirrors(after)
        """What calls of the backward passes belong to."""
        self._backward: list[tuple[Block, Block]] = []
        """Matched calls of backward passes, whose items wait until the forward is matched."""
        self._pending: list[tuple[Block, Block]] = [(self.before.root, self.after.root)]
        self._opened: list[tuple[Sequence[Item], Sequence[Item]]] = []
        """Items between matches, with what is in calls around others in their place."""
        self._drain()
        self._match_moved()
        if self._backward:
            match_read_sources(before, after, self.nodes, self.taken)
            self._pending, self._backward = self._backward, []
            self._came = {there: there for there in self.taken}, {there: there for there in self.scopes.values()}
            self._drain()
            self._match_moved()
        for side, known in enumerate((self.nodes, self.taken)):
            self.around[side].intersection_update(holding((before, after)[side], known) if self.around[side] else ())
        self.around[0].difference_update(self.scopes.keys())
        self.around[1].difference_update(self.scopes.values())
        match_empty((self.before, self.after), self.scopes, self.home)
        match_boundary(before, after, "input", self.nodes, self.taken)
        match_sources(before, after, self.nodes, self.taken)
        match_boundary(before, after, "output", self.nodes, self.taken)

    def home(self, side: int, scope: int) -> int:
        """Return the innermost of a scope and those around it that is not merely put around others."""
        graph = (self.before, self.after)[side].graph
        while scope in self.around[side]:
            scope = graph.scopes[scope].parent
        return scope

    def _drain(self) -> None:
        while self._pending or self._opened:
            if self._opened:
                self._inside(*self._opened.pop())
                continue
            one, other = self._pending.pop()
            here, taken_away = without_wrapper(self.before, one, self.after, other)
            there, put_around = without_wrapper(self.after, other, self.before, one)
            self.around[0].update(taken_away)
            self.around[1].update(put_around)
            self._inside(here, there)

    # ---- steps and calls, in order

    def _inside(self, one: Sequence[Item], other: Sequence[Item]) -> None:
        """Match the items of two calls that are matched."""
        near = [(one, other)]
        for key in (same_program, same_name_and_class, None) if self._came[1] else ():
            near = [
                inner
                for left, right in near
                for inner in self._paired(
                    left, right, self._in_order(left, right, partial(self._same_forward, key), moved=True)
                )
            ]
        for left, right in near:
            rest: tuple[list[Item], list[Item]] = ([], [])
            for side, items in enumerate((left, right)):
                for item in items:
                    (self._left if self._has_forward(item, side) else rest)[side].append(item)
            self._alike(*rest)

    def _has_forward(self, item: Item, side: int) -> bool:
        """Return whether a call or step differentiates what both graphs have, so that it goes with that."""
        if not self._came[1]:
            return False
        return self._same_forward(None, (self.before, self.after)[side], item, side) != (side, item)

    def _same_forward(self, key: Key | None, blocks: Blocks, item: Item, side: int) -> Hashable:
        """Return what calls and steps that differentiate the same share, if they share a key as well."""
        known = (self.nodes, self.scopes) if side == 0 else self._came
        forward = forward_of(blocks, item, self.mirrors[side], known[1], known[0])
        if forward is None:
            return side, item
        return forward, key(blocks, item, side) if key is not None and not isinstance(item, Block) else None

    def _alike(self, one: Sequence[Item], other: Sequence[Item]) -> None:
        """Match items that are equal, then those called alike; or the other way round, if that leaves fewer over."""
        known = known_by_name((self.before, self.after), one, other)
        key = partial(same_program_and_name, known) if known else same_program
        equal = self._in_order(one, other, key, moved=True)
        rest = [
            (left, right, self._in_order(left, right, same_name_and_class))
            for left, right in stretches(one, other, equal)
        ]
        alike = self._in_order(one, other, same_name_and_class) if crosses((self.before, self.after), rest) else []
        if len(alike) > len(equal) + sum([len(pairs) for _, _, pairs in rest]):
            equal, rest = [], [(one, other, alike)]
            self._set_aside(one, other, alike, known)
        else:
            self._set_aside(one, other, equal, known)
        for a, b in equal:
            self._pair(one[a], other[b])
        for left, right, pairs in rest:
            if self._aside.isdisjoint([*left, *right]):
                found = pairs
            else:
                found = self._in_order(left, right, same_name_and_class)
            for near, near_other in self._paired(left, right, found):
                self._between(near, near_other)

    def _between(self, one: Sequence[Item], other: Sequence[Item]) -> None:
        """Match items that are neither the same program nor called alike."""
        away, around = regrouped(self.before, one, self.after, other), regrouped(self.after, other, self.before, one)
        if away or around:
            for scopes, calls in zip(self.around, (away, around), strict=True):
                scopes.update([call.scope for call in calls])
            self._opened.append((opened(one, away), opened(other, around)))
            return
        near = [(one, other)]
        for key in (same_word, same_class, same_name) if has_calls(one) and has_calls(other) else ():
            near = [
                inner for left, right in near for inner in self._paired(left, right, self._in_order(left, right, key))
            ]
        for left, right in near:
            pairs = self._exchanged(left, right)
            for here, there in pairs:
                self._pair(here, there)
            for side, items in enumerate((left, right)):
                known = {pair[side] for pair in pairs}
                self._left[side].extend([item for item in items if item not in known])

    def _in_order(self, one: Sequence[Item], other: Sequence[Item], key: Key, *, moved: bool = False) -> Pairs:
        """Return the positions of items that have a key in common, ascending on both sides; those moved, if asked."""
        if not moved and self._aside:
            left, right = ([at for at, item in enumerate(side) if item not in self._aside] for side in (one, other))
            found = self._in_order([one[at] for at in left], [other[at] for at in right], key, moved=True)
            return [(left[a], right[b]) for a, b in found]
        names: Names = ((), ())
        if has_calls(one) and has_calls(other):
            names = [name_of(self.before, item) for item in one], [name_of(self.after, item) for item in other]
        return align([key(self.before, item, 0) for item in one], [key(self.after, item, 1) for item in other], names)

    def _paired(
        self, one: Sequence[Item], other: Sequence[Item], pairs: Pairs
    ) -> list[tuple[Sequence[Item], Sequence[Item]]]:
        """Match pairs of items, and return the stretches between them."""
        for a, b in pairs:
            self._pair(one[a], other[b])
        return stretches(one, other, pairs)

    def _set_aside(self, one: Sequence[Item], other: Sequence[Item], pairs: Pairs, known: set[tuple[int, str]]) -> None:
        """Keep for later the calls without partner that stand once on each side: they were moved."""
        found: tuple[dict[Hashable, Block | None], dict[Hashable, Block | None]] = ({}, {})
        for side, items in enumerate((one, other)):
            paired = {pair[side] for pair in pairs}
            for at, item in enumerate(items):
                if at not in paired and isinstance(item, Block):
                    key = same_program_and_name(known, (self.before, self.after)[side], item, side)
                    found[side][key] = None if key in found[side] else item
        for signature, call in found[0].items():
            partner = found[1].get(signature)
            if call is not None and partner is not None:
                self._aside |= {call, partner}

    def _exchanged(self, one: Sequence[Item], other: Sequence[Item]) -> list[tuple[Item, Item]]:
        """Match steps that stand in the same gap and yield the same types: another operator does the work."""
        here = [step for step in one if isinstance(step, int)]
        there = [step for step in other if isinstance(step, int)]
        if len(here) != len(there):
            return []
        return [
            (left, right)
            for left, right in zip(here, there, strict=True)
            if self._yields(self.before, left) == self._yields(self.after, right)
        ]

    def _yields(self, blocks: Blocks, step: int) -> list[str]:
        return [str(blocks.graph.type_of(value)) for value in blocks.graph.nodes[blocks.steps[step]].outputs]

    def _pair(self, one: Item, other: Item) -> None:
        """Match two items, and all that is in them if they are the same program."""
        pending = [(one, other)]
        while pending:
            one, other = pending.pop()
            if isinstance(one, Block) and isinstance(other, Block):
                self.scopes.setdefault(one.scope, other.scope)
                if one.signature == other.signature:
                    pending += zip(one.items, other.items, strict=True)
                else:
                    waits = self.mirrors[1].is_backward(other.scope) and not self._came[1]
                    (self._backward if waits else self._pending).append((one, other))
            elif isinstance(one, int) and isinstance(other, int):
                here, there = self.before.steps[one], self.after.steps[other]
                self.nodes[here] = there
                self.taken.add(there)
                scopes = self.before.graph.nodes[here].scope, self.after.graph.nodes[there].scope
                if min(scopes) >= 0:
                    self.scopes.setdefault(*scopes)

    # ---- what was moved

    def _match_moved(self) -> None:
        """Match what is left and equal, whatever its place, calls with the most steps first."""
        while True:
            left, right = (sorted(side, key=size_of, reverse=True) for side in self._left)
            self._left = ([], [])
            there: dict[Hashable, list[Item]] = {}
            for item in right:
                there.setdefault(self._anywhere(item, 1), []).append(item)
            found = False
            for item in left:
                key = self._anywhere(item, 0)
                partners = there.get(key)
                if partners and (isinstance(key, tuple) or isinstance(item, Block) or not is_loose(self.before, item)):
                    other = partners.pop(of_one_path(self.before, item, self.after, partners))
                    self._pair(item, other)
                    self._mark(other)
                    found = True
                else:
                    self._left[0].append(item)
            self._left[1].extend([item for items in there.values() for item in items])
            self._drain()
            if not found:
                return

    def _anywhere(self, item: Item, side: int) -> Hashable:
        """Return what equal items share, or if they differentiate something, those that differentiate the same."""
        blocks = (self.before, self.after)[side]
        if self._has_forward(item, side):
            return self._same_forward(same_name_and_class, blocks, item, side)
        return blocks.item_key(item)

    def _mark(self, item: Item) -> None:
        if isinstance(item, Block):
            self.moved_scopes.add(item.scope)
        else:
            self.moved.add(self.after.steps[item])
