"""What a diff that is drawn shows: which boxes, frames and arrows were added, removed or changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

from trec.analysis.diff_graph import CHANGE, MARKS, READ_BEFORE, READ_NOW, WAS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, Node, Scope

Change = Literal["added", "removed", "changed", "moved"]
"""What is told apart on a picture; `moved` are other places and names."""

CHANGES: tuple[Change, ...] = get_args(Change)
_SORTS: dict[object, Change] = {"added": "added", "removed": "removed", "moved": "moved", "renamed": "moved"}
_STATE = frozenset({"param", "buffer"})


def shows_diff(graph: Graph) -> bool:
    """Return whether a graph is the union of two, as `trec.analysis.diff.Diff.to_graph` makes it."""
    return CHANGE in dict(graph.meta)


def change_of(graph: Graph, row: Node | Scope) -> Change | None:
    """Return what happened to a node or a call itself."""
    mark = dict(graph.attrs[row.attrs]).get(CHANGE)
    return _SORTS.get(mark, "changed") if mark else None


def change_of_box(graph: Graph, index: int) -> Change | None:
    """Return what the box of a node shows: what happened to it, to the call it is alone in, or to its parameters."""
    node = graph.nodes[index]
    own = change_of(graph, node)
    scope = graph.scopes[node.scope if node.scope >= 0 else node.parent]
    if own is None and node.kind in ("op", "module") and (node.scope >= 0 or _is_alone(graph, node)):
        own = change_of(graph, scope)
    if own is None and any(_is_other_state(graph, value) for value in node.inputs):
        own = "changed"
    return own


def change_of_uses(graph: Graph, box_of: Sequence[int], origin: Sequence[int]) -> dict[tuple[int, int], Change]:
    """Return for pairs of boxes what happened to the arrow between them: it was added or removed as a whole.

    Args:
        graph: what is drawn.
        box_of: for each node the index of its box, -1 if it is hidden.
        origin: for each value the box that it comes from, -1 if that is hidden.
    """
    found: dict[tuple[int, int], set[Change | None]] = {}
    whole = [change_of(graph, node) for node in graph.nodes]
    for index, node in enumerate(graph.nodes):
        facts = dict(graph.attrs[node.attrs])
        now, before = (_ports(facts.get(name)) for name in (READ_NOW, READ_BEFORE))
        for port, value in enumerate(node.inputs):
            pair = (origin[value], box_of[index])
            change: Change | None = "removed" if port in before else "added" if port in now else None
            for end in (whole[graph.producers[value]], whole[index]):
                change = end if end in ("added", "removed") and change is None else change
            found.setdefault(pair, set()).add(change)
    return {pair: change for pair, (change, *others) in found.items() if change is not None and not others}


def changes_of_arrows(graph: Graph) -> set[Change]:
    """Return what happened to arrows between boxes that both graphs have."""
    names = {name for row in graph.attrs for name, _ in row}
    sorts: dict[str, Change] = {READ_NOW: "added", READ_BEFORE: "removed"}
    return {change for name, change in sorts.items() if name in names}


def without_marks(row: AttrRow) -> AttrRow:
    """Return attributes without those that a diff added."""
    return tuple([item for item in row if item[0] not in MARKS]) if CHANGE in dict(row) else row


def was(facts: Mapping[str, object]) -> list[str]:
    """Return, given the attributes of a node or call, what was in its place before; nothing if it is as it was."""
    return [f"was {facts[WAS]}"] if CHANGE in facts and WAS in facts else []


def _ports(found: object) -> frozenset[object]:
    return frozenset(found) if isinstance(found, tuple) else frozenset()


def _is_alone(graph: Graph, node: Node) -> bool:
    return sum(graph.nodes[index].kind not in _STATE for index in graph.nodes_in[node.parent]) == 1


def _is_other_state(graph: Graph, value: int) -> bool:
    maker = graph.nodes[graph.producers[value]]
    return maker.kind in _STATE and change_of(graph, maker) not in (None, "moved")
