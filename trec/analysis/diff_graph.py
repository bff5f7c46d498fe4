"""One graph that holds what two graphs have, and says of everything in it what became of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.ir.builder import GraphBuilder
from trec.ir.collectives import is_rank
from trec.ir.types import SOURCE_KINDS, Carried, Derivative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from trec.analysis.changes import Changes
    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, Node, NodeKind, Scope, TensorType

CHANGE = "diff"
"""Attribute of a node or scope that is not as it was: what happened to it; and of the graph, that it shows a diff."""
READ_NOW, READ_BEFORE = "read_now", "read_before"
"""Attributes of a node that both graphs have: the ports of what it reads only in the second, and only in the first."""
INSIDE = "inside"
"""What that attribute says of a call that is as it was, while something in it is not."""
WAS = "was"
"""Attribute of a node or scope: what was in the place of what changed, in words."""
MARKS = frozenset({CHANGE, WAS, READ_NOW, READ_BEFORE})

Key = tuple[int, int, int]
_HELD: frozenset[NodeKind] = frozenset({"input", "param", "buffer", "output"})
"""Kinds of nodes that not every scope may hold."""


def diff_graph(changes: Changes, marks: Mapping[str, str], was: Mapping[str, str]) -> Graph:
    """Return the second graph with what was removed put back, everything that changed marked by an attribute.

    What was removed stands as early as what it reads and differentiates allows. Where what it was read by still runs
    after it, that reads it once more, behind its other inputs; outputs do not, since they have one input. Results that
    a node no longer has are its last ones, if something read them.

    Args:
        changes: the two graphs and what is what in them.
        marks: for each node and scope of the second graph that changed, the change.
        was: for those of which there is something to say, what they were.
    """
    return _Union(changes, marks, was).graph()


class _Union:
    """Build the union of two graphs."""

    def __init__(self, changes: Changes, marks: Mapping[str, str], was: Mapping[str, str]) -> None:
        self.changes, self.marks, self.was = changes, marks, was
        self.before, self.after = changes.before, changes.after
        meta = tuple([row for row in self.after.meta if row[0] != CHANGE])
        self.builder = GraphBuilder(self.after.name, (*meta, (CHANGE, f"{self.before.name}, then {self.after.name}")))
        self.scopes: tuple[dict[int, int], dict[int, int]] = ({}, {})
        """Scopes of the first and of the second graph, and what they are in the union."""
        self.values: tuple[dict[int, int], dict[int, int]] = ({}, {})
        """The same for values."""
        self.at: tuple[dict[int, int], dict[int, int]] = ({}, {})
        """The same for nodes."""

    def graph(self) -> Graph:
        """Return the union."""
        self._add_scopes()
        for _, is_new, index in sorted([*self._kept(), *self._gone()]):
            if is_new:
                self._add_kept(index)
            else:
                self._add_gone(index)
        for edge in self.after.carried:
            at = self.at[1][edge.node]
            self.builder.carried.append(
                Carried(self.values[1][edge.value], at, edge.port, self.scopes[1].get(edge.loop, -1))
            )
        self.builder.derivatives += self._derivatives()
        self._give_and_return()
        return self.builder.build()

    def _give_and_return(self) -> None:
        """Say of each function what it was given and what it returned: of those that both graphs have, now."""
        rows = self.builder.scopes
        for graph, scopes, values in zip((self.before, self.after), self.scopes, self.values, strict=True):
            for index, at in scopes.items():
                given, returned = (
                    tuple([values[value] for value in side if value in values])
                    for side in (graph.scopes[index].inputs, graph.scopes[index].outputs)
                )
                rows[at] = replace(rows[at], inputs=given, outputs=returned)

    def _derivatives(self) -> list[Derivative]:
        """Return what nodes of both graphs differentiate, but for what now stands after them."""
        pairs = {
            (at[row.node], at[row.forward])
            for at, graph in zip(self.at, (self.before, self.after), strict=True)
            for row in graph.derivatives
        }
        return [
            Derivative(node, forward)
            for node, forward in sorted(pairs)
            if forward < node and self.builder.scopes[self.builder.nodes[node].parent].phase != "forward"
        ]

    # ---- order

    def _kept(self) -> Iterator[tuple[Key, bool, int]]:
        for index in range(len(self.after.nodes)):
            yield (index, 0, 0), True, index

    def _gone(self) -> Iterator[tuple[Key, bool, int]]:
        """Yield what was removed, each behind what it reads and differentiates, or else what stood before it."""
        graph, places = self.before, {}
        last = -1
        for index, node in enumerate(graph.nodes):
            if index in self.changes.nodes:
                places[index] = last = self.changes.nodes[index]
                continue
            needed = [*[graph.producers[value] for value in node.inputs], *graph.differentiated.get(index, ())]
            places[index] = max([places[each] for each in needed], default=last)
            yield (places[index], 1, index), False, index

    # ---- rows

    def _add_scopes(self) -> None:
        for index, scope in enumerate(self.after.scopes):
            is_new = index not in self.changes.scope_came
            self._add_scope(1, index, scope, self.marks.get(scope.name, "added" if is_new else ""))
        stood_for = {self.before.nodes[index].scope for index in self.changes.gone}
        for index, scope in enumerate(self.before.scopes):
            partner = self.changes.scopes.get(index)
            if partner is None or (index and index in stood_for):
                self._add_scope(0, index, scope, "removed")
            else:
                self.scopes[0][index] = self.scopes[1][partner]

    def _add_scope(self, side: int, index: int, scope: Scope, mark: str) -> None:
        graph = (self.before, self.after)[side]
        parent = self.scopes[side][scope.parent] if scope.parent >= 0 else -1
        attrs = _marked(graph.attrs[scope.attrs], mark, self.was.get(scope.name, "") if side else "")
        at = self.builder.scope(
            scope.kind, path=scope.path, cls=scope.cls, parent=parent, call=scope.call, name=scope.name, attrs=attrs,
            source=graph.source_of(scope), phase=scope.phase,
        )  # fmt: skip
        self.builder.scopes[at] = replace(self.builder.scopes[at], repeats=scope.repeats)
        self.scopes[side][index] = at

    def _add_kept(self, index: int) -> None:
        node = self.after.nodes[index]
        inputs = [self.values[1][value] for value in node.inputs]
        attrs = _marked(self.after.attrs[node.attrs], self.marks.get(node.name, ""), self.was.get(node.name, ""))
        here = self.changes.came.get(index)
        if here is not None and node.kind != "output":
            old = [self.values[0][value] for value in self.before.nodes[here].inputs if value in self.values[0]]
            now, was = Counter(inputs), Counter(old)
            fresh = tuple([port for port, value in enumerate(inputs) if now[value] > was[value]])
            lost = [value for value in dict.fromkeys(old) if was[value] > now[value]]
            if fresh:
                attrs = (*attrs, (READ_NOW, fresh))
            if lost and node.kind not in SOURCE_KINDS:
                attrs = (*attrs, (READ_BEFORE, tuple(range(len(inputs), len(inputs) + len(lost)))))
                inputs += lost
        lacks = () if here is None else self._lost_results(node, self.before.nodes[here])
        made = self._add_node(1, index, inputs, attrs, [self.before.type_of(value) for value in lacks])
        if here is not None:
            self.at[0][here] = self.at[1][index]
            self.values[0].update(
                zip([*self.before.nodes[here].outputs[: len(node.outputs)], *lacks], made, strict=False)
            )

    def _lost_results(self, node: Node, old: Node) -> list[int]:
        """Return the read results of a node of the first graph that have no place among those of the second's."""
        return [value for value in old.outputs[len(node.outputs) :] if self.before.users[value]]

    def _add_gone(self, index: int) -> None:
        node = self.before.nodes[index]
        inputs = [self.values[0][value] for value in node.inputs]
        self._add_node(0, index, inputs, _marked(self.before.attrs[node.attrs], "removed"))

    def _add_node(
        self, side: int, index: int, inputs: list[int], attrs: AttrRow, lost: Iterable[TensorType] = ()
    ) -> range:
        graph = (self.before, self.after)[side]
        node = graph.nodes[index]
        self.at[side][index] = len(self.builder.nodes)
        made = self.builder.node(
            node.kind, node.op, name=node.name, inputs=inputs,
            parent=self._place(node.kind, self.scopes[side][node.parent]),
            results=[self.builder.types.add(type_) for type_ in [*map(graph.type_of, node.outputs), *lost]],
            attrs=attrs, source=graph.source_of(node), scope=self.scopes[side].get(node.scope, -1),
        )  # fmt: skip
        self.values[side].update(zip(node.outputs, made, strict=False))
        return made

    def _place(self, kind: NodeKind, scope: int) -> int:
        """Return the innermost scope, of a scope and those around it, that may hold a node of that kind."""
        if kind in _HELD:
            while scope > 0 and not is_rank(self.builder, scope) and not self._is_place(kind, scope):
                scope = self.builder.scopes[scope].parent
        return scope

    def _is_place(self, kind: NodeKind, scope: int) -> bool:
        row = self.builder.scopes[scope]
        return kind in ("param", "buffer") and (row.kind == "module" or bool(row.repeats))


def _marked(row: AttrRow, mark: str, was: str = "") -> AttrRow:
    row = tuple([item for item in row if item[0] not in MARKS])
    return (*row, *[item for item in ((CHANGE, mark), (WAS, was)) if item[1]])
