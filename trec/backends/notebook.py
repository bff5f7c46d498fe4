"""Show a graph in a notebook."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trec.backends.escape import html
from trec.backends.html.page import to_html
from trec.backends.svg import to_svg
from trec.ir.atomic import write_text

if TYPE_CHECKING:
    from trec.ir.graph import Graph

_READABLE = 60
"""Nodes of a picture that still reads well in a notebook."""
_DEEPEST = 12
_LARGEST = 2_000_000
"""Characters of a page that a notebook can hold; Jupyter drops an output that is not much larger."""
_HEIGHT = 560
"""Height of a page in a notebook, in pixels."""


def mimebundle(graph: Graph) -> dict[str, str]:
    """Return what a notebook shows of a graph: a line of text and, where it can be drawn, a page and a picture.

    The page is in a frame that can reach nothing outside it. One that is too large for a notebook becomes a file beside
    it, which the notebook leads to, above the picture.
    """
    bundle = {"text/plain": repr(graph)}
    # A notebook shows a traceback instead of the value when this raises, whatever is wrong with the drawing.
    try:
        bundle["image/svg+xml"] = picture = to_svg(readable(graph), caption=True)
        bundle["text/html"] = _framed(graph, picture)
    except Exception:
        return bundle
    return bundle


def _framed(graph: Graph, picture: str) -> str:
    """Return a page as what a cell of a notebook shows."""
    page = to_html(graph)
    if len(page) > _LARGEST:
        return f"{_link(graph, page)}\n{picture}"
    source = page.replace("&", "&amp;").replace('"', "&quot;")
    return (
        f'<iframe srcdoc="{source}" sandbox="allow-scripts allow-downloads" title="{html(graph.name)}" width="100%"'
        f' height="{_HEIGHT}" frameborder="0" loading="lazy"></iframe>'
    )


def _link(graph: Graph, page: str) -> str:
    """Return a link to a page, which is written to a file beside the notebook."""
    size = f"{len(page) / 1e6:.1f} MB"
    name = f"trec-{re.sub('[^A-Za-z0-9_-]+', '-', graph.name)[:60]}.html"
    try:
        write_text(name, [page.removesuffix("\n")])
    except OSError:
        return f"<p>The page of this graph is too large for a notebook ({size}); to_html writes it to a file.</p>"
    return f'<p><a href="{name}" target="_blank">{name}</a> ({size}) shows all of this graph.</p>'


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
