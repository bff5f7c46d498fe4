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
    out: dict[int, list[int]] = {}
    into: dict[int, list[int]] = {}
    for index, segment in enumerate(segments):
        out.setdefault(segment.upper, []).append(index)
        into.setdefault(segment.lower, []).append(index)
    best: dict[int, int] = {}
    for segment in segments:
        best[segment.net] = max(best.get(segment.net, 0), segment.through)
    chosen_out = {}
    for vertex, rows in out.items():
        kept = rows if vertex < layers.members or len(rows) == 1 else _onwards(layers, rows, best)
        chosen_out[vertex] = _longest(layers, kept, [place[segments[index].lower] for index in kept])
    chosen_in = {v: _longest(layers, rows, [place[segments[i].upper] for i in rows]) for v, rows in into.items()}
    trunk, inner = [], []
    for index, segment in enumerate(segments):
        if chosen_out[segment.upper] == index == chosen_in[segment.lower]:
            trunk.append(index)
        elif segment.upper >= layers.members and segment.lower >= layers.members:
            inner.append(index)
    trunk.sort(key=lambda index: -segments[index].through)
    return _without_crossings(layers, [*trunk, *inner], place)


def _onwards(layers: Layers, indices: list[int], best: dict[int, int]) -> list[int]:
    """Return the segments by which a net that forks may go straight on: its longest way, or else to its far end."""
    segments = layers.segments
    if any(segments[index].through == best[segments[index].net] for index in indices):
        return indices
    return [index for index in indices if segments[index].lower >= layers.members] or indices


def _longest(layers: Layers, indices: list[int], places: list[int]) -> int:
    """Return the segment of the longest way, the middle one of several; -1 if they have no middle."""
    if len(indices) == 1:
        return indices[0]
    best = max([layers.segments[index].through for index in indices])
    equal = [index for _, index in sorted(zip(places, indices, strict=True)) if layers.segments[index].through == best]
    return equal[len(equal) // 2] if len(equal) % 2 else -1


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
