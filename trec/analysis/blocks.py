"""The calls of a program as a tree of blocks, each with a signature that equal blocks share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from trec.analysis.folded_loops import FoldedLoops
from trec.analysis.groups import short_op
from trec.analysis.without_numbers import without_numbers
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, Node, Scope

_INDEXING = frozenset({"__getitem__", "select", "slice", "narrow", "index_select", "unbind", "tensor_split"})
"""Operators whose numbers say where to read: they may count on from one iteration to the next."""
COUNTER = re.compile(r"(?:\A|_)(?:idx|index|id|number|no)\Z")
"""Names of arguments that tell a module its position among its siblings."""


class Block:
    """Steps of one call that follow one another, and the calls inside it."""

    __slots__ = ("end", "ext", "ints", "items", "reads", "scope", "signature", "start")

    def __init__(self, scope: int, start: int) -> None:
        self.scope = scope
        """Index into `Graph.scopes`."""
        self.start = self.end = start
        """The first step, and the one after the last."""
        self.items: list[Block | int] = []
        """Steps of the call itself, and blocks of the calls in it, in program order."""
        self.signature = -1
        """Equal for two blocks exactly if they are the same program up to names, and read tensors of the same types."""
        self.ext: list[int] = []
        """Values that it reads from outside, in order of first use, without sources that nothing else reads."""
        self.reads: dict[int, int] = {}
        """How often it reads each source of `ext`."""
        self.ints: list[int] = []
        """Numbers in it that may count on from one repeat to the next, in program order."""


class Blocks:
    """The blocks of a graph.

    Equality is by hash-consing: a signature is the number of a tuple that holds the signatures of what is inside, so
    equal signatures mean equal programs, with no chance of a collision.

    Source: Merkle, "A digital signature based on a conventional encryption function" (1987), for trees of hashes.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        shapes: bool = True,
        ignore: Collection[str] = (),
        names: bool = True,
        table: dict[Hashable, int] | None = None,
    ) -> None:
        """Sign all blocks of a graph.

        Args:
            graph: the program.
            shapes: whether sizes must be equal, or ranks are enough.
            ignore: names of arguments that may differ.
            names: whether the names of modules must be alike, but for numbers in them.
            table: signatures of other graphs, to which those of this one are comparable then.
        """
        self.graph, self.ignore, self.names = graph, ignore, names
        self._signatures: dict[Hashable, int] = {} if table is None else table
        nodes = graph.nodes
        self.steps = [index for index, node in enumerate(nodes) if not _is_no_step(node)]
        """Indices into `Graph.nodes` of what is no source and no output."""
        self.number = [-1] * len(graph.values)
        """For each value, its number among those that steps make; -1 for others."""
        self.first = [0]
        """For each step, the number of the first value that it makes, and at the end how many there are."""
        count = 0
        for index in self.steps:
            for value in nodes[index].outputs:
                self.number[value] = count
                count += 1
            self.first.append(count)
        self.types = [
            self._interned(
                ("type", type_) if shapes else ("rank", len(type_.shape), type_.dtype, type_.device, type_.layout)
            )
            for type_ in graph.types
        ]
        self._value_types = [self.types[value.type] for value in graph.values]
        self._rows = [self._interned(("row", repr(row))) for row in graph.attrs]
        self.handed: dict[int, list[tuple[str, int, int]]] = {}
        """For each node that a loop around it carries something from or to: which, the port and the loop."""
        self._fixed = self._left_as_they_are(comparable=table is None)
        self._keys: dict[tuple[object, ...], tuple[int, list[int]]] = {}
        self._private = self._sources()
        self.has_steps = bytearray(len(graph.scopes))
        """For each scope but the root, whether a step ran in it."""
        self.folded = FoldedLoops(graph)
        """The loops that stand for several iterations already."""
        self.root, closed, split = self._tree()
        for block in closed:
            self._sign(block, whole=not split[block.scope])

    def _left_as_they_are(self, *, comparable: bool) -> set[int]:
        """Return the nodes that loops carry something from or to; if nodes are `comparable`, loops not around both."""
        graph, found = self.graph, set[int]()
        for edge in graph.carried:
            maker = graph.producers[edge.value]
            ends = (maker, edge.node)
            if not comparable or edge.loop < 0 or any(self._is_outside(index, edge.loop) for index in ends):
                found.update(ends)
                continue
            self.handed.setdefault(edge.node, []).append(("to", edge.port, edge.loop))
            port = graph.nodes[maker].outputs.index(edge.value)
            self.handed.setdefault(maker, []).append(("from", port, edge.loop))
        return found

    def _is_outside(self, index: int, loop: int) -> bool:
        """Return whether a node does not lie in the calls inside a loop; in the loop itself it is at the same place."""
        scope = self.graph.nodes[index].parent
        while scope > loop:
            scope = self.graph.scopes[scope].parent
        return scope != loop

    def _sources(self) -> dict[int, int]:
        """Return how often each value is read that a parameter, buffer or constant brings in, if only steps read it."""
        graph = self.graph
        kept = {edge.value for edge in graph.carried}
        kept |= {node.inputs[0] for node in graph.nodes if node.kind == "output"}
        found = {}
        for node in graph.nodes:
            if node.kind in SOURCE_KINDS and node.kind != "input" and not node.inputs and node.outputs[0] not in kept:
                found[node.outputs[0]] = len(graph.users[node.outputs[0]])
        return found

    def _tree(self) -> tuple[Block, list[Block], bytearray]:
        """Return the root, all blocks with those inside first, and the scopes that have several blocks."""
        scopes = self.graph.scopes
        stack = [Block(0, 0)]
        is_open, split = bytearray(len(scopes)), bytearray(len(scopes))
        entered = self.has_steps
        is_open[0] = 1
        closed: list[Block] = []

        def close(until: int, end: int) -> None:
            while stack and stack[-1].scope != until:
                block = stack.pop()
                is_open[block.scope] = 0
                block.end = end
                closed.append(block)

        root = stack[0]
        for step, index in enumerate(self.steps):
            parent = self.graph.nodes[index].parent
            if stack[-1].scope != parent:
                inner: list[int] = []
                scope = parent
                while not is_open[scope]:
                    inner.append(scope)
                    scope = scopes[scope].parent
                close(scope, step)
                for scope in reversed(inner):
                    split[scope] |= entered[scope]
                    is_open[scope] = entered[scope] = 1
                    block = Block(scope, step)
                    stack[-1].items.append(block)
                    stack.append(block)
            stack[-1].items.append(step)
        close(-1, len(self.steps))
        return root, closed, split

    def item_key(self, item: Block | int) -> int:
        """Return a number that equal steps or blocks share, if wiring among them is left aside."""
        if isinstance(item, Block):
            return item.signature
        node = self.graph.nodes[self.steps[item]]
        if self.steps[item] in self._fixed or (node.scope >= 0 and self.graph.scopes[node.scope].repeats):
            return self._unique()
        read = tuple([self._value_types[value] for value in node.inputs])
        return self._interned((self.node_key(node)[0], read, self._made(self.steps[item])))

    def item_ints(self, item: Block | int) -> list[int]:
        """Return the numbers in a step or block that may count on."""
        return item.ints if isinstance(item, Block) else self.node_key(self.graph.nodes[self.steps[item]])[1]

    def item_reads(self, item: Block | int) -> list[int] | tuple[int, ...]:
        """Return the values that a step or block reads from outside."""
        return item.ext if isinstance(item, Block) else self.graph.nodes[self.steps[item]].inputs

    def item_span(self, item: Block | int) -> tuple[int, int]:
        """Return the first step of an item, and the one after its last."""
        return (item.start, item.end) if isinstance(item, Block) else (item, item + 1)

    def node_key(self, node: Node) -> tuple[int, list[int]]:
        """Return what equal nodes have in common but wiring and types, and the numbers that may differ."""
        key = (node.kind, node.op, node.attrs, node.scope)
        found = self._keys.get(key)
        if found is None:
            ints: list[int] = []
            row: Hashable = self._rows[node.attrs]
            if short_op(node.op) in _INDEXING:
                row = without_numbers(self._attrs(node), ints)
            elif self.ignore:
                row = repr(self._attrs(node))
            standing = self._scope_key(self.graph.scopes[node.scope], ints) if node.scope >= 0 else None
            found = self._keys[key] = (self._interned((node.kind, node.op, row, standing)), ints)
        return found

    def _scope_key(self, scope: Scope, ints: list[int]) -> Hashable:
        if scope.kind == "function" and short_op(scope.cls) in _INDEXING:
            return scope.kind, scope.cls, without_numbers(self._attrs(scope), ints)
        row: list[tuple[str, Any]] = []
        for name, value in self._attrs(scope):
            if type(value) is int and COUNTER.search(name):
                ints.append(value)
                row.append((name, "#"))
            else:
                row.append((name, repr(value)))
        return scope.kind, scope.cls, stem(scope) if self.names else "", tuple(row)

    def _attrs(self, row: Node | Scope) -> AttrRow:
        pairs = self.graph.attrs[row.attrs]
        return tuple([pair for pair in pairs if pair[0] not in self.ignore]) if self.ignore else pairs

    def _made(self, index: int) -> tuple[Hashable, ...]:
        types = tuple([self._value_types[value] for value in self.graph.nodes[index].outputs])
        return (types, *sorted(self.handed[index])) if index in self.handed else types

    def _unique(self) -> int:
        return self._interned(("unique", len(self._signatures)))

    def _interned(self, key: Hashable) -> int:
        return self._signatures.setdefault(key, len(self._signatures))

    def _sign(self, block: Block, *, whole: bool) -> None:
        """Fill in what a block reads and its signature; the blocks inside it have theirs."""
        graph, number = self.graph, self.number
        low, high = self.first[block.start], self.first[block.end]
        outside: dict[int, int] = {}
        reads: dict[int, int] = {}
        scope = graph.scopes[block.scope]
        parts: list[Hashable] = [self._scope_key(scope, block.ints)]
        whole = whole and not scope.repeats
        for item in block.items:
            read = self.item_reads(item)
            references = []
            for value in read:
                at = number[value]
                references.append(at - low if low <= at < high else ~outside.setdefault(value, len(outside)))
                if value in self._private:
                    reads[value] = reads.get(value, 0) + (item.reads[value] if isinstance(item, Block) else 1)
            if isinstance(item, Block):
                parts.append((item.signature, tuple(references)))
                block.ints += item.ints
            else:
                node = graph.nodes[self.steps[item]]
                key, ints = self.node_key(node)
                block.ints += ints
                parts.append((key, self._made(self.steps[item]), tuple(references)))
                whole = whole and self.steps[item] not in self._fixed
                whole = whole and not (node.scope >= 0 and graph.scopes[node.scope].repeats)
        own = {value for value, count in reads.items() if count == self._private[value]}
        read_types = [
            (self._kind(value), self.types[graph.values[value].type], value in own) for value in outside
        ]  # fmt: skip
        block.ext = [value for value in outside if value not in own]
        block.reads = {value: reads[value] for value in block.ext if value in reads}
        block.signature = self._interned((tuple(parts), tuple(read_types))) if whole else self._unique()

    def _kind(self, value: int) -> str:
        kind = self.graph.nodes[self.graph.producers[value]].kind
        return kind if value in self._private else "value"

    def is_source(self, value: int) -> bool:
        """Return whether a parameter, buffer or constant brings a value in that only steps read."""
        return value in self._private

    def is_private(self, value: int, start: int, end: int) -> bool:
        """Return whether only the steps of a span read a value that a parameter, buffer or constant brings in."""
        if value not in self._private:
            return False
        users = self.graph.users[value]
        return self.steps[start] <= users[0] and users[-1] <= self.steps[end - 1]


def stem(scope: Scope) -> str:
    """Return the last part of the path of a call, with `#` for every number in it, so siblings in a list are alike."""
    return re.sub(r"\d+", "#", scope.path.rpartition(".")[2]) if scope.kind == "module" else scope.cls


def _is_no_step(node: Node) -> bool:
    return node.kind == "output" or (node.kind in SOURCE_KINDS and not node.inputs)
