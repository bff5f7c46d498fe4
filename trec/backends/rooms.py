"""Which edges are longer than others, so that parameters have room above what reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.backends.bundles import Bundles


def lengths(bundles: Bundles, state: Sequence[int], clusters: Sequence[int]) -> dict[int, int]:
    """Return for each edge that spans several ranks how many.

    Where the flow enters a cluster in which parameters, and operators on nothing but parameters, stand above a box, it
    is kept apart from them by as many ranks, or else they would stand beside the box that it comes from, and push the
    cluster out of line with it.

    Args:
        bundles: the edges.
        state: for each box, 1 if it is a parameter, a buffer or a constant, else 0.
        clusters: for each box, the cluster that it is in.
    """
    if 1 not in state:
        return {}
    rooms = [0] * len(state)
    """For each box, how many ranks stand above it."""
    fed = [False] * len(state)
    """For each box, whether something of the flow goes into it."""
    for source, target in zip(bundles.sources, bundles.targets, strict=True):
        if state[source]:
            above = 1
        elif rooms[source] and not fed[source]:
            above = rooms[source] + 1
        else:
            fed[target] = True
            continue
        if rooms[target] < above:
            rooms[target] = above
    return {
        edge: rooms[target] + 1
        for edge, (source, target) in enumerate(zip(bundles.sources, bundles.targets, strict=True))
        if rooms[target]
        and clusters[source] != clusters[target]
        and not state[source]
        and (fed[source] or not rooms[source])
    }
