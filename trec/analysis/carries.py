"""What a loop carries between the iterations of loops that lie in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trec.analysis.blocks import Blocks
    from trec.analysis.loop import Loop
    from trec.analysis.places import Places

_End = tuple[tuple[str | int, ...], int]
"""What must be the same in each iteration, and a number that counts on by a fixed step."""


class Carries:
    """The carried values of a program, by the nodes that make and read them."""

    def __init__(self, blocks: Blocks, places: Places) -> None:
        self.blocks, self.places = blocks, places
        self._of: dict[int, list[tuple[str, int, int, int]]] = {}
        """For each node what it makes or reads so: which, its port, the node at the other end, and the loop."""
        producers = blocks.graph.producers
        for edge in blocks.graph.carried:
            maker = producers[edge.value]
            port = blocks.graph.nodes[maker].outputs.index(edge.value)
            self._of.setdefault(edge.node, []).append(("to", edge.port, maker, edge.loop))
            self._of.setdefault(maker, []).append(("from", port, edge.node, edge.loop))

    def cuts(self, loop: Loop, starts: Collection[int], *, outside: bool) -> set[int]:
        """Return the steps at which a loop must end because its iterations go on otherwise in a loop around it.

        Args:
            loop: what to look at.
            starts: first steps of the loops that count as such.
            outside: whether what is outside of these counts.
        """
        ends = [sorted(self._ends(loop, number, starts, outside=outside)) for number in range(loop.count)]
        found = set()
        for at in range(1, loop.count):
            alike = [what for what, _ in ends[at]] == [what for what, _ in ends[at - 1]]
            if not alike or _steps(ends[at], ends[at - 1]) != _steps(ends[1], ends[0]):
                found.add(loop.start + loop.length * at)
        return found

    def _ends(self, loop: Loop, number: int, starts: Collection[int], *, outside: bool) -> Iterator[_End]:
        """Yield where what an iteration reads or makes so comes from or goes to."""
        first = loop.start + loop.length * number
        for at in range(loop.length):
            for which, port, other, around in self._of.get(self.blocks.steps[first + at], ()):
                place = self.places.of_node(other)
                if place is not None and place[0] in starts:
                    inside = place[0] == loop.start
                    step = place[1] - number if inside else place[1]
                    yield (which, at, port, around, place[0], place[2], step if inside else 0), 0 if inside else step
                elif outside:
                    yield (which, at, port, around, -1, other, 0), 0


def _steps(here: list[_End], before: list[_End]) -> list[int]:
    return [number - earlier for (_, number), (_, earlier) in zip(here, before, strict=False)]
