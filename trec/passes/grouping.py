"""Which nodes become one: segments of calls, where they stand, and what crosses their boundary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.ir.builder import unique
from trec.ir.types import SOURCE_KINDS, Node

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from trec.ir.graph import Graph
    from trec.ir.types import NodeKind


class Segment(Struct, eq=False):
    """Nodes of one call that become one node."""

    scope: int
    """Index into `Graph.scopes` of the call."""
    members: list[int] = []
    """Indices into `Graph.nodes` in program order, without the sources that go with them."""
    sources: list[int] = []
    """Indices into `Graph.nodes` of the parameters, buffers and constants that only these members read."""
    inputs: list[int] = []
    """Indices into `Graph.values`, one entry per use of a value from outside, in program order."""
    outputs: list[int] = []
    """Indices into `Graph.values` of what is read outside, in order of production."""


class Grouping(Struct, eq=False):
    """A program in which segments stand for their members."""

    segments: list[Segment]
    """In the order in which they begin."""
    order: list[int]
    """The new program: the index of a node that stays, or `~s` for the segment `s`."""


_STORED = SOURCE_KINDS - {"input"}
_SEVERAL = -1


def is_source(node: Node) -> bool:
    """Return whether a node brings a value in and depends on nothing."""
    return not node.inputs and node.kind in SOURCE_KINDS


def runs(graph: Graph, groups: Sequence[int]) -> Grouping:
    """Group the members of each call that follow one another without a foreign step between.

    A call during which foreign steps ran gives several segments. So the steps keep their order, whatever depends on
    what, and it makes no difference whether inner calls were grouped before. Sources and outputs are no steps: they
    give way to the segment that they stand in, and a source that only one segment of its own call reads is part of it.

    Args:
        graph: the program.
        groups: for each scope, the scope that its nodes are grouped in, or -1.
    """
    nodes = graph.nodes
    owner = [-1] * len(nodes)
    segments: list[Segment] = []
    order: list[int] = []
    waiting: list[int] = []  # sources and outputs since the last member of the open segment
    current = segment = -1
    members: list[int] = []
    for index, node in enumerate(nodes):
        kind = node.kind
        if kind == "output" or (kind in SOURCE_KINDS and not node.inputs):
            (order if segment < 0 else waiting).append(index)
            continue
        group = groups[node.parent]
        if group != current:
            if segment >= 0:
                order.append(~segment)
                order += waiting
                waiting = []
            current, segment = group, -1
            if group >= 0:
                segment, members = len(segments), []
                segments.append(Segment(group, members))
        elif waiting:
            order += [i for i in waiting if nodes[i].kind != "output"]
            waiting = [i for i in waiting if nodes[i].kind == "output"]
        if segment < 0:
            order.append(index)
        else:
            members.append(index)
            owner[index] = segment
    if segment >= 0:
        order.append(~segment)
        order += waiting
    grouping = Grouping(segments, order)
    readers = _cross(graph, grouping, owner)
    _absorb(graph, groups, grouping, readers, _STORED)
    return grouping


def unions(graph: Graph, groups: Sequence[int]) -> Grouping:
    """Group all members of each call that no foreign step stands between in the flow of data.

    Foreign steps that ran during the call and need nothing of it go before it. A segment ends early only where a
    foreign step reads what it made. A constant that only one segment of its own call reads is part of it; other
    sources stay.

    Args:
        graph: the program.
        groups: for each scope, the scope that its nodes are grouped in, or -1.
    """
    last: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        last[groups[node.parent]] = index
    owner = [-1] * len(graph.nodes)
    producers = graph.producers
    segments: list[Segment] = []
    order: list[int] = []
    pending: dict[int, int] = {}
    for index, node in enumerate(graph.nodes):
        group = -1 if is_source(node) or node.kind == "output" else groups[node.parent]
        if pending:
            for value in node.inputs:
                maker = owner[producers[value]]
                if maker >= 0 and (made_in := segments[maker].scope) != group and pending.get(made_in) == maker:
                    order.append(~pending.pop(made_in))
        if group < 0:
            order.append(index)
        else:
            at = pending.get(group)
            if at is None:
                at = pending[group] = len(segments)
                segments.append(Segment(group))
            segments[at].members.append(index)
            owner[index] = at
        closing = groups[node.parent]
        if closing in pending and last[closing] == index:
            order.append(~pending.pop(closing))
    grouping = Grouping(segments, order)
    readers = _cross(graph, grouping, owner)
    _absorb(graph, groups, grouping, readers, frozenset({"constant"}))
    return grouping


def segment_names(graph: Graph, grouping: Grouping, scopes: Iterable[int]) -> list[str]:
    """Return a name for the node of each segment: that of its call, with a number if it is not the first of it.

    Args:
        graph: the program.
        grouping: its segments, and the nodes that stay.
        scopes: indices of the scopes that stay.
    """
    names: list[str] = []
    taken: dict[str, int] = {}
    later: list[int] = []
    for position, segment in enumerate(grouping.segments):
        name = graph.scopes[segment.scope].name
        if name in taken:
            later.append(position)
        taken[name] = 0
        names.append(name)
    if later:
        taken |= {graph.nodes[index].name: 0 for index in grouping.order if index >= 0}
        taken |= {graph.scopes[index].name: 0 for index in scopes}
        for position in later:
            names[position] = unique(names[position], taken)
    return names


def moved_out(graph: Graph, node: Node, groups: Sequence[int]) -> Node:
    """Return a node that stays, held by the nearest module around it that stays open."""
    parent = groups[node.parent]
    if parent < 0:
        return node
    depth = graph.scopes[parent].depth or 1
    parent = graph.scopes[parent].parent
    while parent > 0 and graph.scopes[parent].kind != "module":
        parent = graph.scopes[parent].parent
    parent = max(parent, 0)
    return Node(node.kind, node.op, node.name, parent, depth, node.inputs, node.outputs, node.attrs, node.source)


def _cross(graph: Graph, grouping: Grouping, owner: list[int]) -> dict[int, int]:
    """Fill in what crosses the boundary of each segment.

    Returns:
        For each value that segments read and none makes, the one that alone reads it, or -1.
    """
    segments = grouping.segments
    maker: list[int] = []
    outside = bytearray(len(graph.values))
    readers: dict[int, int] = {}
    for node, segment in zip(graph.nodes, owner, strict=True):
        if segment < 0:
            for value in node.inputs:
                outside[value] = 1
                if value in readers:
                    readers[value] = _SEVERAL
        else:
            for value in node.inputs:
                made_in = maker[value]
                if made_in != segment:
                    segments[segment].inputs.append(value)
                    if made_in >= 0:
                        outside[value] = 1
                    elif readers.setdefault(value, segment) != segment or outside[value]:
                        readers[value] = _SEVERAL
        outputs = node.outputs
        if len(outputs) == 1:
            maker.append(segment)
        else:
            maker += [segment] * len(outputs)
    for value, segment in enumerate(maker):
        if outside[value] and segment >= 0:
            segments[segment].outputs.append(value)
    return readers


def _absorb(
    graph: Graph, groups: Sequence[int], grouping: Grouping, readers: dict[int, int], kinds: AbstractSet[NodeKind]
) -> None:
    """Move each source of these kinds that one segment of its own call alone reads into that segment."""
    nodes, segments, producers = graph.nodes, grouping.segments, graph.producers
    inner = bytearray(len(graph.values))
    absorbed = bytearray(len(nodes))
    for value, reader in readers.items():
        if reader < 0:
            continue
        index = producers[value]
        node = nodes[index]
        segment = segments[reader]
        if segment.scope == groups[node.parent] and node.kind in kinds and not node.inputs:
            segment.sources.append(index)
            inner[value] = absorbed[index] = 1
    grouping.order = [index for index in grouping.order if index < 0 or not absorbed[index]]
    for segment in segments:
        if segment.sources:
            segment.inputs = [value for value in segment.inputs if not inner[value]]
