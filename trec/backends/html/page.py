"""Show a graph as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.backends.html import document
from trec.backends.html.colours import given
from trec.backends.html.data import data
from trec.backends.html.folding import alike
from trec.backends.measure import check_wrap
from trec.backends.options import Rankdir, Shapes, complete
from trec.backends.style import DARK, chosen
from trec.errors import OptionError
from trec.ir.atomic import write_text
from trec.ir.collector import paused

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from trec.backends.style import Style
    from trec.backends.themes import ThemeName
    from trec.ir.graph import Graph


def to_html(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    depth: int | None = None,
    fold: bool = True,
    params: bool = False,
    shapes: Shapes = "changes",
    rankdir: Rankdir = "TB",
    wrap: float = 0,
    title: str = "",
    links: str = "",
    compress: bool = True,
    style: Style | ThemeName | None = None,
) -> str:
    """Return the graph as an interactive picture in one HTML file, which needs no network.

    All that the options say can be changed on the page.

    Args:
        graph: what to show; it should not be collapsed, since what is inside a collapsed call cannot be opened.
        path: file that the text is written to as well; with the suffix `.gz` it is compressed. To write a large graph
            without holding its text, use `graph.write`.
        depth: levels of modules that are open at first; as many as can be read at once by default.
        fold: whether one of several equal calls stands for all at first; see `trec.passes.fold.fold`.
        params: whether parameters and buffers are shown at first.
        shapes: which shapes are written along the edges.
        rankdir: where the flow goes.
        wrap: longest column of boxes in a module, in points; see `trec.backends.svg.to_svg`.
        title: what the page is called; the name of the graph by default.
        links: address of a line of the user's code; see `trec.backends.options.PictureOptions`.
        compress: whether the data is compressed, which makes the file ten times smaller; otherwise it is plain JSON.
        style: colours, fonts and sizes, or the name of a theme; by default light or dark as the reader's system is.

    Raises:
        OptionError: an option has a value that is not allowed.

    Cost: linear, about 60 µs a node.
    """
    found = lines(
        graph, depth=depth, fold=fold, params=params, shapes=shapes, rankdir=rankdir, wrap=wrap, title=title,
        links=links, compress=compress, style=style,
    )  # fmt: skip
    text = "\n".join(found) + "\n"
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text


def write(graph: Graph, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the graph as a page, line by line."""
    write_text(path, lines(graph, **options))


def lines(graph: Graph, *, compress: bool = True, **options: Any) -> Iterator[str]:
    """Yield the lines of a graph as a page, without line ends; options are those of `to_html`."""
    return document.lines(content(graph, **options), options.get("title") or graph.name, compressed=compress)


def content(
    graph: Graph,
    *,
    depth: int | None = None,
    fold: bool = True,
    params: bool = False,
    shapes: Shapes = "changes",
    rankdir: Rankdir = "TB",
    wrap: float = 0,
    title: str = "",
    links: str = "",
    style: Style | ThemeName | None = None,
) -> dict[str, Any]:
    """Return what a page of a graph holds, as `trec.backends.html.data` says; options are those of `to_html`."""
    complete({"shapes": shapes, "rankdir": rankdir, "title": title, "links": links, "params": params, "style": style})
    check_wrap(wrap)
    if depth is not None and (type(depth) is not int or depth < 0):
        raise OptionError(f"depth must be a natural number, not {depth!r}")
    look = chosen(style)
    with paused():
        found = data(graph, look, links=links, like=alike(graph))
        found["colours"] = given(graph, look)
    found["options"] = {
        "title": title,
        "depth": depth,
        "fold": fold,
        "params": params,
        "shapes": shapes,
        "direction": rankdir,
        "wrap": wrap,
        "theme": None if style is None else "dark" if look.theme is DARK else "light",
        "colours": look.colour_by if isinstance(look.colour_by, str) else "given",
    }
    return found
