"""What calls and steps of two graphs may have in common, from the most to the least."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable

from trec.analysis.blocks import Block, Blocks
from trec.analysis.groups import short_op

Item = Block | int
"""A call, or the position of a step in `Blocks.steps`."""

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


def same_word(blocks: Blocks, item: Item, side: int) -> Hashable:
    """Return the name of a call, unless it is a number, which says little of what is called."""
    return (side, item) if name_of(blocks, item).isdecimal() else same_name(blocks, item, side)


def same_class(blocks: Blocks, item: Item, side: int) -> Hashable:
    """Return the class of a call; no step is like any other."""
    return blocks.graph.scopes[item.scope].cls if isinstance(item, Block) else (side, item)


def name_of(blocks: Blocks, item: Item) -> str:
    """Return the name of a call within the module around it; that of a step is empty."""
    return blocks.graph.scopes[item.scope].path.rpartition(".")[2] if isinstance(item, Block) else ""
