"""Group the members of calls into segments that change no order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import chain, compress
from operator import itemgetter
from typing import TYPE_CHECKING

from trec.ir.types import SOURCE_KINDS
from trec.passes.grouping import Grouping, Segment, carry, is_source

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Node

_STEP, _UNREAD, _STAY = -1, -2, -3


def segments(graph: Graph, groups: Sequence[int]) -> Grouping:
    """Group the members of each call that follow one another without a foreign step between.

    A call during which foreign steps ran gives several segments. So the steps keep their order, whatever depends on
    what, and it makes no difference whether inner calls were grouped before. Sources and outputs are no steps: they
    give way to the segment that they stand in, and a source that only one segment of its own call reads is part of it.

    Args:
        graph: the program.
        groups: for each scope, the scope that its nodes are grouped in, or -1.
    """
    found = _Runs(graph, groups)
    spans, readers, outside = found.spans, found.readers, found.outside
    current = last = -1
    segment, first = _STAY, len(readers)
    begin = made = 0
    reads: list[int] = []
    for index, node in enumerate(graph.nodes):
        if node.kind != "op" and found.gives_way(index, node):
            made += len(node.outputs)
            continue
        group = groups[node.parent]
        if group != current:
            if current >= 0:
                spans.append((current, begin, last + 1, first, made, reads))
            current, begin, reads = group, index, []
            segment, first = (len(spans), made) if group >= 0 else (_STAY, len(readers))
        last = index
        made += len(node.outputs)
        for value in node.inputs:
            reader = readers[value]
            if reader == _STEP and value >= first:
                continue
            reads.append(value)
            if reader == _UNREAD:
                readers[value] = segment
            elif reader != segment:
                outside[value] = 1
    if current >= 0:
        spans.append((current, begin, last + 1, first, made, reads))
    grouping = found.grouping()
    carry(graph, groups, grouping)
    return grouping


class _Runs:
    """What `runs` has seen of a program so far."""

    def __init__(self, graph: Graph, groups: Sequence[int]) -> None:
        self.groups = groups
        self.spans: list[tuple[int, int, int, int, int, list[int]]] = []
        """For each segment its call, the first node and the one behind the last, the first value made since it began
        and the first made after it, and the values that it reads and no step in it made."""
        self.special: list[int] = []
        """Steps that are no operators."""
        self.outputs: list[int] = []
        """The nodes that are outputs of the graph."""
        self.aside = bytearray(len(graph.nodes))
        """For each node, whether it is a source or an output."""
        self.parameters: dict[int, int] = {}
        self.stored: list[tuple[int, int, int]] = []
        """Sources that may become part of a segment: the node, its value and the call that it lies in."""
        self.readers = [_STEP] * len(graph.values)
        """For each value that a source made, the first segment that reads it, or `_STAY`."""
        self.outside = bytearray(len(graph.values))
        """For each value, whether it is read outside the segment that made it, or outside the first that read it."""
        for edge in graph.carried:
            if is_source(graph.nodes[graph.producers[edge.value]]):  # a loop reads it, so it stays
                self.outside[edge.value] = 1

    def gives_way(self, index: int, node: Node) -> bool:
        """Take in a node that is no operator; return whether it is no step either."""
        kind = node.kind
        if kind == "output":
            self.outside[node.inputs[0]] = 1
            self.outputs.append(index)
            self.aside[index] = 1
            return True
        if kind == "param":
            self.parameters[node.outputs[0]] = index
        if node.inputs or kind not in SOURCE_KINDS:
            self.special.append(index)
            return False
        (value,) = node.outputs
        self.readers[value] = _UNREAD
        self.aside[index] = 1
        group = self.groups[node.parent]
        if group >= 0 and kind != "input":
            self.stored.append((index, value, group))
        return True

    def grouping(self) -> Grouping:
        """Return the result, with the outputs of each segment and the sources that only it reads."""
        spans, readers, outside, special = self.spans, self.readers, self.outside, self.special
        sources: list[list[int]] = [[] for _ in spans]
        inner = bytearray(len(outside))
        for index, value, group in self.stored:
            reader = readers[value]
            if reader >= 0 and not outside[value] and spans[reader][0] == group:
                sources[reader].append(index)
                inner[value] = 1
        segments = []
        for (scope, begin, end, first, made, reads), own in zip(spans, sources, strict=True):
            outputs = []
            value = outside.find(1, first, made)
            while value >= 0:
                if readers[value] == _STEP:
                    outputs.append(value)
                value = outside.find(1, value + 1, made) if value + 1 < made else -1
            inputs = [value for value in reads if not inner[value]] if own else reads
            others = special[bisect_left(special, begin) : bisect_left(special, end)] if special else ()
            segments.append(Segment(scope, range(begin, end), own, inputs, outputs, reads, others))
        return Grouping(segments, self.order(sources), self.aside, self.parameters)

    def order(self, sources: Iterable[Iterable[int]]) -> list[int]:
        """Return the new program: a segment stands where its last member stood, and outputs in it follow.

        Args:
            sources: those that are part of each segment.
        """
        order = list(range(len(self.aside)))
        inside, stays = bytearray(self.aside), bytearray(b"\1") * len(self.aside)
        for index in chain.from_iterable(sources):
            inside[index] = stays[index] = 0
        for index in self.outputs:
            inside[index] = 0
        for position, (_, begin, end, *_) in enumerate(self.spans):
            order[end - 1] = ~position
            if end - begin > 1:
                stays[begin : end - 1] = inside[begin : end - 1]
        late: dict[int, list[int]] = {}
        for index in self.outputs:
            position = bisect_right(self.spans, index, key=itemgetter(1)) - 1
            if position >= 0 and index < self.spans[position][2]:
                late.setdefault(~position, []).append(index)
        found = list(compress(order, stays))
        return [each for index in found for each in (index, *late.get(index, ()))] if late else found
