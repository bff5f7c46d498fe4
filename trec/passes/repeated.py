"""Let the first iteration of a loop stand for all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.below import common
from trec.analysis.loop import scope_of
from trec.ir.builder import inner_name, unique
from trec.ir.derivation import derived
from trec.ir.rewrite import remaining_scopes, with_nodes
from trec.ir.types import ROLLED, Carried, Derivative, Scope
from trec.passes.grouping import with_times

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.analysis.blocks import Blocks
    from trec.analysis.loop import Loop
    from trec.ir.graph import Graph


def first_iterations(blocks: Blocks, loops: list[Loop]) -> Graph:
    """Return the graph in which the first iteration of each loop stands for all of them.

    Args:
        blocks: the program.
        loops: what `find_loops` found in it.

    Ensures:
        Readers of what a later iteration made read what the first one makes. What an iteration hands to the next is in
        `Graph.carried`. The scope of the first iteration, or a new region around its steps, names the others in
        `repeats`.
    """
    return _Rolling(blocks, loops).graph()


class _Rolling:
    """The tables of the new graph while it is made; steps are positions in `Blocks.steps`."""

    def __init__(self, blocks: Blocks, loops: list[Loop]) -> None:
        self.blocks, self.loops, self.old = blocks, loops, blocks.graph
        self.stands_in = self._representatives()
        """For each step the one that stands for it: itself if it stays."""
        self.scopes, self.attrs = list(self.old.scopes), list(self.old.attrs)
        self.parents = [node.parent for node in self.old.nodes]
        self.times: dict[int, int] = {}
        """For sources that cannot lie in the scope of their iterations, how many these are."""
        self.scope_of_loop: list[int] = []
        self.before: dict[int, int] = {}
        """For each new scope, the scope that it must come before."""
        names = {row.name: 0 for rows in (self.old.scopes, self.old.nodes) for row in rows}
        for loop in loops:
            self.scope_of_loop.append(self._loop_scope(loop, names))
        self.node_of = self._representing()
        self.members = self._members()
        self.values = self._values()

    def _representatives(self) -> list[int]:
        stands_in = list(range(len(self.blocks.steps)))
        for loop in self.loops:
            for step in range(loop.start + loop.length, loop.start + loop.length * loop.count):
                stands_in[step] = loop.start + (step - loop.start) % loop.length
        for step, other in enumerate(stands_in):
            stands_in[step] = stands_in[other]  # an earlier step, so it is settled
        return stands_in

    def _loop_scope(self, loop: Loop, names: dict[str, int]) -> int:
        """Return the scope that stands for the iterations: that of the call which is one, or a new one around it."""
        blocks, scopes = self.blocks, self.scopes
        called = [scope_of(blocks, item) for item in loop.items]
        scope = called[0] if len(called) == 1 else -1
        if scope >= 0:
            row = scopes[scope].attrs
            scopes[scope] = replace(scopes[scope], repeats=loop.names, attrs=self._rolled(row) if loop.is_same else row)
        else:
            around = loop.scope
            parent = self.parents[blocks.steps[loop.items[0]]] if isinstance(loop.items[0], int) else -1
            if parent < 0:
                parent = scopes[called[0]].parent
            outer = scopes[around]
            name = unique(inner_name(outer, "repeat"), names)
            depth = outer.depth + (outer.kind == "module" or around == 0)
            scope = len(scopes)
            phase, attrs = scopes[parent].phase, self._rolled(0) if loop.is_same else 0
            scopes.append(
                Scope("region", name, outer.path, "repeat", 0, parent, depth, attrs, repeats=loop.names, phase=phase)
            )
            self.before[scope] = min([inner for inner in called if inner >= 0], default=scope)
            for item, inner in zip(loop.items, called, strict=True):
                if inner >= 0:
                    scopes[inner] = replace(scopes[inner], parent=scope)
                if isinstance(item, int):
                    self.parents[blocks.steps[item]] = scope
        is_node = isinstance(loop.items[0], int) and scope == called[0]
        self._move_sources(loop, scope, is_node=is_node)
        return scope

    def _rolled(self, row: int) -> int:
        """Return the attributes of a scope whose iterations all read the same."""
        self.attrs.append((*self.attrs[row], (ROLLED, True)))
        return len(self.attrs) - 1

    def _move_sources(self, loop: Loop, scope: int, *, is_node: bool) -> None:
        """Put what each iteration has one of its own into the scope that stands for the iterations.

        Where it cannot lie there, it says for how many it stands: beside a call that is one node, in which there is
        nothing, and around a loop that holds the iterations, all of which read the same.
        """
        for value in loop.own[0]:
            source = self.old.producers[value]
            if is_node or self._is_around_all(loop, source):
                row = self.old.nodes[source]
                before = self.times.get(source, self.old.times(row) // self.old.counts[row.parent])
                self.times[source] = before * loop.count
                continue
            around = self.parents[source]
            while around >= 0 and around != scope:
                around = self.scopes[around].parent
            if around < 0:
                self.parents[source] = scope

    def _is_around_all(self, loop: Loop, source: int) -> bool:
        """Return whether a source lies outside of a folded loop that the iterations lie in."""
        old = self.old
        outer = common(old, loop.scope, old.nodes[source].parent)
        return old.counts[loop.scope] > old.counts[outer]

    def _members(self) -> dict[int, list[int]]:
        """Return for each node that stands for several, and for each that it stands for, these nodes and itself."""
        members: dict[int, list[int]] = {}
        for index, first in self.node_of.items():
            members.setdefault(first, [first]).append(index)
        return members

    def _representing(self) -> dict[int, int]:
        """Return for each node that is left out the one that stands for it."""
        steps, producers = self.blocks.steps, self.old.producers
        found = {steps[step]: steps[other] for step, other in enumerate(self.stands_in) if step != other}
        for loop in reversed(self.loops):  # inner ones first
            for first, *others in zip(*loop.own, strict=True):
                source = found.get(producers[first], producers[first])
                found |= dict.fromkeys([producers[value] for value in others], source)
        return found

    def _values(self) -> list[int]:
        """Return for each value the one that is read in its place."""
        values, nodes = list(range(len(self.old.values))), self.old.nodes
        for index, first in self.node_of.items():
            for value, other in zip(nodes[index].outputs, nodes[first].outputs, strict=True):
                values[value] = other
        return values

    def graph(self) -> Graph:
        old, values = self.old, self.values
        kept = [index for index in range(len(old.nodes)) if index not in self.node_of]
        remaining = remaining_scopes(old, [old.nodes[index] for index in kept])
        order = sorted(
            [*remaining, *self.before],
            key=lambda scope: (self.before.get(scope, scope), scope not in self.before, scope),
        )
        new_id = {scope: position for position, scope in enumerate(order)}
        new_id[-1] = -1
        scopes = []
        for scope in order:
            row = self.scopes[scope]
            inputs, outputs = (tuple([values[value] for value in side]) for side in (row.inputs, row.outputs))
            scopes.append(replace(row, parent=new_id[row.parent], inputs=inputs, outputs=outputs))
        nodes = []
        for index in kept:
            node = old.nodes[index]
            if index in self.times:
                self.attrs.append(with_times(old.attrs[node.attrs], self.times[index]))
                node = replace(node, attrs=len(self.attrs) - 1)
            parent = self.parents[index]
            inside = self.scopes[parent].depth + (self.scopes[parent].kind == "module" or parent == 0)
            nodes.append(
                replace(
                    node,
                    parent=new_id[parent],
                    depth=node.depth if node.scope >= 0 else inside,
                    inputs=tuple([values[value] for value in node.inputs]),
                    scope=new_id[node.scope],
                )
            )
        position = {index: at for at, index in enumerate(kept)}
        carried = [replace(edge, loop=new_id.get(edge.loop, -1)) for edge in self._carried(position)]
        looped = replace(old, scopes=tuple(scopes), derivatives=self._derivatives())
        result = with_nodes(looped, nodes, attrs=self.attrs, carried=carried)
        members = {old.nodes[index].name: sorted(made) for index, made in self.members.items()}
        return derived(result, old, members)

    def _derivatives(self) -> tuple[Derivative, ...]:
        """Return what is differentiated, with the nodes that stand for those which are left out."""
        node_of = self.node_of
        rows = [
            (node_of.get(row.node, row.node), node_of.get(row.forward, row.forward)) for row in self.old.derivatives
        ]
        return tuple([Derivative(*row) for row in sorted(set(rows))])

    def _carried(self, position: dict[int, int]) -> Iterable[Carried]:
        old, blocks = self.old, self.blocks
        rows: dict[Carried, None] = {}
        for edge in old.carried:
            reader = position[self.node_of.get(edge.node, edge.node)]
            rows[replace(edge, value=self.values[edge.value], node=reader)] = None
        for loop, scope in zip(self.loops, self.scope_of_loop, strict=True):
            made = [value for step in loop_steps(loop) for value in old.nodes[blocks.steps[step]].outputs]
            later = [(item, first, made[offset]) for item, first, offset in loop.carried]
            for item, first, other in later + loop.begun:
                for step in range(*blocks.item_span(item)):
                    index = blocks.steps[step]
                    for port, value in enumerate(old.nodes[index].inputs):
                        if value == first and index in position:
                            rows[Carried(self.values[other], position[index], port, scope)] = None
        return rows


def loop_steps(loop: Loop) -> range:
    """Return the steps of the first iteration of a loop."""
    return range(loop.start, loop.start + loop.length)
