"""Where in which loop a value is made: what lets the iterations of one loop read those of another one by one."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from trec.analysis.groups import GROUPS

if TYPE_CHECKING:
    from trec.analysis.blocks import Blocks
    from trec.analysis.loop import Loop

Place = tuple[int, int, int]
"""The first step of a loop, the number of an iteration, and a position that is the same in all of them.

For a value that is the place among those that the iteration makes; sources of its own count from -1 downwards.
"""


class Places:
    """The loops of a program that do not overlap, in program order, and what belongs to their iterations."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks = blocks
        self.loops: list[Loop] = []
        self._starts: list[int] = []
        self._sources: dict[int, Place] = {}
        self._initial: dict[tuple[int, int], int] = {}
        """What a loop begins with, where its iterations read what the one before made, by loop and position of that."""

    def add(self, loop: Loop) -> None:
        """Take in a loop that begins behind all others."""
        self.loops.append(loop)
        self._starts.append(loop.start)
        for number, values in enumerate(loop.own):
            for position, value in enumerate(values):
                self._sources[value] = (loop.start, number, ~position)
        for _, value, position in loop.carried:
            passed = self._passed(value)
            if self._initial.setdefault((loop.start, position), passed) != passed:
                self._initial[loop.start, position] = -1

    def around(self, step: int) -> Loop | None:
        """Return the loop that a step is part of."""
        at = bisect_right(self._starts, step) - 1
        return self.loops[at] if at >= 0 and step < self.loops[at].end else None

    def of_source(self, value: int) -> Place | None:
        """Return where a parameter, buffer or constant belongs that each iteration of a loop has one of."""
        return self._sources.get(value)

    def of_value(self, value: int) -> Place | None:
        """Return where a step of a loop makes a value, or a source of its own brings one in."""
        number, first = self.blocks.number[value], self.blocks.first
        if number < 0:
            return self._sources.get(value)
        loop = self.around(bisect_right(first, number) - 1)
        if loop is None:
            return None
        low = first[loop.start]
        iteration, position = divmod(number - low, first[loop.start + loop.length] - low)
        return loop.start, iteration, position

    def of_values(self, value: int, other: int) -> tuple[Place | None, Place | None]:
        """Return where two values are made that are read at one place.

        What a loop begins with is as if an iteration before the first had made it.
        """
        one, two = self.of_value(value), self.of_value(other)
        if two is not None and self.begins(value, two[0], two[2]):
            return (two[0], -1, two[2]), two
        if one is not None and self.begins(other, one[0], one[2]):
            return one, (one[0], -1, one[2])
        return one, two

    def is_carried(self, place: Place) -> bool:
        """Return whether what is made at a place is handed to the next iteration."""
        return (place[0], place[2]) in self._initial

    def begins(self, value: int, start: int, position: int) -> bool:
        """Return whether a loop begins with a value where later iterations read what was made at a position before."""
        return self._initial.get((start, position)) == self._passed(value)

    def _passed(self, value: int) -> int:
        """Return the value that is the same tensor under another name, before modules and operators passed it on."""
        graph = self.blocks.graph
        while True:
            maker = graph.nodes[graph.producers[value]]
            same = any(GROUPS[group](graph, maker) for group in ("identity", "dropout", "cast"))
            if not (same and graph.values[maker.inputs[0]].type == graph.values[value].type):
                return value
            value = maker.inputs[0]

    def of_node(self, index: int) -> Place | None:
        """Return where a step of a loop is, or a source of its own."""
        step = step_of(self.blocks, index)
        if step < 0:
            outputs = self.blocks.graph.nodes[index].outputs
            return self._sources.get(outputs[0]) if outputs else None
        loop = self.around(step)
        return None if loop is None else (loop.start, *divmod(step - loop.start, loop.length))

    def of_nodes(self, index: int, other: int) -> tuple[Place | None, Place | None]:
        """Return where two steps are that are differentiated at one place; what a loop begins with is as for values."""
        one, two = self.of_node(index), self.of_node(other)
        if one is None and two is not None and self._makes_initial(index, two):
            return (two[0], -1, two[2]), two
        if two is None and one is not None and self._makes_initial(other, one):
            return one, (one[0], -1, one[2])
        return one, two

    def makes_carried(self, place: Place) -> bool:
        """Return whether a step at a place makes something that is handed to the next iteration."""
        return any((place[0], position) in self._initial for position in self._made_by(place))

    def _makes_initial(self, index: int, place: Place) -> bool:
        """Return whether a node makes what a loop begins with, and later iterations read of a step at a place."""
        outputs = self.blocks.graph.nodes[index].outputs
        return any(self.begins(value, place[0], position) for position in self._made_by(place) for value in outputs)

    def _made_by(self, place: Place) -> range:
        """Return the positions of the values that a step makes, among those that its iteration makes."""
        start, _, step = place
        if step < 0:  # a source
            return range(0)
        low = self.blocks.first[start]
        return range(self.blocks.first[start + step] - low, self.blocks.first[start + step + 1] - low)


def step_of(blocks: Blocks, index: int) -> int:
    """Return which step a node is; -1 if it is none."""
    step = bisect_left(blocks.steps, index)
    return step if step < len(blocks.steps) and blocks.steps[step] == index else -1
