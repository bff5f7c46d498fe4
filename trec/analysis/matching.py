"""Which nodes and scopes of one graph are which of another."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from trec.analysis.align import align, gaps
from trec.analysis.blocks import Block, Blocks
from trec.analysis.groups import short_op

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from trec.analysis.align import Pairs
    from trec.ir.graph import Graph

Item = Block | int


class Matching:
    """Pairs of nodes and of scopes of two graphs.

    Blocks are matched from the root inwards: those that are the same program first, then those with the same name and
    class, with the same name, with the same class; each time in order, within what is still open between matches. What
    is left and equal is matched out of order: it was moved. Parameters follow the steps that read them.
    """

    def __init__(self, before: Graph, after: Graph) -> None:
        table: dict[Hashable, int] = {}
        self.before, self.after = Blocks(before, names=False, table=table), Blocks(after, names=False, table=table)
        self.nodes: dict[int, int] = {}
        """Nodes of `before` and the nodes of `after` that they became."""
        self.scopes: dict[int, int] = {0: 0}
        """The same for scopes."""
        self.moved: set[int] = set()
        """Nodes of `after` that stand elsewhere in the order, or in another call, than before."""
        self.moved_scopes: set[int] = set()
        """The same for scopes."""
        self.taken: set[int] = set()
        """Nodes of `after` that are matched."""
        self._left: tuple[list[Item], list[Item]] = ([], [])
        self._pending: list[tuple[Block, Block]] = [(self.before.root, self.after.root)]
        self._drain()
        self._match_moved()
        self._match_empty()
        self._match_boundary("input")
        self._match_sources()
        self._match_boundary("output")

    def _drain(self) -> None:
        while self._pending:
            one, other = self._pending.pop()
            self._inside(one.items, other.items)

    # ---- steps and calls, in order

    def _inside(self, one: Sequence[Item], other: Sequence[Item]) -> None:
        """Match the items of two calls that are matched."""
        pairs: Pairs = []
        for key in (_strict, _alike, _named, _classed):
            stretches = gaps(pairs, len(one), len(other)) if pairs else [(range(len(one)), range(len(other)))]
            for left, right in stretches:
                here = [key(self.before, one[at], 0) for at in left]
                there = [key(self.after, other[at], 1) for at in right]
                pairs += [(left[a], right[b]) for a, b in align(here, there)]
            pairs.sort()
        for left, right in gaps(pairs, len(one), len(other)) if pairs else [(range(len(one)), range(len(other)))]:
            pairs += self._exchanged([(at, one[at]) for at in left], [(at, other[at]) for at in right])
        paired = {a for a, _ in pairs}, {b for _, b in pairs}
        for a, b in pairs:
            self._pair(one[a], other[b])
        for side, items, known in zip(self._left, (one, other), paired, strict=True):
            side += [item for at, item in enumerate(items) if at not in known]

    def _exchanged(self, one: list[tuple[int, Item]], other: list[tuple[int, Item]]) -> Pairs:
        """Match steps that stand in the same gap and yield the same types: another operator does the work."""
        here = [(at, step) for at, step in one if isinstance(step, int)]
        there = [(at, step) for at, step in other if isinstance(step, int)]
        if len(here) != len(there):
            return []
        kept = []
        for (a, left), (b, right) in zip(here, there, strict=True):
            yields = [
                [str(blocks.graph.type_of(value)) for value in blocks.graph.nodes[blocks.steps[step]].outputs]
                for blocks, step in ((self.before, left), (self.after, right))
            ]
            if yields[0] == yields[1]:
                kept.append((a, b))
        return kept

    def _pair(self, one: Item, other: Item) -> None:
        """Match two items, and all that is in them if they are the same program."""
        pending = [(one, other)]
        while pending:
            one, other = pending.pop()
            if isinstance(one, Block) and isinstance(other, Block):
                self.scopes.setdefault(one.scope, other.scope)
                if one.signature == other.signature:
                    pending += zip(one.items, other.items, strict=True)
                else:
                    self._pending.append((one, other))
            elif isinstance(one, int) and isinstance(other, int):
                here, there = self.before.steps[one], self.after.steps[other]
                self.nodes[here] = there
                self.taken.add(there)
                scopes = self.before.graph.nodes[here].scope, self.after.graph.nodes[there].scope
                if min(scopes) >= 0:
                    self.scopes.setdefault(*scopes)

    # ---- what was moved

    def _match_moved(self) -> None:
        """Match what is left and equal, whatever its place, calls with the most steps first."""
        while True:
            left, right = (sorted(side, key=_size, reverse=True) for side in self._left)
            self._left = ([], [])
            there: dict[int, deque[Item]] = {}
            for item in right:
                there.setdefault(self.after.item_key(item), deque()).append(item)
            found = False
            for item in left:
                partners = there.get(self.before.item_key(item))
                if partners and (isinstance(item, Block) or not self._is_loose(item)):
                    other = partners.popleft()
                    self._pair(item, other)
                    self._mark(other)
                    found = True
                else:
                    self._left[0].append(item)
            self._left[1].extend([item for items in there.values() for item in items])
            self._drain()
            if not found:
                return

    def _is_loose(self, step: int) -> bool:
        """Return whether a step is too common to be recognised out of its place: one that reads no parameter."""
        graph = self.before.graph
        node = graph.nodes[self.before.steps[step]]
        return not any(self.before.is_source(value) for value in node.inputs)

    def _mark(self, item: Item) -> None:
        if isinstance(item, Block):
            self.moved_scopes.add(item.scope)
        else:
            self.moved.add(self.after.steps[item])

    # ---- what is no step

    def _match_empty(self) -> None:
        """Match calls in which no step ran, by class and name, in order."""
        known = set(self.scopes.values())
        free: dict[Hashable, deque[int]] = {}
        for index, scope in enumerate(self.after.graph.scopes):
            if index not in known and not self.after.has_steps[index]:
                free.setdefault((scope.parent, scope.kind, scope.cls), deque()).append(index)
        for index, scope in enumerate(self.before.graph.scopes):
            if index not in self.scopes and not self.before.has_steps[index]:
                alike = free.get((self.scopes.get(scope.parent), scope.kind, scope.cls))
                if alike:
                    self.scopes[index] = alike.popleft()

    def _match_sources(self) -> None:
        """Match parameters, buffers and constants by the steps that read them, then by name."""
        one, other = self.before.graph, self.after.graph
        for here, there in sorted(self.nodes.items()):
            for value, partner in zip(one.nodes[here].inputs, other.nodes[there].inputs, strict=False):
                self._match_source(one.producers[value], other.producers[partner])
        for index, node in enumerate(one.nodes):
            if node.kind in _SOURCES and index not in self.nodes:
                self._match_source(index, other.index_of.get(node.name, -1))

        rest: dict[Hashable, deque[int]] = {}
        for index, node in enumerate(other.nodes):
            if node.kind in _SOURCES and index not in self.taken:
                rest.setdefault((node.kind, str(other.type_of(node.outputs[0]))), deque()).append(index)
        for index, node in enumerate(one.nodes):
            if node.kind in _SOURCES and index not in self.nodes:
                alike = rest.get((node.kind, str(one.type_of(node.outputs[0]))))
                if alike:
                    self._match_source(index, alike.popleft())

    def _match_source(self, here: int, there: int) -> None:
        if there >= 0 and here not in self.nodes and there not in self.taken:
            kind = self.before.graph.nodes[here].kind
            if kind in _SOURCES and kind == self.after.graph.nodes[there].kind:
                self.nodes[here] = there
                self.taken.add(there)

    def _match_boundary(self, kind: str) -> None:
        """Match inputs or outputs by name, then by position."""
        here, there = (
            [index for index, node in enumerate(graph.nodes) if node.kind == kind]
            for graph in (self.before.graph, self.after.graph)
        )
        names = {self.after.graph.nodes[index].name: index for index in there}
        for index in here:
            partner = names.get(self.before.graph.nodes[index].name)
            if partner is not None:
                self.nodes[index] = partner
                self.taken.add(partner)
        rest = [index for index in here if index not in self.nodes], [i for i in there if i not in self.taken]
        for index, partner in zip(*rest, strict=False):
            self.nodes[index] = partner
            self.taken.add(partner)


_SOURCES = frozenset({"param", "buffer", "constant"})


def _size(item: Item) -> int:
    return item.end - item.start if isinstance(item, Block) else 1


def _strict(blocks: Blocks, item: Item, side: int) -> Hashable:
    return blocks.item_key(item)


def _alike(blocks: Blocks, item: Item, side: int) -> Hashable:
    if isinstance(item, Block):
        scope = blocks.graph.scopes[item.scope]
        return scope.cls, scope.path.rpartition(".")[2]
    node = blocks.graph.nodes[blocks.steps[item]]
    return node.kind, short_op(node.op).rstrip("_")


def _named(blocks: Blocks, item: Item, side: int) -> Hashable:
    if isinstance(item, Block):
        return blocks.graph.scopes[item.scope].path.rpartition(".")[2]
    return side, item


def _classed(blocks: Blocks, item: Item, side: int) -> Hashable:
    return blocks.graph.scopes[item.scope].cls if isinstance(item, Block) else (side, item)
