"""From matched graphs to edits: what is new, gone, elsewhere, called or wired otherwise."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from trec.analysis.align import ascending
from trec.analysis.carried_changes import carried_rows
from trec.analysis.edit_texts import Row, are_tied_alike, attributes, own_name, summary, tied, within
from trec.analysis.matching import Matching
from trec.analysis.wiring_changes import Wiring
from trec.analysis.wrapping import holding
from trec.ir.text import type_text
from trec.ir.types import SOURCE_KINDS, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.ir.graph import Graph
    from trec.ir.types import Attr, Node

_NAMES = ("qualname", "aliases", "index")


class Changes:
    """The edits between two graphs."""

    def __init__(self, before: Graph, after: Graph, *, names: bool = True) -> None:
        self.before, self.after, self.names = before, after, names
        self._texts = [[type_text(type_) for type_ in graph.types] for graph in (before, after)]
        matching = Matching(before, after)
        self.matching = matching
        self.nodes, self.scopes = matching.nodes, matching.scopes
        self.came = {there: here for here, there in self.nodes.items()}
        """For each matched node of `after`, the node of `before`."""
        self.scope_came = {there: here for here, there in self.scopes.items()}
        """The same for scopes."""
        self._forward_is_moved = any(
            not matching.mirrors[1].is_backward(scope) and self._is_moved(self.scope_came[scope], scope)
            for scope in self.scope_came
            if scope
        )
        self.gone = [index for index in range(len(before.nodes)) if index not in self.nodes]
        self._wiring = Wiring(before, after, self.nodes, self.scopes, self._moved())
        self._steps = [_steps(graph) for graph in (before, after)]
        self._found: list[Row] = []

    def rows(self) -> list[Row]:
        """Return the edits: of scopes, of nodes, of what they read, and what was removed."""
        wiring = [*self._wiring.rows(), *carried_rows(self.before, self.after, self.nodes, self.scopes)]
        found: list[Row] = []
        found += self._scopes()
        found += self._nodes()
        found += self._exchanged()
        found += wiring
        found += self._removed()
        self._found = found
        return found

    def marks(self) -> Iterator[tuple[str, str]]:
        """Yield the kind and name of each change in the second graph, and of all nodes that were added."""
        for index, node in enumerate(self.after.nodes):
            if index not in self.came:
                yield "added", node.name
        for kind, _, name, _, _ in self._found:
            if kind != "removed":
                yield kind, name

    def _moved(self) -> set[int]:
        """Return the nodes of the second graph that were moved, themselves or in a call around them."""
        inside = bytearray(len(self.after.scopes))
        for index, scope in enumerate(self.after.scopes):
            here = self.scope_came.get(index)
            is_moved = here is not None and index > 0 and self._is_moved(here, index)
            inside[index] = is_moved or (scope.parent >= 0 and inside[scope.parent])
        return {
            index
            for index, node in enumerate(self.after.nodes)
            if inside[node.parent] or index in self.matching.moved or (node.scope >= 0 and inside[node.scope])
        }

    def _is_moved(self, here: int, there: int) -> bool:
        parents = self.before.scopes[here].parent, self.after.scopes[there].parent
        return there in self.matching.moved_scopes or not self._is_same_place(*parents)

    def _is_same_place(self, here: int, there: int) -> bool:
        """Return whether a scope of the first graph became one of the second, calls put around others left aside."""
        if self.scopes.get(here) == there:
            return True
        return self.scopes.get(self.matching.home(0, here)) == self.matching.home(1, there)

    # ---- calls

    def _scopes(self) -> Iterator[Row]:
        for index, scope in enumerate(self.after.scopes):
            here = self.scope_came.get(index)
            if here is None:
                if scope.parent < 0 or self.matching.home(1, scope.parent) in self.scope_came:
                    yield "added", "scope", scope.name, "", self._summary(1, index)
                continue
            earlier = self.before.scopes[here]
            yield from self._compared(index, scope, earlier)
            if index:
                yield from self._placed(index, scope, earlier)

    def _mirrored(self, here: int, there: int) -> tuple[Scope, Scope] | None:
        """Return the calls of the forward that two calls of a backward pass belong to, if they are one as well."""
        one, other = self.matching.mirrors[0].calls.get(here, -1), self.matching.mirrors[1].calls.get(there, -1)
        return (self.before.scopes[one], self.after.scopes[other]) if self.scopes.get(one, -2) == other else None

    def _compared(self, index: int, scope: Scope, earlier: Scope) -> Iterator[Row]:
        forward = self._mirrored(self.scope_came[index], index)
        if forward is not None and forward[0].cls != forward[1].cls:
            return
        if scope.cls != earlier.cls or scope.kind != earlier.kind:
            yield "retyped", "scope", scope.name, earlier.cls, scope.cls
            return
        if len(scope.repeats) != len(earlier.repeats):
            yield "attribute", "scope", scope.name, f"x{1 + len(earlier.repeats)}", f"x{1 + len(scope.repeats)}"
        old, new = self.before.attrs_of(earlier), self.after.attrs_of(scope)
        lists = isinstance(old.get("layers"), tuple) and isinstance(new.get("layers"), tuple)
        # The list of what a container was given changes with its calls, which are compared where they are seen.
        told = ("layers",) if lists and self.after.scopes_in[index] else ()
        yield from attributes("scope", scope.name, old, new, told)

    def _placed(self, index: int, scope: Scope, earlier: Scope) -> Iterator[Row]:
        forward = self._mirrored(self.scope_came[index], index)
        if self._is_moved(self.scope_came[index], index) and not (forward and self._forward_is_moved):
            yield ("moved", "scope", scope.name, *self._wiring.of_moved.get(scope.name, ("", "")))
        if self.names and forward is None and own_name(self.before, earlier) != own_name(self.after, scope):
            yield "renamed", "scope", scope.name, earlier.name, scope.name

    # ---- nodes

    def _nodes(self) -> Iterator[Row]:
        for index, node in enumerate(self.after.nodes):
            here = self.came.get(index)
            if here is None:
                if self._stands_alone(1, index):
                    yield "added", node.kind, node.name, "", self._types(self.after, node)
                continue
            earlier = self.before.nodes[here]
            old, new = self.before.attrs_of(earlier), self.after.attrs_of(node)
            hidden = _NAMES if node.kind in SOURCE_KINDS or node.kind == "output" else ()
            if (node.kind, node.op) == (earlier.kind, earlier.op):
                yield from attributes(node.kind, node.name, old, new, hidden)
            elif not self._is_told(node, earlier):
                yield "retyped", node.kind, node.name, earlier.op, node.op
            if self.names and hidden:
                yield from self._named(node, earlier, old, new)
            if node.outputs and self._is_reshaped(node, earlier):
                yield "reshaped", node.kind, node.name, self._types(self.before, earlier), self._types(self.after, node)
            moved = index in self.matching.moved or not self._is_same_place(earlier.parent, node.parent)
            if moved and node.kind not in SOURCE_KINDS:
                yield ("moved", node.kind, node.name, *self._wiring.of_moved.get(node.name, ("", "")))

    def _is_reshaped(self, node: Node, earlier: Node) -> bool:
        """Return whether a node yields other types; that another operator yields more or less goes without saying."""
        if node.op != earlier.op and len(node.outputs) != len(earlier.outputs):
            return False
        return self._types(self.before, earlier) != self._types(self.after, node)

    def _types(self, graph: Graph, node: Node) -> str:
        texts = self._texts[graph is self.after]
        return ", ".join([texts[graph.values[value].type] for value in node.outputs])

    def _is_told(self, node: Node, earlier: Node) -> bool:
        """Return whether a node is all that there is in a call whose class is another."""
        if self.after.scopes[node.parent].cls == self.before.scopes[earlier.parent].cls:
            return False
        before, after = self._steps
        return before[earlier.parent] == after[node.parent] == 1 and self.scopes.get(earlier.parent) == node.parent

    def _named(self, node: Node, earlier: Node, old: dict[str, Attr], new: dict[str, Attr]) -> Iterator[Row]:
        was, now = str(old.get("qualname", earlier.name)), str(new.get("qualname", node.name))
        if was != now and not self._is_same_name(node, earlier, was, now):
            yield "renamed", node.kind, node.name, was, now
        if not are_tied_alike(was, old.get("aliases"), now, new.get("aliases")):
            yield "attribute", node.kind, node.name, tied(old.get("aliases")), tied(new.get("aliases"))

    def _is_same_name(self, node: Node, earlier: Node, was: str, now: str) -> bool:
        """Return whether a name is the same in the calls that hold both nodes, or in those that read them first."""
        places = [(earlier.parent, node.parent)]
        readers = [user for value in node.outputs for user in self.after.users[value] if user in self.came]
        places += [(self.before.nodes[self.came[user]].parent, self.after.nodes[user].parent) for user in readers[:1]]
        return any(
            within(was, self.before.scopes[here].path) == within(now, self.after.scopes[there].path)
            for here, there in places
        )

    def _exchanged(self) -> Iterator[Row]:
        """Yield the inputs and outputs that are at another position among those that were there before."""
        for kind in ("input", "output"):
            one, other = _ranks(self.before, kind), _ranks(self.after, kind)
            pairs = {(one[here], other[there]): there for here, there in self.nodes.items() if there in other}
            for pair in sorted(pairs.keys() - set(ascending(sorted(pairs)))):
                node = self.after.nodes[pairs[pair]]
                yield "attribute", kind, node.name, f"index={pair[0]}", f"index={pair[1]}"

    def _stands_alone(self, side: int, index: int) -> bool:
        """Return whether a node that has no partner is an edit of its own, not part of a call that has none."""
        graph, scopes = ((self.before, self.scopes), (self.after, self.scope_came))[side]
        node, home = graph.nodes[index], self.matching.home
        if home(side, node.parent) not in scopes or (node.scope >= 0 and node.scope not in scopes):
            return False
        if node.kind not in SOURCE_KINDS and node.parent in self._exchanged_calls[side]:
            return False
        if node.kind in SOURCE_KINDS and node.kind != "input":
            users = [graph.nodes[user] for value in node.outputs for user in graph.users[value]]
            return not users or any(home(side, user.parent) in scopes for user in users)
        forward = graph.differentiated.get(index, ())
        known = (self.nodes, self.came)[side]
        return not forward or any(each in known for each in forward)  # else it comes and goes with those

    @cached_property
    def _exchanged_calls(self) -> tuple[set[int], set[int]]:
        """The calls of each graph whose class is another, and in which no step has a partner: another does the work."""
        stays = [
            holding(graph, [at for at in known if graph.nodes[at].kind not in SOURCE_KINDS])
            for graph, known in ((self.before, self.nodes), (self.after, self.came))
        ]
        pairs = [
            (here, there)
            for here, there in self.scopes.items()
            if here and here not in stays[0] and self.before.scopes[here].cls != self.after.scopes[there].cls
        ]
        return {here for here, _ in pairs}, {there for _, there in pairs if there not in stays[1]}

    def _summary(self, side: int, scope: int) -> str:
        graph, matched = ((self.before, self.nodes), (self.after, self.came))[side]
        return summary(graph, scope, matched if scope in self.matching.around[side] else ())

    def _removed(self) -> Iterator[Row]:
        for index, scope in enumerate(self.before.scopes):
            if index not in self.scopes and self.matching.home(0, scope.parent) in self.scopes:
                yield "removed", "scope", scope.name, self._summary(0, index), ""
        for index in self.gone:
            if self._stands_alone(0, index):
                node = self.before.nodes[index]
                yield "removed", node.kind, node.name, self._types(self.before, node), ""


def _steps(graph: Graph) -> list[int]:
    """Return for each scope how many steps it holds itself."""
    counts = [0] * len(graph.scopes)
    for node in graph.nodes:
        counts[node.parent] += node.kind not in SOURCE_KINDS
    return counts


def _ranks(graph: Graph, kind: str) -> dict[int, int]:
    """Return the position of each input, or output, among the others."""
    found = [(graph.attrs_of(node).get("index"), at) for at, node in enumerate(graph.nodes) if node.kind == kind]
    order = sorted([(index if isinstance(index, int) else at, at) for index, at in found])
    return {at: rank for rank, (_, at) in enumerate(order)}
