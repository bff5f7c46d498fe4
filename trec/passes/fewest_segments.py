"""Group the members of calls into as few segments as the flow of data allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.passes.grouping import Grouping, Segment, carry, is_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.ir.graph import Graph

_SEVERAL = -1


def fewest_segments(graph: Graph, groups: Sequence[int]) -> Grouping:
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
    members: list[list[int]] = []
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
                members.append([])
                segments.append(Segment(group, members[at]))
            members[at].append(index)
            owner[index] = at
        closing = groups[node.parent]
        if closing in pending and last[closing] == index:
            order.append(~pending.pop(closing))
    grouping = Grouping(segments, order)
    readers = _cross(graph, grouping, owner)
    for edge in graph.carried:
        readers[edge.value] = _SEVERAL
    _absorb_constants(graph, groups, grouping, readers)
    carry(graph, groups, grouping)
    return grouping


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


def _absorb_constants(graph: Graph, groups: Sequence[int], grouping: Grouping, readers: dict[int, int]) -> None:
    """Move each constant that one segment of its own call alone reads into that segment."""
    nodes, segments, producers = graph.nodes, grouping.segments, graph.producers
    inner: set[int] = set()
    absorbed: set[int] = set()
    for value, reader in readers.items():
        if reader < 0:
            continue
        index = producers[value]
        node = nodes[index]
        segment = segments[reader]
        if node.kind == "constant" and segment.scope == groups[node.parent]:
            segment.sources.append(index)
            inner.add(value)
            absorbed.add(index)
    grouping.order = [index for index in grouping.order if index not in absorbed]
    for segment in segments:
        if segment.sources:
            segment.inputs = [value for value in segment.inputs if value not in inner]
