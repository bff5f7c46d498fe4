"""Calls that were put around what was there before, or taken away from around it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from trec.analysis.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trec.analysis.blocks import Blocks
    from trec.analysis.likeness import Item
    from trec.ir.graph import Graph


def without_wrapper(blocks: Blocks, block: Block, others: Blocks, inner: Block) -> tuple[list[Item], list[int]]:
    """Return the items of a block; if a call in it is what another block was, the items of that call in its place.

    Args:
        blocks: what holds the block.
        block: the call that may wrap another.
        others: what holds the other block.
        inner: what may have been wrapped.

    Returns:
        The items, and the scopes of the calls that were opened.
    """
    items, way = block.items, _way(blocks, block, others, inner)
    for call in way:
        items = opened(items, {call})
    return items, [call.scope for call in way]


def _way(blocks: Blocks, block: Block, others: Blocks, inner: Block) -> list[Block]:
    """Return the calls that lead into a block to the one that is the same program as another, or alone of its class."""
    cls = others.graph.scopes[inner.scope].cls
    if blocks.graph.scopes[block.scope].cls == cls:
        return []
    alike: list[list[Block]] = []
    pending = [[item] for item in block.items if isinstance(item, Block)]
    while pending:
        ways, pending = pending, []
        for way in ways:
            if way[-1].signature == inner.signature:
                return way
            if blocks.graph.scopes[way[-1].scope].cls == cls:
                alike.append(way)
            else:
                pending += [[*way, item] for item in way[-1].items if isinstance(item, Block)]
    return alike[0] if len(alike) == 1 else []


def regrouped(blocks: Blocks, items: Sequence[Item], others: Blocks, loose: Sequence[Item]) -> set[Block]:
    """Return the calls among items that hold, for the most part, what elsewhere stands in no call of its own.

    Args:
        blocks: what holds the items.
        items: items without partner.
        others: what holds the others.
        loose: what stands in their place there.

    Cost: linear; in which order the same is held does not count.
    """
    calls = [item for item in items if isinstance(item, Block)]
    there = Counter([others.item_key(item) for item in loose]) if calls else Counter[int]()
    found = set()
    for call in calls:
        held = Counter([blocks.item_key(part) for part in call.items])
        if 2 * (held & there).total() >= len(call.items):
            found.add(call)
    return found


def opened(items: Sequence[Item], calls: Collection[Item]) -> list[Item]:
    """Return the items, with what is in some of the calls in their place."""
    return [part for item in items for part in (item.items if isinstance(item, Block) and item in calls else [item])]


def holding(graph: Graph, nodes: Collection[int]) -> set[int]:
    """Return the scopes that hold one of some nodes, at any depth."""
    held = {graph.nodes[index].parent for index in nodes}
    for index in range(len(graph.scopes) - 1, 0, -1):
        if index in held:
            held.add(graph.scopes[index].parent)
    return held
