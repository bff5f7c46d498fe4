"""Which nodes become one: the result of `segments` and of `fewest_segments`, and what passes make of it."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.ir.builder import unique
from trec.ir.collectives import is_rank
from trec.ir.types import SOURCE_KINDS, TIMES, Carried, Node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow


class Segment(Struct, eq=False, gc=False):
    """Nodes of one call that become one node."""

    scope: int
    """Index into `Graph.scopes` of the call."""
    span: Sequence[int] = []
    """Indices into `Graph.nodes` in program order: its members, and such as gave way to them (see `Grouping.aside`)."""
    sources: list[int] = []
    """Indices into `Graph.nodes` of the parameters, buffers and constants that only its members read."""
    inputs: list[int] = []
    """Indices into `Graph.values`, one entry per use of a value from outside, in program order."""
    outputs: list[int] = []
    """Indices into `Graph.values` of what is read outside, in order of production."""
    reads: list[int] = []
    """The inputs, and among them what its sources bring in, where `runs` found it."""
    special: Sequence[int] = []
    """Those of its members that are no operators, where `runs` found them."""


class Grouping(Struct, eq=False):
    """A program in which segments stand for their members."""

    segments: list[Segment]
    """In the order in which they begin."""
    order: list[int]
    """The new program: the index of a node that stays, or `~s` for the segment `s`."""
    aside: bytearray = bytearray()
    """For each node whether it is a source or an output, which is no member of the segment that it stands in; empty if
    none stands in one."""
    parameters: dict[int, int] = {}
    """For each value that is a parameter, the index of the node that brings it in, where `runs` found them."""
    carried: list[tuple[int, Carried]] = []
    """What loops carry between the nodes of the new program, each with the value that is read in its place at first
    (-1 if unknown). Nodes are positions in `order`, ports those of nodes that stay."""

    def members(self, segment: Segment) -> list[int]:
        """Return the indices of the nodes that a segment stands for, without its sources, in program order."""
        aside = self.aside
        return [index for index in segment.span if not aside[index]] if aside else list(segment.span)

    def size(self, segment: Segment) -> int:
        """Return how many nodes a segment stands for, without its sources."""
        span = segment.span
        return self.aside.count(0, span[0], span[-1] + 1) if self.aside and len(span) > 1 else len(span)


def is_source(node: Node) -> bool:
    """Return whether a node brings a value in and depends on nothing."""
    return not node.inputs and node.kind in SOURCE_KINDS


def segment_names(graph: Graph, grouping: Grouping, scopes: Iterable[int]) -> list[str]:
    """Return a name for the node of each segment: that of its call, with a number if it is not the first of it.

    Args:
        graph: the program.
        grouping: its segments, and the nodes that stay.
        scopes: indices of the scopes that stay.
    """
    names = [graph.scopes[segment.scope].name for segment in grouping.segments]
    later: list[int] = []
    begun = bytearray(len(graph.scopes))
    for position, segment in enumerate(grouping.segments):
        if begun[segment.scope]:
            later.append(position)
        begun[segment.scope] = 1
    if later:
        taken = dict.fromkeys(names, 0)
        taken |= {graph.nodes[index].name: 0 for index in grouping.order if index >= 0}
        taken |= {graph.scopes[index].name: 0 for index in scopes}
        for position in later:
            names[position] = unique(names[position], taken)
    return names


def moved_out(graph: Graph, node: Node, groups: Sequence[int], attrs: list[AttrRow]) -> Node:
    """Return a node that stays, held by the nearest open module, loop or part of a rank around it.

    If loops do not hold it any more, it says for how many it stands in a row that is appended to `attrs`.
    """
    parent = groups[node.parent]
    if parent < 0:
        return node
    depth = graph.scopes[parent].depth or 1
    parent = graph.scopes[parent].parent
    while parent > 0 and not (
        graph.scopes[parent].kind == "module" or graph.scopes[parent].repeats or is_rank(graph, parent)
    ):
        parent = graph.scopes[parent].parent
    parent = max(parent, 0)
    row = node.attrs
    if is_source(node) and graph.counts[parent] < graph.counts[node.parent]:
        attrs.append(with_times(attrs[row], graph.times(node) // graph.counts[parent]))
        row = len(attrs) - 1
    return Node(node.kind, node.op, node.name, parent, depth, node.inputs, node.outputs, row, node.source)


def with_times(row: AttrRow, times: int) -> AttrRow:
    """Return the attributes of a source that stands for so many equal ones in what holds it."""
    return (*[pair for pair in row if pair[0] != TIMES], (TIMES, times))


def carry(graph: Graph, groups: Sequence[int], grouping: Grouping) -> None:
    """Find what loops carry in the new program, and let segments yield what they hand on.

    A loop whose iterations lie inside one segment is no longer seen.

    Args:
        graph: the program.
        groups: for each scope, the scope that its nodes are grouped in, or -1.
        grouping: the segments and the nodes that stay; its outputs are completed and `carried` is filled.
    """
    if not graph.carried:
        return
    owner = {index: at for at, segment in enumerate(grouping.segments) for index in grouping.members(segment)}
    place = {index: position for position, index in enumerate(grouping.order)}
    for edge in graph.carried:
        maker, reader = graph.producers[edge.value], edge.node
        made_in, read_in = owner.get(maker, -1), owner.get(reader, -1)
        inside = edge.loop < 0 or groups[edge.loop] not in (-1, edge.loop)
        if made_in == read_in >= 0 and inside:
            continue
        if made_in >= 0 and edge.value not in grouping.segments[made_in].outputs:
            insort(grouping.segments[made_in].outputs, edge.value)
        first = -1 if edge.port < 0 else graph.nodes[reader].inputs[edge.port]
        at = place[reader if read_in < 0 else ~read_in]
        grouping.carried.append((first, Carried(edge.value, at, edge.port, edge.loop)))


def carried_rows(grouping: Grouping, nodes: Sequence[Node]) -> list[Carried]:
    """Return what loops carry, with the ports of the nodes that were made; `nodes` are those of `grouping.order`."""
    found: dict[Carried, None] = {}
    for first, edge in grouping.carried:
        row = edge
        if grouping.order[edge.node] < 0:
            inputs = nodes[edge.node].inputs
            row = Carried(edge.value, edge.node, inputs.index(first) if first in inputs else -1, edge.loop)
        found[row] = None
    return list(found)


def members_of(grouping: Grouping, names: Iterable[str]) -> dict[str, list[int]]:
    """Return for each node that stands for a segment, by name, the nodes that it stands for."""
    named = zip(names, grouping.segments, strict=True)
    return {name: [*grouping.members(segment), *segment.sources] for name, segment in named}
