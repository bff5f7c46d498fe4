"""One loop: a stretch of a program that repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trec.analysis.blocks import Blocks

LEAST_SAVED = 4
"""How many steps a loop must save that calls no module; less would be harder to read than what it stands for."""

Item = Block | int


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
    begun: list[tuple[Item, int, int]]
    """What one iteration reads of what another loop began with, where others read what that loop made: the item, the
    value that it reads in the first iteration, and the one that it reads in the last."""
    own: list[tuple[int, ...]]
    """For each iteration the parameters, buffers and constants that belong to it, as values, in one order."""
    is_same: bool
    """Whether all iterations read the same parameters, buffers and constants."""
    read: frozenset[int]
    """Other loops, by their first step, whose iterations those of this one read one by one."""

    @property
    def end(self) -> int:
        """The step after its last iteration."""
        return self.start + self.length * self.count

    @property
    def saved(self) -> int:
        """How many steps are left out when one iteration stands for all."""
        return self.length * (self.count - 1)


def names_in(blocks: Blocks, loop: Loop) -> Iterator[str]:
    """Yield the names of what a loop holds, and of the sources of its own."""
    graph = blocks.graph
    for step in range(loop.start, loop.end):
        yield graph.nodes[blocks.steps[step]].name
    for values in loop.own:
        for value in values:
            yield graph.nodes[graph.producers[value]].name


def name_of(blocks: Blocks, item: Item) -> str:
    """Return the name of the call or step that an item is."""
    if isinstance(item, Block):
        return blocks.graph.scopes[item.scope].name
    return blocks.graph.nodes[blocks.steps[item]].name


def scope_of(blocks: Blocks, item: Item) -> int:
    """Return the scope of the call that an item is; -1 if it is a single step."""
    return item.scope if isinstance(item, Block) else blocks.graph.nodes[blocks.steps[item]].scope


def is_worth_it(blocks: Blocks, loop: Loop) -> bool:
    """Return whether a loop is easier to read as one iteration, whatever else there is."""
    return calls_modules(blocks, loop) or (bool(loop.carried) and loop.saved >= LEAST_SAVED)


def calls_modules(blocks: Blocks, loop: Loop) -> bool:
    """Return whether an iteration is a call of a module, or has one among its items."""
    scopes = [scope_of(blocks, item) for item in loop.items]
    return any(scope >= 0 and blocks.graph.scopes[scope].kind == "module" for scope in scopes)


def is_same(blocks: Blocks, loop: Loop, items: Sequence[Item]) -> bool:
    """Return whether all iterations call the same modules and have no parameters and buffers of their own.

    Args:
        blocks: the program.
        loop: the loop.
        items: the items of all its iterations.
    """
    graph, period = blocks.graph, len(loop.items)
    for at, item in enumerate(items):
        here, first = scope_of(blocks, item), scope_of(blocks, items[at % period])
        if here >= 0 and graph.scopes[here].path != graph.scopes[first].path:
            return False
    return not any(graph.nodes[graph.producers[value]].kind in ("param", "buffer") for value in loop.own[0])
