"""Two sequences side by side: which items of one stand for which of the other."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

Item = TypeVar("Item")

_SMALL = 10_000
"""Up to this many pairs of items a longest common subsequence is found by comparing them all."""

_MATCH = 2 * _SMALL
"""What a pair weighs in a common subsequence; one of the same name weighs one more."""

Pairs = list[tuple[int, int]]
Names = tuple["Sequence[Hashable]", "Sequence[Hashable]"]


def align(one: Sequence[Hashable], other: Sequence[Hashable], names: Names = ((), ())) -> Pairs:
    """Return positions of equal items in both sequences, ascending in both, as many as are found in near-linear time.

    Args:
        one: items.
        other: items.
        names: a name for each item of both; where there is a choice, items of the same name are paired.

    What is equal at both ends is paired first. Of what is small enough a longest common subsequence is found; else
    items are paired that occur once in each, and what lies between is treated alike.

    Cost: near-linear, where few items differ or most are distinct.
    Source: B. Cohen's patience diff, as in `git diff --patience`.
    """
    pairs: Pairs = []
    pending = [(0, len(one), 0, len(other))]
    while pending:
        start, end, begin, stop = pending.pop()
        while start < end and begin < stop and one[start] == other[begin]:
            pairs.append((start, begin))
            start, begin = start + 1, begin + 1
        while start < end and begin < stop and one[end - 1] == other[stop - 1]:
            end, stop = end - 1, stop - 1
            pairs.append((end, stop))
        if start == end or begin == stop:
            continue
        if (end - start) * (stop - begin) <= _SMALL:
            pairs += _longest(one, other, names, start, end, begin, stop)
            continue
        anchors = _anchors(one, other, start, end, begin, stop)
        if anchors:
            pairs += anchors
            edges = [(start - 1, begin - 1), *anchors, (end, stop)]
            pending += [(a + 1, b, c + 1, d) for (a, c), (b, d) in pairwise(edges)]
        else:
            pairs += _greedy(one, other, start, end, begin, stop)
    return sorted(pairs)


def gaps(pairs: Pairs, one: int, other: int) -> list[tuple[range, range]]:
    """Return the stretches between paired items, where there is something on both sides; the lengths are given."""
    edges = [(-1, -1), *pairs, (one, other)]
    found = [
        (range(a + 1, b), range(c + 1, d)) for (a, c), (b, d) in pairwise(edges)
    ]  # fmt: skip
    return [(left, right) for left, right in found if left and right]


def stretches(one: Sequence[Item], other: Sequence[Item], pairs: Pairs) -> list[tuple[Sequence[Item], Sequence[Item]]]:
    """Return the items between those that are paired, where there are any on either side."""
    edges = [(-1, -1), *pairs, (len(one), len(other))]
    return [(one[a + 1 : b], other[c + 1 : d]) for (a, c), (b, d) in pairwise(edges) if b - a + d - c > 2]


def _anchors(one: Sequence[Hashable], other: Sequence[Hashable], start: int, end: int, begin: int, stop: int) -> Pairs:
    """Return the longest ascending pairs of items that occur once on each side."""
    here, there = _once(one, start, end), _once(other, begin, stop)
    found = [(position, there[item]) for item, position in here.items() if item in there]
    return ascending(sorted(found))


def _once(items: Sequence[Hashable], start: int, end: int) -> dict[Hashable, int]:
    found: dict[Hashable, int] = {}
    for position in range(start, end):
        found[items[position]] = -1 if items[position] in found else position
    return {item: position for item, position in found.items() if position >= 0}


def ascending(pairs: Pairs) -> Pairs:
    """Return the longest part of pairs, sorted by the first, in which the second ascends as well."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, position) in enumerate(pairs):
        at = bisect_left(tails, position)
        before.append(ends[at - 1] if at else -1)
        if at == len(tails):
            tails.append(position)
            ends.append(index)
        else:
            tails[at], ends[at] = position, index
    found: Pairs = []
    index = ends[-1] if ends else -1
    while index >= 0:
        found.append(pairs[index])
        index = before[index]
    return found[::-1]


def _longest(
    one: Sequence[Hashable], other: Sequence[Hashable], names: Names, start: int, end: int, begin: int, stop: int
) -> Pairs:
    """Return a longest common subsequence of two stretches."""
    width = stop - begin
    here, there = names if names[0] else ((None,) * len(one), (None,) * len(other))
    table = [[0] * (width + 1)]
    for row in range(end - 1, start - 1, -1):
        last = table[-1]
        line = [0] * (width + 1)
        for column in range(width - 1, -1, -1):
            line[column] = max(last[column], line[column + 1])
            if one[row] == other[begin + column]:
                weight = _MATCH + (here[row] == there[begin + column])
                line[column] = max(line[column], last[column + 1] + weight)
        table.append(line)
    table.reverse()
    found: Pairs = []
    row = column = 0
    while row < end - start and column < width:
        best, after = table[row][column], table[row + 1][column + 1]
        if best - after >= _MATCH and one[start + row] == other[begin + column]:
            weight = _MATCH + (here[start + row] == there[begin + column])
            if best == after + weight:
                found.append((start + row, begin + column))
                row, column = row + 1, column + 1
                continue
        if best == table[row + 1][column]:
            row += 1
        else:
            column += 1
    return found


def _greedy(one: Sequence[Hashable], other: Sequence[Hashable], start: int, end: int, begin: int, stop: int) -> Pairs:
    """Return pairs of the first equal items, the second, ..., as far as they ascend."""
    places: dict[Hashable, list[int]] = {}
    for position in range(stop - 1, begin - 1, -1):
        places.setdefault(other[position], []).append(position)
    found = []
    for position in range(start, end):
        free = places.get(one[position])
        if free:
            found.append((position, free.pop()))
    return ascending(found)
