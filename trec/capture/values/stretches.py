"""Stretches of memory that may overlap, found by their addresses."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Item = TypeVar("Item")


class Stretches(Generic[Item]):
    """Things that each lie in a stretch of memory.

    Those of about the same length are kept together in order, so that one that is long does not hide where the short
    ones are. What is gone is forgotten when it is next met.

    Cost: a question takes time for what it finds.
    """

    def __init__(self, is_gone: Callable[[Item], bool]) -> None:
        self._is_gone = is_gone
        self._starts: dict[int, list[int]] = {}
        self._items: dict[int, list[tuple[int, Item]]] = {}
        """By the number of digits of their length: last address and item, in the order of `_starts`."""

    def add(self, start: int, stop: int, item: Item) -> None:
        """Note where something lies."""
        length = (stop - start).bit_length()
        starts = self._starts.setdefault(length, [])
        position = bisect_right(starts, start)
        starts.insert(position, start)
        self._items.setdefault(length, []).insert(position, (stop, item))

    def touching(self, start: int, stop: int) -> list[Item]:
        """Return what has a part in a stretch of memory."""
        found: list[Item] = []
        for length, starts in self._starts.items():
            items = self._items[length]
            first, last = bisect_right(starts, start - (1 << length)), bisect_left(starts, stop)
            for position in range(last - 1, first - 1, -1):
                end, item = items[position]
                if end <= start:
                    continue
                if self._is_gone(item):
                    del starts[position], items[position]
                else:
                    found.append(item)
        return found[::-1]
