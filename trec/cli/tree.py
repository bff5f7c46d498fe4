"""The calls of modules as a tree with columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.table import lines as aligned
from trec.cli.terminal import can_show, painted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from trec.backends.table import Row, Table

_TEXTS = 4
"""The columns that are text: module, class, shapes in and out."""
_MARKS = ("│  ", "├─ ", "└─ ")
_PLAIN_MARKS = ("|  ", "|- ", "`- ")


def chosen(calls: Sequence[Row], names: Collection[str] | None, depth: int | None) -> list[Row]:
    """Return calls and what is in them, in their order.

    Args:
        calls: all calls, each before what is in it.
        names: names of calls to begin with; None for the first.
        depth: how many levels below these to go; None for all.
    """
    found: list[Row] = []
    top: int | None = None
    for row in calls:
        if top is not None and row.depth <= top:
            top = None
        if top is None and (row.name in names if names is not None else row is calls[0]):
            top = row.depth
        if top is not None and (depth is None or row.depth - top <= depth):
            found.append(row)
    return found


def lines(table: Table) -> Iterator[str]:
    """Yield the heads of a table, its rows as a tree, and the sums of the whole graph."""
    marks = branches([row.depth for row in table.calls])
    cells = [
        (mark + str(name)[2 * row.depth :], *rest)
        for mark, row, (name, *rest) in zip(marks, table.calls, table.cells(), strict=True)
    ]
    head, *body = aligned(table.heads(), cells, texts=_TEXTS)
    yield painted(head, "bold")
    for mark, line in zip(marks, body, strict=True):
        yield painted(mark, "dim") + line[len(mark) :]
    yield table.total()


def branches(depths: Sequence[int]) -> list[str]:
    """Return what stands before each row of a tree, given how deep the rows are.

    Example:
        >>> branches([0, 1, 2, 1])
        ['', '├─ ', '│  └─ ', '└─ ']
    """
    past, fork, corner = _MARKS if can_show("".join(_MARKS)) else _PLAIN_MARKS
    top = min(depths)
    found: list[str] = []
    goes_on: set[int] = set()  # the depths at which another row follows below the same one
    for depth in reversed(depths):
        goes_on = {level for level in goes_on if level <= depth}
        around = [past if level in goes_on else "   " for level in range(top + 1, depth)]
        own = "" if depth == top else fork if depth in goes_on else corner
        found.append("".join([*around, own]))
        goes_on.add(depth)
    return found[::-1]
