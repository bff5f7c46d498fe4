"""Keep a part of a graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from trec.analysis.selectors import nodes as selected
from trec.errors import OptionError
from trec.ir.builder import unique
from trec.ir.derivation import derived
from trec.ir.rewrite import remaining_scopes, with_nodes
from trec.ir.types import SOURCE_KINDS, AttrRow, Node

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trec.analysis.selectors import Selector
    from trec.ir.graph import Graph

_DIRECTIONS = ("both", "up", "down")


def focus(
    graph: Graph,
    on: Selector,
    *,
    to: Selector | None = None,
    steps: int | None = 0,
    direction: Literal["both", "up", "down"] = "both",
) -> Graph:
    """Return a part of the graph: some nodes, what lies between two of them, or what is near them.

    Values that come from outside become inputs, named after what made them; parameters, buffers and constants that
    the part reads come along. Values that are read outside become outputs. Positions of inputs and outputs are counted
    anew.

    Args:
        graph: what to rewrite.
        on: which nodes (see `trec.analysis.selectors.nodes`): a module by its path, a node by its name, ...
        to: keep everything on a path from `on` to these nodes as well, and nothing else.
        steps: how many uses of a value to go on from these nodes; None for as far as there are any.
        direction: where to go: `up` to what they depend on, `down` to what depends on them, or `both`.

    Ensures:
        A path leads from one remaining node to another exactly if one did before by way of remaining nodes.

    Raises:
        OptionError: a selector selects nothing, no path leads to `to`, or an option has a value that is not allowed.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2,), "float32")
        >>> value = builder.node("op", "relu", parent=root, results=[type_])
        >>> value = builder.node("op", "exp", parent=root, inputs=value, results=[type_])
        >>> _ = builder.node("op", "sum", parent=root, inputs=value)
        >>> print(focus(builder.build(), "exp"))
        graph Net: 3 nodes, 2 values, 1 scope
          %relu: f32[2] = input
          %1: f32[2] = exp(%relu)
          output(exp.output=%1)
    """
    if direction not in _DIRECTIONS:
        raise OptionError(f"direction must be one of {', '.join(map(repr, _DIRECTIONS))}, not {direction!r}")
    if steps is not None and (type(steps) is not int or steps < 0):
        raise OptionError(f"steps must be a natural number, or None for as far as possible, not {steps!r}")
    inside = bytearray(selected(graph, on, option="on"))
    if to is not None:
        if steps != 0 or direction != "both":
            raise OptionError("focus takes either to=, or steps= and direction=")
        inside = _between(graph, inside, bytearray(selected(graph, to, option="to")))
    elif steps != 0:
        up, down = direction != "down", direction != "up"
        inside = _near(graph, inside, len(graph.nodes) if steps is None else steps, up=up, down=down)
    return _part(graph, inside)


def _neighbours(graph: Graph, *, up: bool, down: bool) -> list[list[int]]:
    """Return for each node those that it reads from (up) or that read from it (down)."""
    found: list[list[int]] = [[] for _ in graph.nodes]
    uses = [(graph.producers[value], index) for index, node in enumerate(graph.nodes) for value in node.inputs]
    uses += [(graph.producers[edge.value], edge.node) for edge in graph.carried]
    for producer, user in uses:
        if up:
            found[user].append(producer)
        if down:
            found[producer].append(user)
    return found


def _near(graph: Graph, inside: bytearray, steps: int, *, up: bool, down: bool) -> bytearray:
    """Mark what can be reached in some steps; going both ways as far as possible does not turn back."""
    if up and down and steps >= len(graph.nodes):
        reached = [_near(graph, inside, steps, up=way, down=not way) for way in (True, False)]
        return bytearray(map(max, *reached))
    neighbours = _neighbours(graph, up=up, down=down)
    marks = bytearray(inside)
    edge = [index for index, mark in enumerate(inside) if mark]
    while edge and steps:
        steps -= 1
        found = []
        for index in edge:
            for neighbour in neighbours[index]:
                if not marks[neighbour]:
                    marks[neighbour] = 1
                    found.append(neighbour)
        edge = found
    return marks


def _between(graph: Graph, start: bytearray, end: bytearray) -> bytearray:
    far = len(graph.nodes)
    after, before = _near(graph, start, far, up=False, down=True), _near(graph, end, far, up=True, down=False)
    marks = bytearray(map(min, after, before))
    if not any(marks):
        raise OptionError("no path leads from `on` to `to`; is it the other way round?")
    return marks


def _part(graph: Graph, inside: bytearray) -> Graph:
    """Return the marked nodes as a graph of their own."""
    _add_boundary(graph, inside)
    kept = [node for node, mark in zip(graph.nodes, inside, strict=True) if mark]
    scopes = remaining_scopes(graph, kept)
    taken = {node.name: 0 for node in kept} | {graph.scopes[index].name: 0 for index in scopes}
    needed = {value for node in kept for value in node.inputs}
    needed |= {edge.value for edge in graph.carried if inside[edge.node]}
    returned = {node.inputs[0] for node in kept if node.kind == "output"}
    handed_on = {edge.value for edge in graph.carried if not inside[edge.node]}
    body: list[Node] = []
    outputs: list[Node] = []
    members: dict[str, list[int]] = {}
    for index, node in enumerate(graph.nodes):
        if inside[index] and node.kind != "output":
            body.append(node)
        for value in node.outputs:
            name = graph.values[value].name
            if not inside[index] and value in needed:
                name = unique(node.name if len(node.outputs) == 1 else name, taken)
                body.append(Node("input", "input", name, 0, 1, (), (value,)))
                members[name] = [index]
            elif inside[index] and value not in returned and _leaves(graph, node, value, inside, handed_on):
                name = unique(f"{name}.output", taken)
                outputs.append(Node("output", "output", name, 0, 1, (value,), ()))
                members[name] = [index]
    body += [node for node in kept if node.kind == "output"]
    place = {node.name: at for at, node in enumerate(body) if node.name not in members}
    carried = [replace(edge, node=place[graph.nodes[edge.node].name]) for edge in graph.carried if inside[edge.node]]
    nodes, attrs = counted([*body, *outputs], graph.attrs)
    return derived(with_nodes(graph, nodes, scopes=scopes, attrs=attrs, carried=carried), graph, members)


def _leaves(graph: Graph, node: Node, value: int, inside: bytearray, handed_on: set[int]) -> bool:
    """Return whether a value that a step of the part makes is read outside, now or in the next iteration of a loop."""
    if node.kind in SOURCE_KINDS:
        return False
    return value in handed_on or not all(inside[user] for user in graph.users[value])


def _add_boundary(graph: Graph, inside: bytearray) -> None:
    """Mark the sources that marked nodes read, and the outputs of what they make."""
    nodes, producers = graph.nodes, graph.producers
    for index in [index for index, mark in enumerate(inside) if mark]:
        for value in nodes[index].inputs:
            maker = nodes[producers[value]]
            if maker.kind in SOURCE_KINDS and not maker.inputs:
                inside[producers[value]] = 1
    for index, node in enumerate(nodes):
        if node.kind == "output" and inside[producers[node.inputs[0]]]:
            inside[index] = 1


def counted(nodes: Iterable[Node], rows: Iterable[AttrRow]) -> tuple[list[Node], list[AttrRow]]:
    """Return the nodes with the positions of inputs and outputs counted anew, and the attribute rows they refer to."""
    attrs = list(rows)
    counts = {"input": 0, "output": 0}
    result = []
    for node in nodes:
        if node.kind in counts:
            rest = [pair for pair in attrs[node.attrs] if pair[0] != "index"]
            attrs.append((("index", counts[node.kind]), *rest))
            counts[node.kind] += 1
            node = replace(node, attrs=len(attrs) - 1)
        result.append(node)
    return result, attrs
