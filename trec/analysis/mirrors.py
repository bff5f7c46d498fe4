"""What calls and steps of a backward pass belong to: the forward calls and nodes that they differentiate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from trec.analysis.blocks import Blocks
    from trec.analysis.likeness import Item
    from trec.ir.graph import Graph


class Mirrors:
    """For each call of a backward pass the call of the forward that it is the backward of."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.calls: dict[int, int] = {}
        """Scopes of the backward pass, and the scopes of the forward that have their path and number."""
        if len(graph.phases) > 1:
            calls = [scope.kind == "module" for scope in graph.scopes]
            forward = {
                (scope.path, scope.call): index
                for index, scope in enumerate(graph.scopes)
                if calls[index] and scope.phase == "forward"
            }
            for index, scope in enumerate(graph.scopes):
                if calls[index] and scope.phase == "backward" and (scope.path, scope.call) in forward:
                    self.calls[index] = forward[scope.path, scope.call]

    def is_backward(self, scope: int) -> bool:
        """Return whether a scope is part of a backward pass."""
        return self.graph.scopes[scope].phase == "backward"


def forward_of(
    blocks: Blocks, item: Item, mirrors: Mirrors, scopes: Mapping[int, int], nodes: Mapping[int, int]
) -> Hashable:
    """Return what a call or step is the backward of; None if that is nothing, or nothing that has a partner.

    Args:
        blocks: what holds the item.
        item: the call or step.
        mirrors: the calls of that graph.
        scopes: what scopes of the forward are called in both graphs, of those that have a partner.
        nodes: the same of nodes.
    """
    if isinstance(item, Block):
        partner = scopes.get(mirrors.calls.get(item.scope, -1))
        return None if partner is None else ("call", partner)
    forward = blocks.graph.differentiated.get(blocks.steps[item], ())
    partners = [nodes.get(index, -1) for index in forward]
    return ("step", *sorted(partners)) if partners and min(partners) >= 0 else None
