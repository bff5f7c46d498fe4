"""The longest way through a graph, and how deep and wide it is."""

from __future__ import annotations

from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from trec.analysis.costs import flops_of_rows
from trec.analysis.iterations import reached
from trec.analysis.table import lines, plain
from trec.errors import OptionError
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from typing import Any

    from trec.ir.graph import Graph

_BY = ("count", "flops")


class Stop(Struct, frozen=True):
    """One node on a path."""

    node: str
    """Its name."""
    weight: int
    """What it adds: 1 or its FLOPs, once for each time that the path leads through it."""


class Path(Struct, frozen=True):
    """The heaviest path through a graph: what would still take its time if all else were free."""

    by: str
    """What was added up: `count` of steps, or `flops`."""
    total: int
    """The sum along the path."""
    stops: tuple[Stop, ...]
    """The nodes on it, in program order."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the nodes on the path as plain rows."""
        return plain(self.stops)

    def __str__(self) -> str:
        return "\n".join(lines((f"{self.total:,} {self.by}", self.by), [(s.node, s.weight) for s in self.stops]))


def critical_path(graph: Graph, by: Literal["count", "flops"] = "count") -> Path:
    """Return the heaviest path of the data flow.

    What was folded is followed through all its iterations, so the path is as heavy as in the graph before.

    Args:
        graph: what to look at.
        by: what weighs: every step alike, or its floating point operations, where these were counted.

    Raises:
        OptionError: `by` is neither, or folded calls stand for more than 10,000,000 steps.

    Cost: linear in the steps that ran.
    """
    if by not in _BY:
        raise OptionError(f"by must be one of {', '.join(map(repr, _BY))}, not {by!r}")
    weights = _weights(graph, by)
    passed: Counter[int] = Counter()
    last = max(reached(graph, weights), key=itemgetter(0), default=None)
    total = last[0] if last is not None else 0
    while last is not None:
        passed[last[1]] += 1
        last = last[2]
    stops = [Stop(graph.nodes[index].name, weights[index] * times) for index, times in sorted(passed.items())]
    return Path(by, total, tuple(stops))


def _weights(graph: Graph, by: str) -> list[int]:
    flops = flops_of_rows(graph) if by == "flops" else []
    return [flops[node.attrs] if by == "flops" else int(is_step(node.kind)) for node in graph.nodes]


def is_step(kind: str) -> bool:
    """Return whether a node of that kind does something, rather than bring a value in or out."""
    return kind not in SOURCE_KINDS and kind not in ("output", "link")


def levels(graph: Graph) -> list[int]:
    """Return for each node how many steps the longest way to it has, itself included."""
    found: list[int] = []
    for node in graph.nodes:
        before = max([found[graph.producers[value]] for value in node.inputs], default=0)
        found.append(before + is_step(node.kind))
    return found
