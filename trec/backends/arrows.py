"""What edges look like: what each shares with many others, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.backends import labels
from trec.backends.drawing import Arrow
from trec.ir.tables import Table
from trec.ir.types import UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trec.backends.bundles import Bundles
    from trec.ir.graph import Graph
    from trec.ir.types import NodeKind

PLAIN, DASHED, CARRIED, ADDED, REMOVED = range(5)
"""Positions of strokes in a drawing."""

STATE: tuple[NodeKind, ...] = ("param", "buffer", "constant")
"""Kinds of nodes from which no trunk comes."""


class Arrows(Table[Arrow]):
    """The arrows of a picture in order of first appearance."""

    __slots__ = ("_graph", "_notes")

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph
        self._notes = [
            f": {labels.shape(type_, type_.dtype) or UNKNOWN}, {type_.dtype}, {type_.device}" for type_ in graph.types
        ]

    def of(self, value: int, label: str, stroke: int) -> int:
        """Return the index of an arrow for a value, given its words and its stroke."""
        return self.add(Arrow(label, self._notes[self._graph.values[value].type], stroke, main=True))

    def uses(self, types: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return for each value, given its type, the plain arrow of its first use, and that of all others."""
        first = [self.add(Arrow("", note, PLAIN, main=True)) for note in self._notes]
        later = [self.add(Arrow("", note, PLAIN, main=False)) for note in self._notes]
        firsts, laters = [first[type_] for type_ in types], [later[type_] for type_ in types]
        nodes, of_kind = self._graph.nodes, self._graph.of_kind
        for index in [index for kind in STATE for index in of_kind.get(kind, ())]:
            for value in nodes[index].outputs:
                firsts[value] = laters[value]
        return firsts, laters

    def vary(
        self, bundles: Bundles, strokes: Mapping[int, int], words: Mapping[int, str], lengths: Mapping[int, int]
    ) -> None:
        """Give edges other arrows than the plain ones.

        Args:
            bundles: the edges.
            strokes: those that are not plain.
            words: what is written along edges.
            lengths: those that are not 1.
        """
        known: dict[tuple[int, int, str, int, int], int] = {}
        flows = _flows(bundles)
        for edge in {**strokes, **words, **lengths, **flows}:
            arrow = bundles.arrows[edge]
            key = (arrow, strokes.get(edge, PLAIN), words.get(edge, ""), lengths.get(edge, 1), flows.get(edge, -1))
            varied = known.get(key)
            if varied is None:
                _, stroke, label, length, flow = key
                varied = known[key] = self.add(
                    replace(self[arrow], stroke=stroke, label=label, length=length, flow=flow)
                )
            bundles.arrows[edge] = varied


def _flows(bundles: Bundles) -> dict[int, int]:
    """Return for each edge of several values a number, which is equal where the same flows from one box."""
    numbers: dict[tuple[int, ...], int] = {}
    return {
        edge: numbers.setdefault((bundles.sources[edge], bundles.values[edge], *others), len(numbers))
        for edge, others in bundles.others.items()
    }
