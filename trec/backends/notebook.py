"""Show a graph in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends.svg import to_svg

if TYPE_CHECKING:
    from trec.ir.graph import Graph

_READABLE = 60
"""Nodes of a picture that still reads well in a notebook."""
_DEEPEST = 12


def mimebundle(graph: Graph) -> dict[str, str]:
    """Return what a notebook shows of a graph: a line of text and, where it can be drawn, a picture.

    A large graph is collapsed to the greatest depth at which the picture can still be read.
    """
    bundle = {"text/plain": repr(graph)}
    # A notebook shows a traceback instead of the value when this raises, whatever is wrong with the drawing.
    try:
        bundle["image/svg+xml"] = to_svg(readable(graph), caption=True)
    except Exception:
        return bundle
    return bundle


def readable(graph: Graph) -> Graph:
    """Return the graph collapsed to the greatest depth at which it has few nodes; as it is if it has few already."""
    if _size(graph) <= _READABLE:
        return graph
    shown = graph
    deepest = min(_DEEPEST, max(node.depth for node in graph.nodes))
    for depth in range(deepest, -1, -1):
        shown = graph.collapse(depth=depth)
        if _size(shown) <= _READABLE:
            break
    return shown


def _size(graph: Graph) -> int:
    return sum([node.kind not in ("param", "buffer") for node in graph.nodes])
