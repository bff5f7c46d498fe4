"""Draw a graph as PNG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from trec.backends.svg import for_printing
from trec.backends.write import check_uncompressed
from trec.errors import DependencyError, OptionError, TrecError
from trec.ir.atomic import write_bytes

if TYPE_CHECKING:
    import os

    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph

_PIXELS = 300_000_000
"""Most pixels of a picture; more would take more than a gigabyte of memory."""


def to_png(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    scale: float = 2,
    wrap: float = 0,
    **options: Unpack[PictureOptions],
) -> bytes:
    """Return the drawing of a graph as PNG.

    Args:
        graph: what to draw.
        path: file that the picture is written to as well.
        scale: pixels for each point of the picture.
        wrap: see `trec.backends.svg.to_svg`.
        **options: see `trec.backends.options.PictureOptions`.

    Raises:
        DependencyError: the package resvg-py is not installed.
        OptionError: the scale is no positive number, the picture would have hundreds of millions of pixels, or `path`
            ends in `.gz`.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise DependencyError("to_png() needs the package resvg-py: pip install 'trec[png]'") from error

    check_uncompressed(path)
    if type(scale) not in (int, float) or not 0 < scale < float("inf"):
        raise OptionError(f"scale must be a positive number, the pixels for each point, not {scale!r}")
    text, (width, height) = for_printing(graph, wrap, options)
    if width * height * scale * scale > _PIXELS:
        raise OptionError(
            f"the picture is {width:.0f} by {height:.0f} points, which is too large for PNG at scale={scale:g};"
            " collapse the graph, give wrap= or a smaller scale, or use to_svg() or to_pdf()"
        )
    try:
        picture = bytes(resvg_py.svg_to_bytes(svg_string=text, zoom=float(scale), dpi=72.0))
    except ValueError as error:
        raise TrecError(f"resvg could not draw the graph: {error}") from error
    if path is not None:
        write_bytes(path, picture)
    return picture
