"""Keep one part of a step of training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.errors import OptionError
from trec.ir.builder import unique
from trec.ir.derivation import derived
from trec.ir.rewrite import with_nodes
from trec.ir.types import PHASES, SAVED, SOURCE_KINDS, Node
from trec.passes.focus import counted, focus
from trec.passes.tensors import is_shown, is_tensor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, Phase

_NEEDS_READERS = SOURCE_KINDS - {"input"}


def phase(graph: Graph, phase: Phase) -> Graph:
    """Return what of a graph belongs to one phase of a step of training.

    Args:
        graph: what to rewrite.
        phase: which one. Values that come from other phases become inputs, as the weights after a step. `forward`
            leaves no more than there would be if neither a backward pass nor an optimizer had been recorded: results
            that only autograd read are gone. Of `backward` and `optimizer` values that others read become outputs.

    Ensures:
        A path leads from one remaining node to another exactly if one did before by way of remaining nodes, and of
        tensors between them that are nodes only because another phase reads them: these are gone. A graph that
        `capture` made with `backward` has as its forward phase the graph that it makes without, at each level.

    Raises:
        OptionError: there is no such phase, or nothing of the graph belongs to it.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2,), "float32")
        >>> back = builder.scope("region", path="", cls="backward", parent=root, name="back", phase="backward")
        >>> value = builder.node("op", "exp", parent=root, results=[type_])
        >>> _ = builder.node("op", "ExpBackward0", parent=back, inputs=value)
        >>> print(phase(builder.build(), "forward"))
        graph Net: 1 node, 1 value, 1 scope
          %0: f32[2] = exp()
    """
    if phase not in PHASES:
        raise OptionError(f"there is no phase {phase!r}; known are: {', '.join(PHASES)}")
    if phase != "forward":
        return _later(graph, phase)
    if len(graph.phases) == 1:
        return graph
    nodes = _absorbed(_without_tensors(graph, _needed(graph)))
    taken = {node.name: 0 for node in nodes} | {scope.name: 0 for scope in graph.scopes if scope.phase == "forward"}
    made = {value for node in nodes for value in node.outputs}
    read = {value for node in nodes for value in node.inputs}
    foreign = read - made
    entering: list[Node] = []
    members: dict[str, list[int]] = {}
    for value in sorted(foreign):
        producer = graph.producers[value]
        name = unique(graph.nodes[producer].name, taken)
        entering.append(Node("input", "input", name, 0, 1, (), (value,)))
        members[name] = [producer]
    attrs = list(graph.attrs)
    trimmed = [_trimmed(graph, node, read, attrs) for node in nodes]
    if entering:
        trimmed, attrs = counted([*entering, *trimmed], attrs)
    place = {node.name: at for at, node in enumerate(trimmed) if node.name not in members}
    made |= foreign
    carried = [
        replace(edge, node=place[name])
        for edge in graph.carried
        if (name := graph.nodes[edge.node].name) in place and edge.value in made
    ]
    result = with_nodes(graph, trimmed, scopes=_forward_scopes(graph), attrs=attrs, carried=carried)
    result.__dict__.pop("lifetimes", None)  # alone, it would have given back sooner what the other phases read
    return derived(result, graph, members)


def _later(graph: Graph, phase: Phase) -> Graph:
    """Return what belongs to a phase behind the forward one; what it reads of others becomes inputs."""
    present = [graph.phase_of(node) for node in graph.nodes]
    if phase not in present:
        known = ", ".join([other for other in PHASES if other in present]) or "nothing"
        raise OptionError(f"nothing of the graph belongs to the phase {phase!r}; it has: {known}")
    return focus(graph, f"phase:{phase}")


def _forward_scopes(graph: Graph) -> list[int]:
    """Return the scopes of the forward phase and those around them."""
    stays = bytearray([scope.phase == "forward" for scope in graph.scopes])
    for index in range(len(graph.scopes) - 1, 0, -1):
        if stays[index]:
            stays[graph.scopes[index].parent] = 1
    return [index for index, mark in enumerate(stays) if mark]


def _needed(graph: Graph) -> list[Node]:
    """Return the nodes of the forward phase, but for what only other phases read or give out."""
    read: set[int] = set()
    found: list[Node] = []
    for node in reversed(graph.nodes):
        if graph.phase_of(node) != "forward" or _returns_other(graph, node):
            continue
        bound = node.kind in _NEEDS_READERS or (node.kind == "link" and node.op != "pass")
        if bound and read.isdisjoint(node.outputs) and any(graph.users[value] for value in node.outputs):
            continue
        read.update(node.inputs)
        found.append(node)
    return found[::-1]


def _returns_other(graph: Graph, node: Node) -> bool:
    """Return whether a node is an output that gives out what another phase made."""
    return node.kind == "output" and graph.phase_of(graph.nodes[graph.producers[node.inputs[0]]]) != "forward"


def _without_tensors(graph: Graph, nodes: list[Node]) -> list[Node]:
    """Return the nodes without tensors between them that `tensors` showed only because another phase read them."""
    readers: dict[int, list[Node]] = {}
    for node in nodes:
        for value in node.inputs:
            readers.setdefault(value, []).append(node)
    passed: dict[int, int] = {}
    for node in filter(is_tensor, graph.nodes):
        (value,), (result,) = node.inputs, node.outputs
        maker = graph.nodes[graph.producers[value]]
        if not is_shown(maker, [graph.nodes[user] for user in graph.users[result]], "boundaries"):
            return nodes  # every tensor is shown
        if not is_shown(maker, readers.get(result, []), "boundaries"):
            passed[result] = value
    kept = [node for node in nodes if passed.keys().isdisjoint(node.outputs)]
    return [_reading(node, passed) for node in kept]


def _reading(node: Node, passed: Mapping[int, int]) -> Node:
    inputs = tuple([passed.get(value, value) for value in node.inputs])
    return node if inputs == node.inputs else replace(node, inputs=inputs)


def _absorbed(nodes: list[Node]) -> list[Node]:
    """Return the nodes without the sources that one collapsed call alone reads, as in a graph that never had others."""
    readers: dict[int, set[int]] = {}
    for index, node in enumerate(nodes):
        for value in node.inputs:
            readers.setdefault(value, set()).add(index)
    inside: set[int] = set()
    for node in nodes:
        if node.kind in _NEEDS_READERS and not node.inputs:
            by = readers.get(node.outputs[0], set())
            if len(by) == 1 and nodes[next(iter(by))].kind == "module":
                inside.add(node.outputs[0])
    return [
        replace(node, inputs=tuple([value for value in node.inputs if value not in inside]))
        if not inside.isdisjoint(node.inputs)
        else node
        for node in nodes
        if inside.isdisjoint(node.outputs)
    ]


def _trimmed(graph: Graph, node: Node, read: set[int], attrs: list[AttrRow]) -> Node:
    """Return a node without the results that autograd alone read; a part of a graph may return what it saved."""
    row = graph.attrs[node.attrs]
    saved = dict(row).get(SAVED, 0)
    if node.kind == "module":
        own = 0
    elif isinstance(saved, int) and saved:
        own = len(node.outputs) - saved
    else:
        return node
    others = [value for value in node.outputs[own:] if value in read]
    if len(others) == len(node.outputs) - own:
        return node
    attrs.append(tuple([pair for pair in row if pair[0] != SAVED] + [(SAVED, len(others))] * bool(own and others)))
    return replace(node, outputs=(*node.outputs[:own], *others), attrs=len(attrs) - 1)
