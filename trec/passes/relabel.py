"""Call operators and modules something else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.errors import OptionError
from trec.ir.derivation import derived
from trec.ir.rewrite import revised
from trec.ir.tables import clean

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope

_FREE = frozenset({"op", "module", "region", "host"})
"""Kinds of nodes that may be called anything."""


def relabel(graph: Graph, labels: Mapping[str, str] | Callable[[Node | Scope], str]) -> Graph:
    """Return the graph with other words for what its nodes and calls do: the `op` of nodes, the `cls` of scopes.

    Args:
        graph: what to rewrite.
        labels: new words by old ones, for those that change, or a function that returns the word for a node or scope.
            Inputs, parameters, outputs and links are not asked: their op is what they are.

    Ensures:
        Nothing but these words changes.

    Raises:
        OptionError: a word is not text, or there are no words.
    """
    if not callable(labels) and not isinstance(labels, Mapping):
        raise OptionError(f"labels takes new words by old ones, or a function, not {labels!r}")
    nodes = []
    for node in graph.nodes:
        op = _new(labels, node, node.op) if node.kind in _FREE else node.op
        nodes.append(replace(node, op=op) if op != node.op else node)
    scopes = [replace(scope, cls=_new(labels, scope, scope.cls)) for scope in graph.scopes]
    return derived(revised(graph, nodes=tuple(nodes), scopes=tuple(scopes)), graph)


def _new(labels: Mapping[str, str] | Callable[[Node | Scope], str], row: Node | Scope, old: str) -> str:
    label = labels(row) if callable(labels) else labels.get(old, old)
    if not isinstance(label, str):
        raise OptionError(f"labels must give text, but give {label!r} for {row.name!r}")
    return clean(label)
