"""Tables in which equal rows are stored once, and text that any writer can encode."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from trec.ir.types import AttrRow

Row = TypeVar("Row")


class Table(Generic[Row]):
    """Rows in order of first appearance, each stored once.

    Two rows are the same when they are equal *and* print alike, so `1`, `1.0` and `True` stay apart.
    """

    __slots__ = ("_index", "_rows")

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows: list[Row] = []
        self._index: dict[Hashable, int] = {}
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> int:
        """Return the position of the row, which is appended if it is new."""
        key: Hashable = repr(row) if type(row) is tuple else row
        position = self._index.get(key)
        if position is None:
            position = self._index[key] = len(self._rows)
            self._rows.append(row)
        return position

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, position: int) -> Row:
        return self._rows[position]


def clean(text: str) -> str:
    """Return the text with lone surrogates, which no encoding can write, replaced by U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class AttrTable(Table["AttrRow"]):
    """Rows of attributes, stored in the form that every writer can write; the first is the empty row."""

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}
        super().__init__([()])

    def add(self, row: AttrRow) -> int:
        """Return the position of the row, which is appended if it is new."""
        key = repr(row)
        position = self._seen.get(key)
        if position is None:
            position = self._seen[key] = super().add(storable(row))
        return position

    def append(self, row: AttrRow) -> int:
        """Return the position of a row that is known to be new and storable, which spares the look-up."""
        self._rows.append(row)
        return len(self._rows) - 1


def storable(row: AttrRow) -> AttrRow:
    """Return the row as `types.Attr` wants it: finite floats, ints of 64 bits, text without lone surrogates."""
    return tuple([(clean(name), _storable(value)) for name, value in row])


def _storable(value: Any) -> Any:
    if type(value) is str:
        return clean(value)
    if type(value) is float:
        return value if isfinite(value) else str(value)
    if type(value) is int:
        return value if -(2**63) <= value < 2**64 else hex(value)
    return tuple(map(_storable, value)) if type(value) is tuple else value
