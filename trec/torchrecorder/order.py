"""The order in which data flows through a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

T = TypeVar("T")


def in_order(nodes: Iterable[T], edges: Iterable[tuple[T, T]], given: Iterable[T]) -> list[T]:
    """Return the nodes so that edges lead onwards, but for those that close a cycle.

    What does not come from the given nodes, such as parameters, stands just before what reads it.

    Args:
        nodes: all nodes.
        edges: source and target of each edge.
        given: nodes that stand first, if no edge leads to them.

    Source: depth-first search; T. H. Cormen and others, "Introduction to Algorithms", section on topological sort.

    Example:
        >>> in_order("wxyz", ["xy", "wy", "yz"], "xz")
        ['x', 'w', 'y', 'z']
    """
    sources: dict[T, list[T]] = {node: [] for node in nodes}
    users: dict[T, list[T]] = {node: [] for node in sources}
    for source, target in edges:
        sources[target].append(source)
        users[source].append(target)
    first = [node for node in given if not sources[node]]
    flowing = _reached(first, users)
    ends = [node for node in sources if not users[node] and node in flowing]
    order: list[T] = []
    seen: set[T] = set()
    for root in (*first, *ends, *sources):
        if root in seen:
            continue
        seen.add(root)
        path = [(root, iter(sorted(sources[root], key=lambda source: source not in flowing)))]
        while path:
            node, rest = path[-1]
            before = next((source for source in rest if source not in seen), None)
            if before is None:
                order.append(node)
                path.pop()
            else:
                seen.add(before)
                path.append((before, iter(sorted(sources[before], key=lambda source: source not in flowing))))
    return order


def _reached(starts: list[T], users: dict[T, list[T]]) -> set[T]:
    seen = set(starts)
    todo = list(starts)
    while todo:
        for user in users[todo.pop()]:
            if user not in seen:
                seen.add(user)
                todo.append(user)
    return seen
