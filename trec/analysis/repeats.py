"""Which blocks of a graph are equal, and where those that look alike differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.blocks import COUNTER, Block, Blocks, stem
from trec.analysis.loop import name_of
from trec.analysis.loops import find_loops
from trec.analysis.table import lines, plain
from trec.ir.text import type_text
from trec.ir.types import Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

    from trec.analysis.loop import Loop
    from trec.ir.graph import Graph
    from trec.ir.types import Node


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
    """In what they differ."""


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
    ignored = [ignore] if isinstance(ignore, str) else ignore
    blocks = Blocks(graph, shapes=shapes, ignore=ignored)
    loops = find_loops(blocks)
    dropped = bytearray(len(blocks.steps))
    for loop in loops:
        start, end = loop.start + loop.length, loop.start + loop.length * loop.count
        dropped[start:end] = b"\1" * (end - start)
    found = []
    for loop in loops:
        times = 1
        for outer in loops:
            if outer is not loop and outer.start <= loop.start < outer.start + outer.length:
                times *= outer.count if loop.length * loop.count <= outer.length else 1
        found.append(Repeat(name_of(blocks, loop.items[0]), loop.names[-1], loop.count, loop.length, times))
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
        before: dict[tuple[str, str], Block] = {}
        for item in inner:
            scope = scopes[item.scope]
            one = before.get((scope.cls, stem(scope)))
            before[scope.cls, stem(scope)] = item
            if one is None or scope.kind != "module" or (one.start, item.start) in joined:
                continue
            earlier = scopes[one.scope]
            if scope.path != earlier.path and not scope.repeats and not earlier.repeats:
                yield Difference(earlier.name, scope.name, difference(blocks, one, item))
        pending += [item for item in reversed(inner) if not dropped[item.start]]


def difference(blocks: Blocks, one: Block, other: Block) -> str:
    """Return the first thing, in program order, in which two blocks differ."""
    graph = blocks.graph
    found = _of_rows(blocks, graph.scopes[one.scope], graph.scopes[other.scope])
    if found:
        return found
    for here, there in zip(one.items, other.items, strict=False):
        if isinstance(here, Block) and isinstance(there, Block):
            if here.signature != there.signature:
                return difference(blocks, here, there)
        elif isinstance(here, Block) or isinstance(there, Block):
            return f"{name_of(blocks, here)}, then {name_of(blocks, there)}"
        else:
            rows = graph.nodes[blocks.steps[here]], graph.nodes[blocks.steps[there]]
            found = _of_rows(blocks, *rows) or _of_types(blocks, *rows)
            if found:
                return found
    if len(one.items) != len(other.items):
        return f"{len(one.items)} steps and calls, then {len(other.items)}"
    if one.signature == other.signature:
        return "nothing but what they read"
    return "they read other values, or their parameters are shared differently"


def _of_rows(blocks: Blocks, one: Node | Scope, other: Node | Scope) -> str:
    graph, is_scope = blocks.graph, isinstance(one, Scope)
    was, what = ((row.cls if isinstance(row, Scope) else row.op) for row in (one, other))
    if what != was:
        return f"{one.name} is {was}, then {what}"
    first, second = dict(graph.attrs[one.attrs]), dict(graph.attrs[other.attrs])
    for name in [*first, *second]:
        told = name in blocks.ignore or (is_scope and COUNTER.search(name))
        if first.get(name) != second.get(name) and not told:
            return f"{one.name} has {name} {first.get(name)!r}, then {second.get(name)!r}"
    return ""


def _of_types(blocks: Blocks, one: Node, other: Node) -> str:
    graph = blocks.graph
    for what, here, there in (("reads", one.inputs, other.inputs), ("yields", one.outputs, other.outputs)):
        first, second = ([type_text(graph.type_of(value)) for value in values] for values in (here, there))
        keys = [[blocks.types[graph.values[value].type] for value in values] for values in (here, there)]
        if keys[0] != keys[1]:
            return f"{one.name} {what} {', '.join(first)}, then {', '.join(second)}"
    return ""
