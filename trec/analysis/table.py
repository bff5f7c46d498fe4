"""Rows of results as plain values and as aligned text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from msgspec import Struct


def plain(items: Iterable[Struct]) -> list[dict[str, Any]]:
    """Return rows as dicts of strings, numbers and lists, ready for JSON or a data frame."""
    return [to_builtins(item) for item in items]


def lines(heads: Sequence[str], rows: Iterable[Sequence[object]], *, texts: int = 1) -> Iterator[str]:
    """Yield the lines of a table: the first columns to the left, others to the right, large numbers with commas.

    Args:
        heads: names of the columns.
        rows: the cells of each row.
        texts: how many columns stand to the left.
    """
    cells = [[f"{cell:,}" if type(cell) is int else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    for row in [list(heads), *cells]:
        yield "  ".join(
            [
                cell.ljust(width) if at < texts else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
        ).rstrip()


def bytes_text(count: int) -> str:
    """Return a number of bytes as it is read best, such as `1.5 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"
