"""What calls and steps of two graphs may have in common, from the most to the least."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Sequence
from typing import TYPE_CHECKING

from trec.analysis.blocks import Block, Blocks
from trec.analysis.groups import short_op

if TYPE_CHECKING:
    from trec.analysis.align import Pairs

Item = Block | int
"""A call, or the position of a step in `Blocks.steps`."""

_FEW = 64
"""Among how many equal calls one of the same path is looked for."""

Key = Callable[[Blocks, Item, int], Hashable]
"""Returns what items that are alike have in common; the number says which of the two graphs an item is of."""


def same_program(blocks: Blocks, item: Item, side: int) -> Hashable:
    """Return what equal programs share."""
    return blocks.item_key(item)


def same_program_and_name(known: Container[tuple[int, str]], blocks: Blocks, item: Item, side: int) -> Hashable:
    """Return what equal programs share, and calls of a program and name that both graphs know by that name."""
    if isinstance(item, Block) and (key := (item.signature, name_of(blocks, item))) in known:
        return key
    return blocks.item_key(item)


def same_name_and_class(blocks: Blocks, item: Item, side: int) -> Hashable:
    """Return the class and name of a call, or the operator of a step, in place or not."""
    if isinstance(item, Block):
        return blocks.graph.scopes[item.scope].cls, name_of(blocks, item)
    node = blocks.graph.nodes[blocks.steps[item]]
    return node.kind, short_op(node.op).rstrip("_")


def same_name(blocks: Blocks, item: Item, side: int) -> Hashable:
    """Return the name of a call; no step is like any other."""
    return name_of(blocks, item) if isinstance(item, Block) else (side, item)


def known_by_name(blocks: tuple[Blocks, Blocks], one: Sequence[Item], other: Sequence[Item]) -> set[tuple[int, str]]:
    """Return the programs and names, unless these are numbers, of calls that are among the items of both graphs."""
    found: tuple[set[tuple[int, str]], set[tuple[int, str]]] = (set(), set())
    for side, items in enumerate((one, other)):
        for item in items:
            if isinstance(item, Block) and not (name := name_of(blocks[side], item)).isdecimal():
                found[side].add((item.signature, name))
    return found[0] & found[1]


def crosses(blocks: tuple[Blocks, Blocks], gaps: Sequence[tuple[Sequence[Item], Sequence[Item], Pairs]]) -> bool:
    """Return whether items without partner are called alike, which those between them, being equal, keep apart.

    Args:
        blocks: both graphs.
        gaps: what stands between equal items in both, and the pairs in it.
    """
    over: tuple[set[Hashable], set[Hashable]] = (set(), set())
    for left, right, pairs in gaps:
        for side, items in enumerate((left, right)):
            if len(items) > len(pairs):
                known = {pair[side] for pair in pairs}
                rest = [item for at, item in enumerate(items) if at not in known]
                over[side].update([same_name_and_class(blocks[side], item, side) for item in rest])
    return not over[0].isdisjoint(over[1])


def same_word(blocks: Blocks, item: Item, side: int) -> Hashable:
    """Return the name of a call, unless it is a number, which says little of what is called."""
    return (side, item) if name_of(blocks, item).isdecimal() else same_name(blocks, item, side)


def same_class(blocks: Blocks, item: Item, side: int) -> Hashable:
    """Return the class of a call; no step is like any other."""
    return blocks.graph.scopes[item.scope].cls if isinstance(item, Block) else (side, item)


def name_of(blocks: Blocks, item: Item) -> str:
    """Return the name of a call within the module around it; that of a step is empty."""
    return blocks.graph.scopes[item.scope].path.rpartition(".")[2] if isinstance(item, Block) else ""


def size_of(item: Item) -> int:
    """Return how many steps there are in an item."""
    return item.end - item.start if isinstance(item, Block) else 1


def has_calls(items: Sequence[Item]) -> bool:
    """Return whether there is a call among items."""
    return any(isinstance(item, Block) for item in items)


def is_loose(blocks: Blocks, step: int) -> bool:
    """Return whether a step is too common to be recognised out of its place: one that reads no parameter."""
    return not any(blocks.is_source(value) for value in blocks.graph.nodes[blocks.steps[step]].inputs)


def of_one_path(blocks: Blocks, item: Item, others: Blocks, candidates: Sequence[Item]) -> int:
    """Return the position of the first of some items that is a call of the same path; 0 if there is none."""
    if not isinstance(item, Block):
        return 0
    path, scopes = blocks.graph.scopes[item.scope].path, others.graph.scopes
    paths = [scopes[other.scope].path for other in candidates[:_FEW] if isinstance(other, Block)]
    return paths.index(path) if path in paths else 0
