"""Draw a graph as PDF: one page as large as the picture, with text that can be searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from trec.backends.escape import printable
from trec.backends.svg import for_printing
from trec.backends.write import check_uncompressed
from trec.errors import DependencyError, OptionError, TrecError
from trec.ir.atomic import write_bytes

if TYPE_CHECKING:
    import os

    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph

_PAGE = b"""#set document(date: none, title: sys.inputs.title)
#set page(width: auto, height: auto, margin: 0pt)
#image(bytes(sys.inputs.picture), format: "svg")
"""
_LONGEST = 14_400.0
"""Longest side of a page in points, an implementation limit of readers: PDF 32000-1:2008, annex C."""


def to_pdf(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    wrap: float = 0,
    **options: Unpack[PictureOptions],
) -> bytes:
    """Return the drawing of a graph as PDF.

    Args:
        graph: what to draw.
        path: file that the page is written to as well.
        wrap: see `trec.backends.svg.to_svg`.
        **options: see `trec.backends.options.PictureOptions`.

    Raises:
        DependencyError: the package typst is not installed.
        OptionError: the picture is larger than a page can be, or `path` ends in `.gz`.
    """
    try:
        import typst
    except ImportError as error:
        raise DependencyError("to_pdf() needs the package typst: pip install 'trec[pdf]'") from error

    check_uncompressed(path)
    text, size = for_printing(graph, wrap, options)
    if max(size) > _LONGEST:
        raise OptionError(
            f"the picture is {size[0]:.0f} by {size[1]:.0f} points, but a page of PDF has at most {_LONGEST:.0f};"
            " collapse the graph, give wrap=, or use to_svg()"
        )
    inputs = {"picture": text, "title": printable(graph.name).replace("\0", "")}
    try:
        page = bytes(typst.compile(_PAGE, format="pdf", sys_inputs=inputs))
    except RuntimeError as error:
        raise TrecError(f"typst could not draw the graph: {error}") from error
    if path is not None:
        write_bytes(path, page)
    return page
