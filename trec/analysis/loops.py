"""Repeats that are one program run again and again: equal blocks, wired alike."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.blocks import Block, Blocks
from trec.analysis.tandem import tandem_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trec.analysis.tandem import Run

_LEAST_SAVED = 4
"""How many steps a loop must save that calls no module; less would be harder to read than what it stands for."""

Item = Block | int
Link = tuple[str, int]


class Loop(Struct, eq=False):
    """A stretch of a program that repeats: the steps of `count` iterations, one after the other."""

    scope: int
    """Index into `Graph.scopes` of the scope that the iterations lie in."""
    items: list[Item]
    """Steps and blocks of the first iteration."""
    start: int
    """Its first step."""
    length: int
    """Steps in one iteration."""
    count: int
    """Number of iterations."""
    names: tuple[str, ...]
    """Name of the first call or step of each iteration but the first."""
    carried: list[tuple[Item, int, int]]
    """What an iteration hands to the next: the item that reads it, the value that it reads in the first iteration, and
    the position, among the values that an iteration makes, of the one that is handed on."""

    @property
    def call(self) -> int:
        """The one step or block that is an iteration, by position in `items`; -1 if there are several."""
        return 0 if len(self.items) == 1 else -1


class _Iteration:
    """One repeat of a run, and how it is wired."""

    __slots__ = ("end", "high", "ints", "items", "low", "reads", "start", "whole")

    def __init__(self, blocks: Blocks, items: Sequence[Item]) -> None:
        self.items = items
        spans = [blocks.item_span(item) for item in items]
        self.start, self.end = spans[0][0], spans[-1][1]
        self.whole = all(one[1] == other[0] for one, other in pairwise(spans))
        self.low, self.high = blocks.first[self.start], blocks.first[self.end]
        self.reads = [value for item in items for value in blocks.item_reads(item)]
        self.ints = [number for item in items for number in blocks.item_ints(item)]


def find_loops(blocks: Blocks, *, same: bool = False) -> list[Loop]:
    """Return the repeats of a program, in program order, outer ones before those inside their first iteration.

    Args:
        blocks: the program.
        same: only calls of the same modules, with the same parameters.
    """
    found: list[Loop] = []
    pending: list[tuple[Sequence[Item], int]] = [(blocks.root.items, blocks.root.scope)]
    while pending:
        items, scope = pending.pop()
        covered = bytearray(len(items))
        for run in tandem_runs(list(map(blocks.item_key, items))):
            for part, loop in _consistent(blocks, scope, items, run):
                if _is_worth_it(blocks, loop) and not (same and not _is_same(blocks, items, part)):
                    found.append(loop)
                    covered[part.start : part.end] = b"\1" * (part.end - part.start)
                    block = loop.items[0]
                    alone = len(loop.items) == 1
                    if not alone or isinstance(block, Block):
                        pending.append((block.items, block.scope) if alone else (loop.items, scope))  # type: ignore[union-attr]
        pending += [
            (item.items, item.scope)
            for item, mark in zip(items, covered, strict=True)
            if not mark and isinstance(item, Block)
        ]
    return sorted(found, key=lambda loop: (loop.start, -loop.length))


def _consistent(blocks: Blocks, scope: int, items: Sequence[Item], run: Run) -> Iterator[tuple[Run, Loop]]:
    """Yield the parts of a run whose iterations are wired alike."""
    period = run.period
    iterations = [_Iteration(blocks, items[at : at + period]) for at in range(run.start, run.end, period)]
    links = [None, *[_link(blocks, *pair) for pair in pairwise(iterations)]]
    at = 0
    while at + 1 < len(iterations):
        link = links[at + 1]
        if link is None or not _begins(blocks, iterations[at], link[0]):
            at += 1
            continue
        end = at + 2
        while end < len(iterations) and links[end] == link:
            end += 1
        first = iterations[at]
        part = type(run)(run.start + at * period, period, end - at)
        names = tuple([name_of(blocks, iteration.items[0]) for iteration in iterations[at + 1 : end]])
        carried = list(_carried(blocks, first, link[0]))
        loop = Loop(scope, list(first.items), first.start, first.end - first.start, end - at, names, carried)
        yield part, loop
        at = end


def _link(blocks: Blocks, before: _Iteration, here: _Iteration) -> tuple[list[Link], list[int]] | None:
    """Return where an iteration takes what it reads, beside the one before it, and how its numbers count on.

    None if the two are not iterations of one loop.
    """
    if not (before.whole and here.whole and before.end == here.start):
        return None
    number, producers = blocks.number, blocks.graph.producers
    links: list[Link] = []
    own: dict[int, int] = {}
    for position, (value, earlier) in enumerate(zip(here.reads, before.reads, strict=True)):
        at = number[value]
        if here.low <= at < here.high:
            links.append(("inside", at - here.low))
        elif before.low <= at < before.high:
            links.append(("carried", at - before.low))
        elif value == earlier:
            links.append(("same", 0))
        elif blocks.is_private(value, here.start, here.end):
            links.append(("own", own.setdefault(value, position)))
        elif producers[value] == producers[earlier]:
            links.append(("producer", producers[value]))
        else:
            return None
    return links, [number - earlier for number, earlier in zip(here.ints, before.ints, strict=True)]


def _begins(blocks: Blocks, first: _Iteration, links: list[Link]) -> bool:
    """Return whether an iteration can be the first of a loop that goes on so."""
    own: dict[int, int] = {}
    for position, (value, link) in enumerate(zip(first.reads, links, strict=True)):
        at = blocks.number[value]
        inside = first.low <= at < first.high
        if link[0] == "own":
            if not blocks.is_private(value, first.start, first.end) or own.setdefault(value, position) != link[1]:
                return False
        elif inside != (link[0] == "inside") or (inside and at - first.low != link[1]):
            return False
    return True


def _carried(blocks: Blocks, first: _Iteration, links: list[Link]) -> Iterator[tuple[Item, int, int]]:
    position = 0
    for item in first.items:
        for value in blocks.item_reads(item):
            kind, offset = links[position]
            if kind == "carried":
                yield item, value, offset
            position += 1


def name_of(blocks: Blocks, item: Item) -> str:
    """Return the name of the call or step that an item is."""
    if isinstance(item, Block):
        return blocks.graph.scopes[item.scope].name
    return blocks.graph.nodes[blocks.steps[item]].name


def scope_of(blocks: Blocks, item: Item) -> int:
    """Return the scope of the call that an item is; -1 if it is a single step."""
    return item.scope if isinstance(item, Block) else blocks.graph.nodes[blocks.steps[item]].scope


def _is_worth_it(blocks: Blocks, loop: Loop) -> bool:
    scopes = blocks.graph.scopes
    if any((scope := scope_of(blocks, item)) >= 0 and scopes[scope].kind == "module" for item in loop.items):
        return True
    return bool(loop.carried) and loop.length * (loop.count - 1) >= _LEAST_SAVED


def _is_same(blocks: Blocks, items: Sequence[Item], part: Run) -> bool:
    """Return whether all iterations call the same modules and have no parameters and buffers of their own."""
    graph = blocks.graph
    for at in range(part.start, part.end):
        here = scope_of(blocks, items[at])
        first = scope_of(blocks, items[part.start + (at - part.start) % part.period])
        if here >= 0 and graph.scopes[here].path != graph.scopes[first].path:
            return False
    start, end = blocks.item_span(items[part.start])[0], blocks.item_span(items[part.start + part.period - 1])[1]
    return not any(
        graph.nodes[graph.producers[value]].kind in ("param", "buffer") and blocks.is_private(value, start, end)
        for step in range(start, end)
        for value in graph.nodes[blocks.steps[step]].inputs
    )
