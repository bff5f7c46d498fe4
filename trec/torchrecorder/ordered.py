"""A set that keeps the order in which its elements came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableSet
from typing import TypeVar

T = TypeVar("T")


class OrderedSet(MutableSet[T]):
    """A set that keeps the order in which its elements came, so that what is drawn from it is the same every time.

    Example:
        >>> OrderedSet([3, 1, 3, 2])
        OrderedSet([3, 1, 2])
    """

    def __init__(self, elements: Iterable[T] = ()) -> None:
        self._elements: dict[T, None] = dict.fromkeys(elements)

    def __contains__(self, element: object) -> bool:
        return element in self._elements

    def __iter__(self) -> Iterator[T]:
        return iter(self._elements)

    def __len__(self) -> int:
        return len(self._elements)

    def __repr__(self) -> str:
        return f"OrderedSet({list(self)})"

    def add(self, value: T) -> None:
        """Add an element; one that is there already keeps its place."""
        self._elements.setdefault(value)

    def discard(self, value: T) -> None:
        """Take an element out, if it is there."""
        self._elements.pop(value, None)
