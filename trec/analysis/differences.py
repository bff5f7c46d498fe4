"""In what two blocks that look alike differ."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.blocks import COUNTER, Block, Blocks
from trec.analysis.loop import name_of
from trec.ir.text import type_text
from trec.ir.types import Attr, Scope

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from trec.ir.types import Node

_SAID = 4
"""How many arguments are named with their values."""

Where = tuple[str, int]
"""A row of a block: the path of the call in it, and the position of the step in that, -1 for the call itself."""


class Argument(Struct, frozen=True):
    """An argument that two blocks were given different values of."""

    row: str
    """Name of the call or step of the first block."""
    name: str
    """Its name."""
    was: Attr
    """Its value in the first block; None if there is none."""
    now: Attr
    """The same in the second."""
    where: Where
    """Which call or step of the blocks it is."""

    def __str__(self) -> str:
        return f"{self.row} has {self.name} {self.was!r}, then {self.now!r}"


class Differences:
    """Calls of one class and of one list, any two of which can be compared."""

    def __init__(self, blocks: Blocks, siblings: Sequence[Block]) -> None:
        self.blocks, self.siblings = blocks, siblings

    @cached_property
    def _values(self) -> Counter[tuple[Where, str, Attr]]:
        """How many of the calls were given each value of an argument."""
        return Counter(row for block in self.siblings for row in _arguments(self.blocks, block, ""))

    @cached_property
    def _orders(self) -> Counter[Hashable]:
        """In how many of the calls the same steps run."""
        return Counter(_order(self.blocks, block) for block in self.siblings)

    def between(self, one: Block, other: Block) -> tuple[str, tuple[str, ...]]:
        """Return in what two of the calls differ, in words, and the names of arguments that do.

        What forbids to fold them in any way comes first. What comes again in other calls does not, such as windows that
        are shifted in every second one: two calls can be one repeat then. Arguments of modules come before those of
        steps, which often follow from them.
        """
        found = _Comparison(self.blocks)
        found.compare(one, other, "")
        rows = sorted(found.arguments, key=lambda row: (self._comes_again(row), row.where[1] >= 0))
        rows = list({(row.name, row.was, row.now): row for row in reversed(rows)}.values())[::-1]
        words = [*map(str, rows[:_SAID])]
        if len(rows) > _SAID:
            words.append(f"and {len(rows) - _SAID} more")
        if found.steps:
            again = all(self._orders[_order(self.blocks, block)] > 1 for block in (one, other))
            words.insert(sum([not self._comes_again(row) for row in rows[:_SAID]]) if again else 0, found.steps)
        if not words:
            words = [found.types or _of_wiring(one, other)]
        return "; ".join(words), tuple(dict.fromkeys([row.name for row in rows]))

    def _comes_again(self, row: Argument) -> bool:
        return all(self._values[row.where, row.name, value] > 1 for value in (row.was, row.now))


class _Comparison:
    """All in which two blocks differ, in program order."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.steps = ""
        """The first thing that runs in one and not in the other."""
        self.types = ""
        """The first step that reads or yields other types."""
        self.arguments: list[Argument] = []

    def compare(self, one: Block, other: Block, path: str) -> None:
        """Compare two blocks: their steps until others run, and the calls in them by their paths."""
        nodes, scopes, steps = self.blocks.graph.nodes, self.blocks.graph.scopes, self.blocks.steps
        self._rows(scopes[one.scope], scopes[other.scope], (path, -1))
        for at, (here, there) in enumerate(zip(one.items, other.items, strict=False)):
            if isinstance(here, Block) != isinstance(there, Block):
                self._other_steps(f"{name_of(self.blocks, here)}, then {name_of(self.blocks, there)}")
                break
            if not isinstance(here, Block) and not isinstance(there, Block):
                rows = nodes[steps[here]], nodes[steps[there]]
                if rows[0].op != rows[1].op:
                    self._other_steps(f"{rows[0].name} is {rows[0].op}, then {rows[1].op}")
                    break
                if self.blocks.node_key(rows[0])[0] != self.blocks.node_key(rows[1])[0]:
                    self._rows(*rows, (path, at))
                self.types = self.types or self._of_types(*rows)
        else:
            if len(one.items) != len(other.items):
                self._other_steps(f"{len(one.items)} steps and calls, then {len(other.items)}")
        inside = dict(_calls(self.blocks, other))
        for name, here in _calls(self.blocks, one):
            if name in inside and here.signature != inside[name].signature:
                self.compare(here, inside[name], f"{path}.{name}")

    def _other_steps(self, what: str) -> None:
        self.steps = self.steps or what

    def _rows(self, one: Node | Scope, other: Node | Scope, where: Where) -> None:
        if isinstance(one, Scope) and isinstance(other, Scope) and one.cls != other.cls:
            self._other_steps(f"{one.name} is {one.cls}, then {other.cls}")
            return
        first, second = (dict(_told(self.blocks, row)) for row in (one, other))
        for name in dict.fromkeys([*first, *second]):
            if first.get(name) != second.get(name):
                self.arguments.append(Argument(one.name, name, first.get(name), second.get(name), where))

    def _of_types(self, one: Node, other: Node) -> str:
        graph, types = self.blocks.graph, self.blocks.types
        for what, here, there in (("reads", one.inputs, other.inputs), ("yields", one.outputs, other.outputs)):
            first, second = ([type_text(graph.type_of(value)) for value in values] for values in (here, there))
            keys = [[types[graph.values[value].type] for value in values] for values in (here, there)]
            if keys[0] != keys[1]:
                return f"{one.name} {what} {', '.join(first)}, then {', '.join(second)}"
        return ""


def _of_wiring(one: Block, other: Block) -> str:
    if one.signature == other.signature:
        return "nothing but what they read"
    return "they read other values, or their parameters are shared differently"


def _calls(blocks: Blocks, block: Block) -> Iterator[tuple[str, Block]]:
    """Yield the calls in a block with their paths below it, which count where a module is called again."""
    around, seen = blocks.graph.scopes[block.scope].path, Counter[str]()
    for item in block.items:
        if isinstance(item, Block):
            scope = blocks.graph.scopes[item.scope]
            name = scope.path.removeprefix(around) if scope.kind == "module" else scope.cls
            seen[name] += 1
            yield f"{name}#{seen[name]}", item


def _told(blocks: Blocks, row: Node | Scope) -> Iterator[tuple[str, Attr]]:
    """Yield the arguments of a row that have to be equal."""
    for name, value in blocks.graph.attrs[row.attrs]:
        if name not in blocks.ignore and not (isinstance(row, Scope) and COUNTER.search(name)):
            yield name, value


def _arguments(blocks: Blocks, block: Block, path: str) -> Iterator[tuple[Where, str, Attr]]:
    """Yield all arguments in a block."""
    for name, value in _told(blocks, blocks.graph.scopes[block.scope]):
        yield (path, -1), name, value
    for at, item in enumerate(block.items):
        if not isinstance(item, Block):
            for name, value in _told(blocks, blocks.graph.nodes[blocks.steps[item]]):
                yield (path, at), name, value
    for name, inner in _calls(blocks, block):
        yield from _arguments(blocks, inner, f"{path}.{name}")


def _order(blocks: Blocks, block: Block) -> Hashable:
    """Return what runs in a block, in order."""
    nodes, steps = blocks.graph.nodes, blocks.steps
    return tuple([nodes[steps[step]].op for step in range(block.start, block.end)])
