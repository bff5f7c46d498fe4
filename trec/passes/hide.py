"""Leave out nodes that are of no interest, and join what they stood between."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.selectors import nodes as selected
from trec.ir.collector import paused
from trec.ir.derivation import derived
from trec.ir.rewrite import remaining_scopes, with_nodes
from trec.ir.types import Carried, Node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.analysis.selectors import Selector
    from trec.ir.graph import Graph

_FEW = frozenset({"output", "link", "param", "buffer"})
"""Kinds of nodes that are bound to a number of inputs."""


def hide(graph: Graph, what: Selector, *, missing_ok: bool = False) -> Graph:
    """Return the graph without some nodes, whose readers now read what these read.

    A reader of a hidden node that read several values has an input for each, one that read nothing has none; so ports
    can move. Calls that hold nothing any more are left out.

    Args:
        graph: what to rewrite.
        what: which nodes; see `trec.analysis.selectors.nodes`. Common ones are `is:view`, `is:cast`, `is:identity`,
            `is:dropout` (switched off), `kind:param`, `kind:buffer` and `kind:constant`.
        missing_ok: whether there may be none.

    Ensures:
        A path leads from one remaining node to another exactly if one did before. A hidden node stays where an output
        would otherwise show another tensor than was returned, or a link would read nothing.

    Raises:
        OptionError: the selector is wrong, or selects nothing; the message says what it could have been.

    Cost: linear, but for hidden nodes that join many values again and again.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2, 3), "float32")
        >>> value = builder.node("op", "relu", parent=root, results=[type_])
        >>> value = builder.node("op", "t", parent=root, inputs=value, results=[type_])
        >>> _ = builder.node("op", "sum", parent=root, inputs=value)
        >>> print(hide(builder.build(), "is:view"))
        graph Net: 2 nodes, 1 value, 1 scope
          %0: f32[2,3] = relu()
          sum(%0)
    """
    hidden = bytearray(selected(graph, what, option="what", missing_ok=missing_ok))
    if not any(hidden):
        return graph
    with paused():
        around = _settled(graph, hidden)
        ports: dict[int, list[int]] = {}
        kept = []
        for index, node in enumerate(graph.nodes):
            if not hidden[index]:
                kept.append(_joined(graph, index, node, around, ports))
        carried = _carried(graph, hidden, around, ports) if graph.carried else ()
        result = with_nodes(graph, kept, scopes=remaining_scopes(graph, kept), carried=carried)
    return derived(result, graph)


def _settled(graph: Graph, hidden: bytearray) -> dict[int, tuple[int, ...]]:
    """Unmark what must stay; return for each hidden node the values of nodes that stay which reach it."""
    bound = [node for index, node in enumerate(graph.nodes) if node.kind in _FEW and node.inputs and not hidden[index]]
    while True:
        around = _around(graph, hidden)
        stuck = set()
        for node in bound:
            stuck |= _needed(graph, node, around)
        if not stuck:
            return around
        for index in stuck:
            hidden[index] = 0
        bound += [graph.nodes[index] for index in sorted(stuck) if graph.nodes[index].kind in _FEW]


def _around(graph: Graph, hidden: bytearray) -> dict[int, tuple[int, ...]]:
    producers = graph.producers
    around: dict[int, tuple[int, ...]] = {}
    index = hidden.find(1)
    while index >= 0:
        reached: dict[int, None] = {}
        for value in graph.nodes[index].inputs:
            reached.update(dict.fromkeys(around.get(producers[value], (value,))))
        around[index] = tuple(reached)
        index = hidden.find(1, index + 1)
    return around


def _needed(graph: Graph, node: Node, around: dict[int, tuple[int, ...]]) -> set[int]:
    """Return the hidden nodes that must stay, since this one would have too many inputs, none, or another type."""
    made_by = [graph.producers[value] for value in node.inputs]
    hidden = {maker for maker in made_by if maker in around}
    if not hidden:
        return hidden
    if node.kind == "link":
        return set() if any(around.get(maker, (0,)) for maker in made_by) else {made_by[0]}
    reached = around[made_by[0]]
    if node.kind == "output":
        same = len(reached) == 1 and graph.values[reached[0]].type == graph.values[node.inputs[0]].type
        return set() if same else hidden
    return set() if len(reached) <= 1 else hidden


def _joined(
    graph: Graph, index: int, node: Node, around: dict[int, tuple[int, ...]], ports: dict[int, list[int]]
) -> Node:
    """Return a node that reads past hidden ones; where that moves its ports, note where each begins."""
    producers = graph.producers
    if not any(producers[value] in around for value in node.inputs):
        return node
    inputs: list[int] = []
    begins: list[int] = []
    for value in node.inputs:
        begins.append(len(inputs))
        inputs += around.get(producers[value], (value,))
    ports[index] = [port if port < end else -1 for port, end in zip(begins, [*begins[1:], len(inputs)], strict=True)]
    return Node(
        node.kind,
        node.op,
        node.name,
        node.parent,
        node.depth,
        tuple(inputs),
        node.outputs,
        node.attrs,
        node.source,
        node.scope,
    )


def _carried(
    graph: Graph, hidden: bytearray, around: dict[int, tuple[int, ...]], ports: dict[int, list[int]]
) -> Iterable[Carried]:
    """Return what loops carry past hidden nodes; nodes are positions among those that stay."""
    producers = graph.producers
    late = _late(graph, around)
    position = {index: at for at, index in enumerate([i for i in range(len(graph.nodes)) if not hidden[i]])}
    rows: dict[Carried, None] = {}

    def add(value: int, index: int, port: int, loop: int) -> None:
        port = ports[index][port] if port >= 0 and index in ports else port
        rows[Carried(value, position[index], port, loop)] = None

    for edge in graph.carried:
        if not hidden[edge.node]:
            maker = producers[edge.value]
            for value in around.get(maker, (edge.value,)):
                add(value, edge.node, edge.port, edge.loop)
            for value, loop in late.get(maker, ()):
                add(value, edge.node, edge.port, loop)
    for index in position:
        for port, value in enumerate(graph.nodes[index].inputs):
            for carried, loop in late.get(producers[value], ()):
                add(carried, index, port, loop)
    return rows


def _late(graph: Graph, around: dict[int, tuple[int, ...]]) -> dict[int, dict[tuple[int, int], None]]:
    """Return for each hidden node what reaches it in a later iteration: values of nodes that stay, and their loops."""
    producers = graph.producers
    late: dict[int, dict[tuple[int, int], None]] = {index: {} for index in around}
    growing = True
    while growing:
        before = sum(map(len, late.values()))
        for edge in graph.carried:
            if edge.node in late:
                maker = producers[edge.value]
                late[edge.node] |= {(value, edge.loop): None for value in around.get(maker, (edge.value,))}
                late[edge.node] |= late.get(maker, {})
        for index, found in late.items():
            for value in graph.nodes[index].inputs:
                found |= late.get(producers[value], {})
        growing = sum(map(len, late.values())) > before
    return late
