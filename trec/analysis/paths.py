"""The longest way through a graph, and how deep and wide it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from trec.analysis.table import lines, plain
from trec.errors import OptionError
from trec.ir.types import FLOPS, SOURCE_KINDS

if TYPE_CHECKING:
    from typing import Any

    from trec.ir.graph import Graph

_BY = ("count", "flops")


class Stop(Struct, frozen=True):
    """One node on a path."""

    node: str
    """Its name."""
    weight: int
    """What it adds: 1 or its FLOPs, once for each call that it stands for."""


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

    Args:
        graph: what to look at.
        by: what weighs: every step alike, or its floating point operations, where these were counted.

    Raises:
        OptionError: `by` is neither.
    """
    if by not in _BY:
        raise OptionError(f"by must be one of {', '.join(map(repr, _BY))}, not {by!r}")
    weights = _weights(graph, by)
    best: list[int] = []
    came: list[int] = []
    for index, node in enumerate(graph.nodes):
        before = max([graph.producers[value] for value in node.inputs], key=best.__getitem__, default=-1)
        best.append(weights[index] + (best[before] if before >= 0 else 0))
        came.append(before)
    index = max(range(len(best)), key=best.__getitem__, default=-1)
    total = best[index] if index >= 0 else 0
    stops = []
    while index >= 0:
        stops.append(Stop(graph.nodes[index].name, weights[index]))
        index = came[index]
    return Path(by, total, tuple(reversed(stops)))


def _weights(graph: Graph, by: str) -> list[int]:
    flops = [dict(row).get(FLOPS, 0) for row in graph.attrs]
    weights = []
    for node in graph.nodes:
        times = graph.counts[node.scope if node.scope >= 0 else node.parent]
        found = flops[node.attrs] if by == "flops" else int(is_step(node.kind))
        weights.append(times * found if isinstance(found, int) else 0)
    return weights


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
