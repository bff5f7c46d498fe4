"""What a graph of several runs says of them: one set of attributes, read and written here only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Attr, AttrRow, Node, Scope

RUNS = "runs"
"""Attribute of the graph: the names of its runs. Of a node or scope that did not run in all: positions of its runs."""
READ_IN, MADE_IN = "read_in", "made_in"
"""Attributes of a node: for each port of its inputs, or results, that is not there in all its runs, the port and those
runs."""
EITHER = "either"
"""Op of a link that yields, in each run, the one of its inputs that `READ_IN` gives to that run."""

_MARKS = frozenset({RUNS, READ_IN, MADE_IN})

Runs = tuple[int, ...]
"""Positions of runs, ascending."""


def run_names(graph: Graph) -> tuple[str, ...]:
    """Return the names of the runs that a graph is of; empty for a graph of a single one."""
    found = dict(graph.meta).get(RUNS)
    return tuple(map(str, found)) if isinstance(found, tuple) else ()


def runs_of(graph: Graph, row: Node | Scope) -> Runs:
    """Return the runs that a node or scope ran in."""
    found = dict(graph.attrs[row.attrs]).get(RUNS)
    return _runs(found) if found is not None else tuple(range(len(run_names(graph))))


def ports(graph: Graph, node: Node, mark: str) -> dict[int, Runs]:
    """Return, for the ports that are not there in all runs of a node, the runs in which they are.

    Args:
        graph: a graph of several runs.
        node: one of its nodes.
        mark: `READ_IN` for its inputs, `MADE_IN` for its results.
    """
    rows = dict(graph.attrs[node.attrs]).get(mark)
    if not isinstance(rows, tuple):
        return {}
    return {row[0]: _runs(row[1]) for row in rows if isinstance(row, tuple) and isinstance(row[0], int)}


def marks(
    runs: Collection[int], of: int, read: Iterable[tuple[int, Runs]] = (), made: Iterable[tuple[int, Runs]] = ()
) -> AttrRow:
    """Return the attributes that say in which of so many runs a node ran, and its ports that only some of them have."""
    found: list[tuple[str, Attr]] = [(RUNS, tuple(sorted(runs)))] if len(runs) < of else []
    found += [(name, tuple(rows)) for name, rows in ((READ_IN, read), (MADE_IN, made)) if rows]
    return tuple(found)


def beside_runs(row: AttrRow) -> AttrRow:
    """Return attributes under names that leave room for those that tell runs apart."""
    return tuple([(f"{name}_" if name.rstrip("_") in _MARKS else name, value) for name, value in row])


def without_runs(row: AttrRow) -> AttrRow:
    """Return attributes without those that tell runs apart, others under their own names again."""
    rest = [pair for pair in row if pair[0] not in _MARKS]
    return tuple([(name[:-1] if name.rstrip("_") in _MARKS else name, value) for name, value in rest])


def named_runs(count: int, names: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of so many runs: those given, or their numbers from 1.

    Raises:
        OptionError: there are no runs, or the names do not fit.
    """
    if not count:
        raise OptionError("there are no graphs: expected one for each run, at least one")
    if names is not None and not isinstance(names, Iterable):
        raise OptionError(f"names={names!r} is no list of names: expected {count}, one for each graph")
    found = tuple(map(str, names)) if names is not None else tuple([str(at + 1) for at in range(count)])
    if len(found) != count or len(set(found)) != count:
        raise OptionError(f"names={found!r} do not fit: expected {count} names, all different, one for each graph")
    return found


def _runs(found: object) -> Runs:
    return tuple([run for run in found if isinstance(run, int)]) if isinstance(found, tuple) else ()
