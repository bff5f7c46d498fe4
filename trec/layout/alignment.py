"""Vertices that stand exactly below one another: the trunk first, then long nets.

Source: U. Brandes, B. Köpf, "Fast and Simple Horizontal Coordinate Assignment", Graph Drawing 2001: blocks of vertices
with one coordinate, where of two crossing segments one cannot be straight. Here the longest way decides, not the side
from which a layer is read, so one alignment does where they average four.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trec.layout.layers import Layers


def align(layers: Layers) -> list[int]:
    """Return the segments that are to be straight, as positions in `Layers.segments`.

    Of the ways into a vertex the longest goes straight on, and so of the ways out of it. Where several are as long,
    the middle one does; where there is no middle, as between two equal branches, none does.

    Ensures:
        At most one of them leads into each vertex, one out of it, and no two cross.
    """
    place = [0] * len(layers.layer)
    for row in layers.rows:
        for position, vertex in enumerate(row):
            place[vertex] = position
    segments = layers.segments
    out: list[list[int]] = [[] for _ in place]
    into: list[list[int]] = [[] for _ in place]
    best = [0] * len(layers.chains)
    for index, segment in enumerate(segments):
        out[segment.upper].append(index)
        into[segment.lower].append(index)
        if best[segment.net] < segment.through:
            best[segment.net] = segment.through
    chosen_out, chosen_in = [-1] * len(place), [-1] * len(place)
    for vertex, rows in enumerate(out):
        kept = rows if vertex < layers.members or len(rows) < 2 else _onwards(layers, rows, best)
        if kept:
            chosen_out[vertex] = kept[0] if len(kept) == 1 else _longest(layers, kept, place, lower=True)
    for vertex, rows in enumerate(into):
        if rows:
            chosen_in[vertex] = rows[0] if len(rows) == 1 else _longest(layers, rows, place, lower=False)
    trunk, inner = [], []
    for index, segment in enumerate(segments):
        if chosen_out[segment.upper] == index == chosen_in[segment.lower]:
            trunk.append(index)
        elif segment.upper >= layers.members and segment.lower >= layers.members:
            inner.append(index)
    trunk.sort(key=lambda index: -segments[index].through)
    return _without_crossings(layers, [*trunk, *inner], place)


def _onwards(layers: Layers, indices: list[int], best: list[int]) -> list[int]:
    """Return the segments by which a net that forks may go straight on: its longest way, or else to its far end."""
    segments = layers.segments
    if any(segments[index].through == best[segments[index].net] for index in indices):
        return indices
    return [index for index in indices if segments[index].lower >= layers.members] or indices


def _longest(layers: Layers, indices: list[int], place: list[int], *, lower: bool) -> int:
    """Return the segment of the longest way, the middle one of several; -1 if they have no middle."""
    segments = layers.segments
    best = max([segments[index].through for index in indices])
    equal = [index for index in indices if segments[index].through == best]
    if len(equal) % 2 == 0:
        return -1
    if len(equal) > 1:
        ends = {index: segments[index].lower if lower else segments[index].upper for index in equal}
        equal.sort(key=lambda index: (place[ends[index]], index))
    return equal[len(equal) // 2]


def _without_crossings(layers: Layers, indices: list[int], place: list[int]) -> list[int]:
    """Return those segments that cross none of the earlier ones and share no vertex with them."""
    kept = []
    uppers: dict[int, list[int]] = {}
    lowers: dict[int, list[int]] = {}
    for index in indices:
        segment = layers.segments[index]
        layer = layers.layer[segment.upper]
        if layers.layer[segment.lower] != layer + 1:
            continue
        above, below = uppers.setdefault(layer, []), lowers.setdefault(layer, [])
        start, end = place[segment.upper], place[segment.lower]
        position = bisect_left(above, start)
        if position != bisect_left(below, end):
            continue
        if position < len(above) and (above[position] == start or below[position] == end):
            continue
        above.insert(position, start)
        below.insert(position, end)
        kept.append(index)
    return kept
