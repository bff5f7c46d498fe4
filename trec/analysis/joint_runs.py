"""Which nodes and scopes of several runs are one: each run aligned with all before it, by path and structure."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from trec.analysis.align import align, ascending, gaps
from trec.analysis.blocks import Block, Blocks
from trec.ir.builder import GraphBuilder
from trec.ir.types import SOURCE_KINDS, Derivative

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from trec.analysis.align import Pairs
    from trec.ir.graph import Graph
    from trec.ir.types import Node

Item = Block | int
Members = dict[int, int]
"""For each run, the index in its graph."""


class Pairing(NamedTuple):
    """What of one graph is what of another, in pairs of indices."""

    scopes: dict[int, int]
    nodes: dict[int, int]
    """The steps among them ascend in both graphs."""


class JointRuns:
    """The nodes and scopes of several runs in one order, each once; no edge of any run leads backwards."""

    def __init__(self, graphs: Sequence[Graph]) -> None:
        self.graphs = graphs
        first = graphs[0]
        self.scopes: list[Members] = [{0: index} for index in range(len(first.scopes))]
        self.nodes: list[Members] = [{0: index} for index in range(len(first.nodes))]
        for run in range(1, len(graphs)):
            self._add(run)
        self.scope_at = [self._positions(self.scopes, run) for run in range(len(graphs))]
        """For each run, the joint scope that each of its scopes is."""
        self.node_at = [self._positions(self.nodes, run) for run in range(len(graphs))]
        """The same for nodes."""

    @staticmethod
    def _positions(rows: Sequence[Members], run: int) -> dict[int, int]:
        return {row[run]: at for at, row in enumerate(rows) if run in row}

    def _add(self, run: int) -> None:
        graph = self.graphs[run]
        skeleton = self._skeleton(run)
        pairing = paired(skeleton, graph)
        for here, there in pairing.scopes.items():
            self.scopes[here][run] = there
        known = set(pairing.scopes.values())
        self.scopes += [{run: index} for index in range(len(graph.scopes)) if index not in known]
        joint: list[Members] = []
        for here, there in _merged(skeleton, graph, pairing.nodes):
            members = self.nodes[here] if here >= 0 else {}
            joint.append({**members, run: there} if there >= 0 else members)
        self.nodes = joint

    def _skeleton(self, count: int) -> Graph:
        """Return the graph of the first runs, in which each node reads what it reads in the first that it ran in."""
        builder = GraphBuilder(self.graphs[0].name)
        at = [self._positions(self.scopes, run) for run in range(count)]
        values: list[dict[int, int]] = [{} for _ in range(count)]
        for members in self.scopes:
            run, index = next(iter(members.items()))
            graph, scope = self.graphs[run], self.graphs[run].scopes[index]
            parent = at[run][scope.parent] if scope.parent >= 0 else -1
            attrs = graph.attrs[scope.attrs]
            made_at = builder.scope(
                scope.kind, path=scope.path, cls=scope.cls, parent=parent, call=scope.call, name=scope.name,
                attrs=attrs, phase=scope.phase,
            )  # fmt: skip
            builder.scopes[made_at] = replace(builder.scopes[made_at], repeats=scope.repeats)
        for members in self.nodes:
            run, index = next(iter(members.items()))
            graph, node = self.graphs[run], self.graphs[run].nodes[index]
            made = builder.node(
                node.kind, node.op, parent=at[run][node.parent], name=node.name, attrs=graph.attrs[node.attrs],
                inputs=[values[run][value] for value in node.inputs], scope=at[run].get(node.scope, -1),
                results=[builder.types.add(graph.type_of(value)) for value in node.outputs],
            )  # fmt: skip
            for other, place in members.items():
                values[other].update(zip(self.graphs[other].nodes[place].outputs, made, strict=False))
            for other, place in members.items():  # results that only later runs have stand for the last one here
                late = self.graphs[other].nodes[place].outputs[len(made) :]
                values[other].update(dict.fromkeys(late, made[-1]) if made else {})
        nodes = [self._positions(self.nodes, run) for run in range(count)]
        pairs = {
            (nodes[run][row.node], nodes[run][row.forward])
            for run in range(count)
            for row in self.graphs[run].derivatives
        }
        builder.derivatives += [Derivative(*pair) for pair in sorted(pairs)]
        return builder.build()


def paired(before: Graph, after: Graph) -> Pairing:
    """Return which scopes and nodes of two graphs are one.

    Calls are matched from the root inwards, in order: within calls that are one, those of the same path and class, and
    steps of the same operator; modules first, and first those that are equal in all. Parameters and inputs go by name.

    Cost: near-linear, where most of the graphs is equal.
    """
    return _Pairs(before, after).found()


class _Pairs:
    def __init__(self, before: Graph, after: Graph) -> None:
        table: dict[Hashable, int] = {}
        self.blocks = tuple([Blocks(graph, shapes=False, names=False, table=table) for graph in (before, after)])
        self.closed = tuple([{node.scope for node in graph.nodes} for graph in (before, after)])
        self.scopes, self.came = {0: 0}, {0: 0}
        self.steps: Pairs = []

    def found(self) -> Pairing:
        pending = [(self.blocks[0].root, self.blocks[1].root)]
        while pending:
            one, other = pending.pop()
            for left, right in self._aligned(one.items, other.items):
                if isinstance(left, Block) and isinstance(right, Block):
                    if self._join(left.scope, right.scope):
                        pending.append((left, right))
                elif isinstance(left, int) and isinstance(right, int):
                    self._step(self.blocks[0].steps[left], self.blocks[1].steps[right])
        self._rest_of_scopes()
        sources, ends = self._by_name(SOURCE_KINDS), self._by_name({"output"})
        ordered = ascending(sorted({*self.steps, *ends}))
        return Pairing(self.scopes, self._agreeing(ordered, dict(sources)))

    def _agreeing(self, pairs: Pairs, nodes: dict[int, int]) -> dict[int, int]:
        """Return pairs of nodes, but those that differentiate different nodes of what both graphs have."""
        before, after = (blocks.graph for blocks in self.blocks)
        came = {there: here for here, there in nodes.items()}
        for here, there in pairs:
            one, other = before.differentiated.get(here, ()), after.differentiated.get(there, ())
            if {nodes[each] for each in one if each in nodes} == {each for each in other if each in came}:
                nodes[here], came[there] = there, here
        return nodes

    def _join(self, here: int, there: int) -> bool:
        """Make two scopes one, unless one of them is another already; return whether they are."""
        return self.scopes.setdefault(here, there) == there and self.came.setdefault(there, here) == here

    def _step(self, here: int, there: int) -> None:
        scopes = tuple([b.graph.nodes[index].scope for b, index in zip(self.blocks, (here, there), strict=True)])
        if max(scopes) < 0 or (min(scopes) >= 0 and self._join(*scopes)):
            self.steps.append((here, there))

    def _aligned(self, one: Sequence[Item], other: Sequence[Item]) -> Iterator[tuple[Item, Item]]:
        pairs: Pairs = []
        for is_module, is_strict in product((True, False), (True, False)):
            for left, right in gaps(pairs, len(one), len(other)):
                here = [at for at in left if not is_module or self._is_module(0, one[at])]
                there = [at for at in right if not is_module or self._is_module(1, other[at])]
                keys = [self._key(0, one[at], is_strict) for at in here]
                found = align(keys, [self._key(1, other[at], is_strict) for at in there])
                pairs += [(here[a], there[b]) for a, b in found]
            pairs.sort()
        for a, b in pairs:
            yield one[a], other[b]

    def _is_module(self, side: int, item: Item) -> bool:
        return isinstance(item, Block) and self.blocks[side].graph.scopes[item.scope].kind == "module"

    def _key(self, side: int, item: Item, is_strict: bool) -> Hashable:
        blocks = self.blocks[side]
        same = blocks.item_key(item) if is_strict else -1
        if isinstance(item, Block):
            return same, self._scope_key(side, item.scope)
        graph, node = blocks.graph, blocks.graph.nodes[blocks.steps[item]]
        types = [graph.type_of(value) for value in node.outputs[:1]]
        made = tuple([(len(type_.shape), type_.dtype, type_.device, type_.layout) for type_ in types])
        return same, node.kind, node.op, made, self._scope_key(side, node.scope) if node.scope >= 0 else None

    def _scope_key(self, side: int, index: int) -> Hashable:
        scope = self.blocks[side].graph.scopes[index]
        return scope.kind, scope.path, scope.cls, scope.phase, len(scope.repeats), index in self.closed[side]

    def _rest_of_scopes(self) -> None:
        """Match calls in which no step ran."""
        before, after = (blocks.graph for blocks in self.blocks)
        free: dict[Hashable, list[int]] = {}
        for index, scope in enumerate(after.scopes):
            if index not in self.came and not self.blocks[1].has_steps[index]:
                free.setdefault((scope.parent, scope.call, self._scope_key(1, index)), []).append(index)
        for index, scope in enumerate(before.scopes):
            if index not in self.scopes and not self.blocks[0].has_steps[index]:
                key = (self.scopes.get(scope.parent), scope.call, self._scope_key(0, index))
                if free.get(key):
                    self._join(index, free[key].pop(0))

    def _by_name(self, kinds: frozenset[str] | set[str]) -> Pairs:
        before, after = (blocks.graph for blocks in self.blocks)
        named = {
            node.name: index for index, node in enumerate(after.nodes) if node.kind in kinds and not self._is_step(node)
        }
        found: Pairs = []
        for index, node in enumerate(before.nodes):
            there = named.get(node.name, -1) if node.kind in kinds and not self._is_step(node) else -1
            if there >= 0:
                other = after.nodes[there]
                if node.kind == other.kind and self.scopes.get(node.parent) == other.parent:
                    found.append((index, there))
        return found

    @staticmethod
    def _is_step(node: Node) -> bool:
        return node.kind in SOURCE_KINDS and bool(node.inputs)


def _merged(before: Graph, after: Graph, nodes: dict[int, int]) -> Iterator[tuple[int, int]]:
    """Yield the nodes of two graphs in one order that fits both, as pairs; -1 where one of them has no such node.

    Args:
        before: the first graph.
        after: the second.
        nodes: pairs that are one; sources among them come as early as either graph needs them.
    """
    came = {there: here for here, there in nodes.items()}
    done = bytearray(len(before.nodes))
    here = 0
    for there, node in enumerate(after.nodes):
        partner = came.get(there, -1)
        if partner >= 0 and done[partner]:
            continue
        path = after.scopes[node.parent].path
        while (partner < 0 and here < len(done) and here not in nodes and _precedes(_path(before, here), path)) or (
            partner >= 0 and here < partner and (node.inputs or node.kind not in SOURCE_KINDS)
        ):
            if not done[here]:
                done[here] = 1
                yield here, nodes.get(here, -1)
            here += 1
        if partner >= 0:
            done[partner] = 1
        yield partner, there
    for index, is_done in enumerate(done):
        if not is_done:
            yield index, nodes.get(index, -1)


def _path(graph: Graph, node: int) -> str:
    return graph.scopes[graph.nodes[node].parent].path


def _precedes(one: str, other: str) -> bool:
    """Return whether two paths lead through members of one list, of which that of the first has the lower number."""
    for left, right in zip(one.split("."), other.split("."), strict=False):
        if left != right:
            return left.isdecimal() and right.isdecimal() and int(left) < int(right)
    return False
