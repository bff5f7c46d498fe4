"""The colours that a style of the user's own gives to nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trec.backends.colouring import colouring

if TYPE_CHECKING:
    from trec.backends.style import Style
    from trec.backends.themes import Paint
    from trec.ir.graph import Graph


def given(graph: Graph, style: Style) -> dict[str, Any] | None:
    """Return what a function in `Style.colour_by` makes of nodes; None where colours stand for a fact.

    The rows of `paints` are colours, `nodes` are pairs of a node and a position in `paints`, `keys` pairs of a text and
    such a position, for the legend.
    """
    if not callable(style.colour_by):
        return None
    found = colouring(graph, style, range(len(graph.nodes)))
    paints: dict[Paint, int] = {}
    nodes = [[node, paints.setdefault(paint, len(paints))] for node, paint in found.paints.items()]
    keys = [[key.text, paints.setdefault(key.paint, len(paints))] for key in found.keys]
    return {"paints": msgspec.to_builtins(list(paints)), "nodes": nodes, "keys": keys}
