"""Which blocks of a graph are equal, and where those that look alike differ."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.blocks import Block, Blocks, stem
from trec.analysis.differences import Differences
from trec.analysis.loop import name_of
from trec.analysis.loops import find_loops
from trec.analysis.table import lines, plain
from trec.ir.given import given_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from trec.analysis.loop import Loop
    from trec.ir.graph import Graph


class Repeat(Struct, frozen=True):
    """Equal blocks that follow one another."""

    first: str
    """Name of the first call, or of the first step of the first iteration."""
    last: str
    """The same of the last."""
    count: int
    """How many they are."""
    steps: int
    """Steps in each."""
    times: int
    """How often all of it runs, since it lies in blocks that repeat."""


class Difference(Struct, frozen=True):
    """Why two neighbouring calls that look alike are not one repeat."""

    one: str
    """Name of the first call."""
    other: str
    """Name of the second."""
    what: str
    """In what they differ, first in what forbids to fold them in any way."""
    arguments: tuple[str, ...] = ()
    """Names of the arguments in which they differ, in the same order; what does not matter can be ignored."""


class Repeats(Struct, frozen=True):
    """The repeats of a graph, in program order, outer ones first."""

    repeats: tuple[Repeat, ...]
    """What repeats."""
    differences: tuple[Difference, ...]
    """Neighbours of one class and of one list that differ."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the repeats as plain rows."""
        return plain(self.repeats)

    def __str__(self) -> str:
        rows = [(item.first, item.last, item.count, item.times, item.steps) for item in self.repeats]
        found = lines(("first", "last", "count", "times", "steps"), rows) if rows else ["no repeats"]
        differences = [f"{item.one} and {item.other}: {item.what}" for item in self.differences]
        return "\n".join([*found, *differences])


def repeats(graph: Graph, *, shapes: bool = True, ignore: str | Collection[str] = ()) -> Repeats:
    """Return which blocks of a graph are equal, as `fold` finds them, and in what neighbours that look alike differ.

    Where the difference is one of sizes or of an argument that does not matter, say so here and to `fold`: experts that
    are given different numbers of tokens are equal with `shapes=False`.

    Args:
        graph: what to look at.
        shapes: whether sizes must be equal; otherwise ranks are enough.
        ignore: names of arguments that may differ.
    """
    blocks = Blocks(graph, shapes=shapes, ignore=given_names(ignore))
    loops = find_loops(blocks)
    dropped = bytearray(len(blocks.steps))
    for loop in loops:
        start, end = loop.start + loop.length, loop.start + loop.length * loop.count
        dropped[start:end] = b"\1" * (end - start)
    found = []
    around: list[tuple[int, int]] = []  # where the first iterations end that a loop lies in, and how often they run
    for loop in loops:
        while around and around[-1][0] <= loop.start:
            around.pop()
        times = around[-1][1] if around else 1
        found.append(Repeat(name_of(blocks, loop.items[0]), loop.names[-1], loop.count, loop.length, times))
        around.append((loop.start + loop.length, times * loop.count))
    return Repeats(tuple(found), tuple(_differences(blocks, loops, dropped)))


def _differences(blocks: Blocks, loops: list[Loop], dropped: bytearray) -> Iterator[Difference]:
    scopes = blocks.graph.scopes
    joined = {
        (step, step + loop.length)
        for loop in loops
        for step in range(loop.start, loop.start + loop.length * (loop.count - 1))
    }
    pending = [blocks.root]
    while pending:
        block = pending.pop()
        inner = [item for item in block.items if isinstance(item, Block)]
        lists: dict[tuple[str, str], list[Block]] = {}
        for item in inner:
            scope = scopes[item.scope]
            if scope.kind == "module":
                lists.setdefault((scope.cls, stem(scope)), []).append(item)
        pairs = [
            (*pair, differences)
            for siblings in lists.values()
            for differences in [Differences(blocks, siblings)]
            for pair in pairwise(siblings)
        ]
        for one, other, differences in sorted(pairs, key=lambda row: row[1].start):
            earlier, scope = scopes[one.scope], scopes[other.scope]
            folded = (one.start, other.start) in joined or scope.repeats or earlier.repeats
            if scope.path != earlier.path and not folded:
                yield Difference(earlier.name, scope.name, *differences.between(one, other))
        pending += [item for item in reversed(inner) if not dropped[item.start]]
