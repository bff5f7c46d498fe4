"""Call operators and modules something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.ir.derivation import derived
from trec.ir.rewrite import revised
from trec.passes.new_words import checked, new_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope

_FREE = frozenset({"op", "module", "region", "host"})
"""Kinds of nodes that may be called anything."""


def relabel(
    graph: Graph, labels: Mapping[str, str] | Callable[[Node | Scope], str], *, missing_ok: bool = False
) -> Graph:
    """Return the graph with other words for what its nodes and calls do: the `op` of nodes, the `cls` of scopes.

    Args:
        graph: what to rewrite.
        labels: new words by old ones, for those that change, or a function that returns the word for a node or scope.
            Inputs, parameters, outputs and links are not asked: their op is what they are.
        missing_ok: whether there may be new words for what is not there.

    Ensures:
        Nothing but these words changes.

    Raises:
        OptionError: a word is not text, or nothing is called an old one; the message says what it could have been.
    """
    known = [scope.cls for scope in graph.scopes] + [node.op for node in graph.nodes if node.kind in _FREE]
    labels = checked(labels, known, "labels", missing_ok=missing_ok)
    nodes = []
    for node in graph.nodes:
        op = new_word(labels, node, node.op, "labels") if node.kind in _FREE else node.op
        nodes.append(replace(node, op=op) if op != node.op else node)
    scopes = [replace(scope, cls=new_word(labels, scope, scope.cls, "labels")) for scope in graph.scopes]
    return derived(revised(graph, nodes=tuple(nodes), scopes=tuple(scopes)), graph)
