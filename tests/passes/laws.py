"""What every pass promises, as assertions about one graph and one application."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from trec.ir.graph import Graph

PARTS = ("focus", "phase")
"""Passes that keep a part of a graph, whose paths may have led by way of the rest."""
LOOPS = ("fold", "roll")
"""Passes that leave some paths to what is carried."""


def assert_laws(graph: Graph, name: str, options: dict[str, Any]) -> None:
    """The input is untouched, the result valid and always the same; once is enough; paths and origins are kept."""
    before = msgspec.msgpack.encode(graph)
    result = graph.apply(name, **options).verify()
    assert msgspec.msgpack.encode(graph) == before
    assert graph.apply(name, **options) == result
    assert result.apply(name, **options) == result
    assert not result.diff(result)
    ways = (True,) if name in LOOPS else (False, True)
    links = [node for node in graph.nodes if node.kind == "link" and node.op == "tensor"]
    tensors = [node.name for node in links if name == "phase"]
    assert_paths_are_kept(graph, result, through_all=name not in PARTS, also=tensors, ways=ways)
    assert_members_are_known(graph, result)


def assert_members_are_known(before: Graph, after: Graph) -> None:
    """Every node stands for nodes of the graph before, and what stayed stands for itself."""
    for node in after.nodes:
        origin = after.origin(node.name)
        assert origin, node.name
        assert all(name in before.index_of for name in origin)
        made = after.derivation is not None and node.name in after.derivation.members
        assert made or origin == (node.name,)
    assert after is before or after.expand() is before


def assert_paths_are_kept(
    before: Graph,
    after: Graph,
    *,
    through_all: bool = True,
    also: Collection[str] = (),
    ways: tuple[bool, ...] = (False, True),
) -> None:
    """Whatever is in both graphs is joined by the same paths, but for those through nodes that the pass made.

    Unless `through_all`, paths by way of nodes that are gone may be gone as well, but for those named in `also`. Each
    of `ways` says whether what loops carry counts.
    """
    made = after.derivation.members if after.derivation is not None else {}
    old = {node.name: node for node in before.nodes}
    kept = {
        node.name: index
        for index, node in enumerate(after.nodes)
        if node.name in old
        and node.name not in made
        and (node.kind, node.op) == (old[node.name].kind, old[node.name].op)
    }
    bits = {name: 1 << position for position, name in enumerate(kept)}
    marks_before = {before.index_of[name]: bit for name, bit in bits.items()}
    marks_after = {kept[name]: bit for name, bit in bits.items()}
    for carried in ways:
        through = None if through_all else {*marks_before, *[before.index_of[name] for name in also]}
        reached_before = reached(before, marks_before, through, carried=carried)
        reached_after = reached(after, marks_after, carried=carried)
        through_kept = reached(after, marks_after, marks_after.keys(), carried=carried)
        for name, index in kept.items():
            there = reached_before[before.index_of[name]]
            assert not there & ~reached_after[index], ("lost", name, carried)
            assert not through_kept[index] & ~there, ("new", name, carried)


def reached(
    graph: Graph, marks: Mapping[int, int], through: Collection[int] | None = None, *, carried: bool = False
) -> list[int]:
    """Return for each node the marks (one bit each) of what a path leads to, by way of some nodes only."""
    users = [{user for value in node.outputs for user in graph.users[value]} for node in graph.nodes]
    for edge in graph.carried if carried else ():
        users[graph.producers[edge.value]].add(edge.node)
    found = [0] * len(graph.nodes)
    before: list[int] = []
    while found != before:  # once is enough where nothing is carried
        before = list(found)
        for index in range(len(graph.nodes) - 1, -1, -1):
            for user in users[index]:
                found[index] |= marks.get(user, 0)
                if through is None or user in through:
                    found[index] |= found[user]
    return found
