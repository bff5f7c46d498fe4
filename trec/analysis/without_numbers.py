"""Attributes without their whole numbers, which may count on from one iteration of a loop to the next."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable

    from trec.ir.types import AttrRow

_NUMBER = re.compile(r"-?\b\d{1,18}\b")


def without_numbers(row: AttrRow, ints: list[int]) -> Hashable:
    """Return the attributes with every int replaced, and add the ints to a list."""

    def walk(value: Any) -> Hashable:
        if type(value) is int:
            ints.append(value)
            return "#"
        if type(value) is str:  # slices are text, such as 2:3
            ints.extend(map(int, _NUMBER.findall(value)))
            return _NUMBER.sub("#", value)
        return tuple(map(walk, value)) if type(value) is tuple else repr(value)

    return tuple([(name, walk(value)) for name, value in row])
