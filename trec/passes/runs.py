"""Group the members of calls into segments that change no order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.types import SOURCE_KINDS
from trec.passes.grouping import Grouping, Segment, carry, is_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Node

_NO_STEP = SOURCE_KINDS | {"output"}
_STEP, _UNREAD, _STAY = -1, -2, -3


def runs(graph: Graph, groups: Sequence[int]) -> Grouping:
    """Group the members of each call that follow one another without a foreign step between.

    A call during which foreign steps ran gives several segments. So the steps keep their order, whatever depends on
    what, and it makes no difference whether inner calls were grouped before. Sources and outputs are no steps: they
    give way to the segment that they stand in, and a source that only one segment of its own call reads is part of it.

    Args:
        graph: the program.
        groups: for each scope, the scope that its nodes are grouped in, or -1.
    """
    found = _Runs(graph, groups)
    readers, outside = found.readers, found.outside
    current, made = -1, 0
    segment, first, members, uses = found.turn(current, made)
    for index, node in enumerate(graph.nodes):
        if node.kind in _NO_STEP and found.put_aside(index, node):
            made += len(node.outputs)
            continue
        group = groups[node.parent]
        if group != current:
            current = group
            segment, first, members, uses = found.turn(group, made)
        elif found.waiting:
            found.pass_sources()
        made += len(node.outputs)
        members.append(index)
        for value in node.inputs:
            reader = readers[value]
            if reader == _STEP:
                if value < first:
                    uses.append(value)
                    outside[value] = 1
            else:
                uses.append(value)
                if reader == _UNREAD:
                    readers[value] = segment
                elif reader != segment:
                    outside[value] = 1
    found.turn(-1, made)
    grouping = found.grouping()
    carry(graph, groups, grouping)
    return grouping


class _Runs:
    """What `runs` has seen of a program so far."""

    def __init__(self, graph: Graph, groups: Sequence[int]) -> None:
        self.nodes, self.groups = graph.nodes, groups
        self.segments: list[Segment] = []
        self.spans: list[tuple[int, int]] = []
        """For each segment that has ended, the first value made since it began, and the first made after it."""
        self.first = 0
        self.order: list[int] = []
        self.waiting: list[int] = []
        """Sources and outputs since the last member of the segment that has not ended."""
        self.stored: list[int] = []
        """Sources that may become part of a segment."""
        self.readers = [_STEP] * len(graph.values)
        """For each value the first reader, if a source made it: a segment, or `_STAY`."""
        self.outside = bytearray(len(graph.values))
        """For each value, whether it is read outside the segment that made it, or outside the first that read it."""
        for edge in graph.carried:
            if is_source(self.nodes[graph.producers[edge.value]]):  # a loop reads it, so it stays
                self.outside[edge.value] = 1

    def put_aside(self, index: int, node: Node) -> bool:
        """Take in a node of a kind that is no step; return False if it is one all the same."""
        if node.kind == "output":
            self.outside[node.inputs[0]] = 1
        elif node.inputs:
            return False
        else:
            self.readers[node.outputs[0]] = _UNREAD
            if node.kind != "input" and self.groups[node.parent] >= 0:
                self.stored.append(index)
        (self.order if len(self.spans) == len(self.segments) else self.waiting).append(index)
        return True

    def pass_sources(self) -> None:
        """Place the sources that wait before the segment, since it goes on."""
        nodes = self.nodes
        self.order += [index for index in self.waiting if nodes[index].kind != "output"]
        self.waiting = [index for index in self.waiting if nodes[index].kind == "output"]

    def turn(self, group: int, made: int) -> tuple[int, int, list[int], list[int]]:
        """End the last segment, and begin one or let nodes stay.

        Returns:
            The segment, the first value that is made inside it (values are numbered as they are made), where its
            members go, and where the values that it reads from outside go. To nodes that stay every value is outside.
        """
        position = len(self.segments)
        if len(self.spans) < position:
            self.spans.append((self.first, made))
            self.order.append(~(position - 1))
            self.order += self.waiting
            self.waiting = []
        if group < 0:
            return _STAY, len(self.readers), self.order, []
        self.first = made
        segment = Segment(group)
        self.segments.append(segment)
        return position, made, segment.members, segment.inputs

    def grouping(self) -> Grouping:
        """Return the result, with the outputs of each segment and the sources that only it reads."""
        nodes, segments, readers, outside = self.nodes, self.segments, self.readers, self.outside
        for segment, (first, end) in zip(segments, self.spans, strict=True):
            value = outside.find(1, first, end)
            while value >= 0:
                if readers[value] == _STEP:
                    segment.outputs.append(value)
                value = outside.find(1, value + 1, end)
        absorbed = bytearray(len(nodes))
        inner = bytearray(len(outside))
        for index in self.stored:
            node = nodes[index]
            (value,) = node.outputs
            reader = readers[value]
            if reader >= 0 and not outside[value] and segments[reader].scope == self.groups[node.parent]:
                segments[reader].sources.append(index)
                absorbed[index] = inner[value] = 1
        order = [index for index in self.order if index < 0 or not absorbed[index]]
        for segment in segments:
            if segment.sources:
                segment.inputs = [value for value in segment.inputs if not inner[value]]
        return Grouping(segments, order)
