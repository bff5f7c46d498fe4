"""Make tensors that cross the boundary of a call nodes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from trec.analysis.below import common
from trec.errors import OptionError
from trec.ir.builder import unique
from trec.ir.derivation import derived
from trec.ir.rewrite import with_nodes
from trec.ir.types import SOURCE_KINDS, Node, Value

if TYPE_CHECKING:
    from trec.ir.graph import Graph

_WHICH = ("boundaries", "all")


def tensors(graph: Graph, which: Literal["boundaries", "all"] = "boundaries") -> Graph:
    """Return the graph with tensors between steps as nodes: links of the op `tensor`.

    Args:
        graph: what to rewrite.
        which: `boundaries` takes the tensors that are made in one call and read in another, or that a collapsed call
            reads or yields; `all` takes every tensor that a step makes and another reads.

    Ensures:
        A path leads from one node to another exactly if one did before. A tensor lies in the innermost scope around
        its producer and all its readers of the same phase. What inputs, parameters, buffers and constants bring in is a
        node already.

    Raises:
        OptionError: `which` is neither.
    """
    if which not in _WHICH:
        raise OptionError(f"which must be one of {', '.join(map(repr, _WHICH))}, not {which!r}")
    taken = {row.name: 0 for rows in (graph.scopes, graph.nodes) for row in rows}
    values = list(graph.values)
    replaced: dict[int, int] = {}
    members: dict[str, list[int]] = {}
    result: list[Node] = []
    for index, node in enumerate(graph.nodes):
        inputs = tuple([replaced.get(value, value) for value in node.inputs])
        result.append(node if inputs == node.inputs else replace(node, inputs=inputs))
        for value in node.outputs:
            readers = [graph.nodes[user] for user in graph.users[value]]
            if is_shown(node, readers, which):
                name = unique(f"{graph.values[value].name}.tensor", taken)
                replaced[value] = len(values)
                values.append(Value(graph.values[value].type, name))
                members[name] = [index]
                phase = graph.phase_of(node)
                near = [node, *[reader for reader in readers if graph.phase_of(reader) == phase]]
                result.append(_tensor(graph, name, value, replaced[value], near))
    if not members:
        return graph
    position = {node.name: at for at, node in enumerate(result)}
    carried = [
        replace(edge, value=replaced.get(edge.value, edge.value), node=position[graph.nodes[edge.node].name])
        for edge in graph.carried
    ]
    return derived(with_nodes(graph, result, values=values, carried=carried), graph, members)


def is_shown(maker: Node, readers: list[Node], which: str) -> bool:
    """Return whether a tensor becomes a node, given what makes it and what reads it."""
    if maker.kind in SOURCE_KINDS or is_tensor(maker) or all(map(is_tensor, readers)):
        return False
    if which == "all" or maker.kind == "module":
        return True
    return any(reader.kind == "module" or reader.parent != maker.parent for reader in readers)


def is_tensor(node: Node) -> bool:
    """Return whether a node is a tensor between steps."""
    return node.kind == "link" and node.op == "tensor"


def _tensor(graph: Graph, name: str, value: int, result: int, near: list[Node]) -> Node:
    scope = near[0].parent
    for node in near:
        scope = common(graph, scope, node.parent)
    row = graph.scopes[scope]
    depth = row.depth + (row.kind == "module" or scope == 0)
    return Node("link", "tensor", name, scope, depth, (value,), (result,))
