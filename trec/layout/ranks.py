"""Which members of a scope come before which.

Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of Hierarchical System Structures", IEEE
Transactions on Systems, Man, and Cybernetics 11 (1981), layers by the longest way.
"""

from __future__ import annotations

from math import ceil, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trec.layout.nesting import Net

_ROW = 8
"""Least number of members that nothing is joined to that stand side by side."""


def ranks(count: int, nets: tuple[Net, ...], first: frozenset[int]) -> tuple[list[int], list[bool]]:
    """Return the rank of each member, and whether it is in the flow from what enters or comes first.

    A member stands as early as what leads to it allows, but outside the flow as late as what needs it. Members that
    nothing is joined to stand in rows.
    """
    rank = [1 if any(net.source < 0 for net in nets) else 0] * count
    feeds: list[list[int]] = [[] for _ in range(count)]
    flow = [member in first for member in range(count)]
    reached = list(flow)
    for net in nets:
        targets = [member for member, _ in net.targets]
        for member in targets:
            reached[member] = True
        if net.source >= 0:
            feeds[net.source] += targets
        else:
            for member in targets:
                flow[member] = True
    for member in range(count):
        later = rank[member] + 1
        for target in feeds[member]:
            if rank[target] < later:
                rank[target] = later
            if flow[member]:
                flow[target] = True
    for member in range(count - 1, -1, -1):
        if feeds[member] and not flow[member]:
            rank[member] = min([rank[target] for target in feeds[member]]) - 1
    _sink(nets, rank, feeds, first)
    lone = [member for member in range(count) if not feeds[member] and not reached[member]]
    across = max(_ROW, ceil(sqrt(len(lone))))
    for position, member in enumerate(lone):
        rank[member] += position // across
    return rank, flow


def _sink(nets: tuple[Net, ...], rank: list[int], feeds: list[list[int]], first: frozenset[int]) -> None:
    """Move members later that then make the picture narrower, such as the slices of an input that a loop reads.

    What leads to such a member grows longer, but as one line if it leads to several; what leads away from each grows
    shorter.
    """
    into: list[list[int]] = [[] for _ in rank]
    out = [0] * len(rank)
    for index, net in enumerate(nets):
        if net.source >= 0:
            out[net.source] += 1
        for target, _ in net.targets:
            into[target].append(index)

    def latest(member: int) -> int:
        return min([rank[target] for target in feeds[member]]) - 1

    for member in range(len(rank) - 1, -1, -1):
        if not feeds[member] or not into[member] or member in first or latest(member) <= rank[member]:
            continue
        longer = 0
        for index in into[member]:
            others = [target for target, _ in nets[index].targets if target != member]
            shared = nets[index].leaves or any(
                rank[other] >= latest(member) or (feeds[other] and latest(other) > rank[other]) for other in others
            )
            longer += not shared
        if longer < out[member]:
            rank[member] = latest(member)
