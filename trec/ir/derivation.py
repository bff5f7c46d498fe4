"""Where a graph came from: the graph that a pass was given, and what each node that it made stands for."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import Node


class Derivation:
    """What a pass leaves beside its result; neither saved nor compared."""

    __slots__ = ("_members", "again", "before", "opened")

    def __init__(
        self,
        before: Graph,
        members: Mapping[str, Sequence[int]] | Callable[[], Mapping[str, Sequence[int]]],
        opened: Callable[[str], Graph] | None = None,
    ) -> None:
        self.before = before
        """The graph that the pass was given."""
        self._members = members
        self.opened = opened
        """Returns the result of the pass when it leaves alone what became the node of that name."""
        self.again: Callable[[Graph], Graph] | None = None
        """The pass itself, with its options."""

    @property
    def members(self) -> Mapping[str, Sequence[int]]:
        """For each node that the pass made, by name, the indices of the nodes of `before` that it stands for.

        Any other node stands for the one of its name.
        """
        if callable(self._members):  # few ask
            self._members = self._members()
        return self._members


def derived(
    result: Graph,
    before: Graph,
    members: Mapping[str, Sequence[int]] | Callable[[], Mapping[str, Sequence[int]]] | None = None,
    opened: Callable[[str], Graph] | None = None,
) -> Graph:
    """Return the result of a pass, which now knows what it was made from; see `Derivation` for the arguments."""
    if result is not before:
        result.__dict__["_derivation"] = Derivation(before, members or {}, opened)
    return result


def applied(result: Graph, before: Graph, again: Callable[[Graph], Graph]) -> Graph:
    """Return the result of a pass, which now knows how to apply it once more.

    Raises:
        OptionError: the result is no graph.
    """
    if not isinstance(result, type(before)):
        name = getattr(getattr(again, "func", again), "__name__", "that was applied")
        raise OptionError(f"the pass {name} returned an object of type {type(result).__name__}, expected a graph")
    if result is not before:
        if result.derivation is None or result.derivation.before is not before:
            derived(result, before, members_since(result, before))
        if result.derivation is not None:
            result.derivation.again = again
    return result


def members_since(graph: Graph, before: Graph) -> dict[str, list[int]]:
    """Return for each node that was made since `before`, by name, the indices of the nodes of `before` it stands for.

    Empty if the graph was not made from `before` by passes that say what they make.
    """
    steps: list[Derivation] = []
    step = graph
    while step is not before:
        if step.derivation is None:
            return {}
        steps.append(step.derivation)
        step = step.derivation.before
    members: dict[str, list[int]] = {}
    for derivation in reversed(steps):
        names = derivation.before.nodes
        found = {
            name: sorted({m for index in made for m in members.get(names[index].name) or _named(before, names[index])})
            for name, made in derivation.members.items()
        }
        members |= found
    return {name: made for name, made in members.items() if name in graph.index_of}


def _named(graph: Graph, node: Node) -> tuple[int, ...]:
    index = graph.index_of.get(node.name)
    return () if index is None else (index,)


def origin(graph: Graph, node: str) -> tuple[str, ...]:
    """Return the names of the nodes that a node stands for in the graph that no pass made, in program order.

    Raises:
        OptionError: there is no node of that name.
    """
    known(graph, node)
    names: Iterable[str] = [node]
    while (derivation := graph.derivation) is not None:
        before = derivation.before
        found: set[int] = set()
        for name in names:
            members = derivation.members.get(name)
            if members is not None:
                found.update(members)
            elif name in before.index_of:
                found.add(before.index_of[name])
        names = [before.nodes[index].name for index in sorted(found)]
        graph = before
    return tuple(names)


def expand(graph: Graph, node: str | None = None) -> Graph:
    """Return the graph with a node that a pass made open again, or without the last pass.

    Later passes are applied again; one that gave the node another name, or made it of a single node, is gone back
    through. So the graph must be at hand that the pass was given: it is while the result has not been saved and loaded.

    Args:
        graph: what passes made, called as methods or through `apply`.
        node: name of the node; left out, the graph that the last pass was given.

    Raises:
        OptionError: there is no such node, no pass made it, or the graph that it was made from is not at hand.
    """
    derivation = graph.derivation
    if node is None:
        if derivation is None:
            raise OptionError(
                "no pass made this graph, or it was loaded from a file, so there is nothing to go back to"
            )
        return derivation.before
    known(graph, node)
    if derivation is None:
        raise OptionError(f"no pass made {node!r}, or the graph was loaded from a file, so its members are not at hand")
    if node in derivation.members and derivation.opened is not None:
        return derivation.opened(node)
    before = derivation.before
    earlier = [before.nodes[index].name for index in derivation.members.get(node, ())]
    earlier = earlier or [node] * (node in before.index_of)
    if len(earlier) != 1 or derivation.again is None:
        raise OptionError(f"{node!r} cannot be opened: the last pass made it, and keeps no way back but expand()")
    return derivation.again(expand(before, earlier[0]))


def known(graph: Graph, node: str) -> int:
    """Return the index of a node; raise with the names it could have been if there is none."""
    index = graph.index_of.get(node)
    if index is None:
        close = get_close_matches(str(node), list(graph.index_of)[:2000], 5, 0.5)
        hint = f"; did you mean {', '.join(map(repr, close))}?" if close else ""
        raise OptionError(f"there is no node {node!r}{hint}")
    return index
