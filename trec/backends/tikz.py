"""Draw a graph in TikZ, for papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from trec.backends.lower import lower
from trec.backends.measure import diagram
from trec.backends.tikz_page import lines
from trec.errors import OptionError
from trec.ir.atomic import write_text
from trec.layout.arrange import arrange

if TYPE_CHECKING:
    import os

    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph

_LONGEST = 16000.0
"""Greatest length in points that TeX can count to, with some room for text."""


def to_tikz(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    wrap: float = 0,
    standalone: bool = True,
    **options: Unpack[PictureOptions],
) -> str:
    r"""Return the drawing of a graph in TikZ, which any LaTeX with TikZ compiles.

    Signs that are neither Latin nor common in mathematics, such as emoji, are `?` with pdfTeX; LuaTeX shows those that
    the font of the document has.

    Args:
        graph: what to draw.
        path: file that the text is written to as well; with the suffix `.gz` it is compressed.
        wrap: see `trec.backends.svg.to_svg`.
        standalone: whether the text is a document of one page as large as the picture; otherwise it is a
            `tikzpicture` to `\input` into a document that says `\usepackage{tikz}` and
            `\usetikzlibrary{arrows.meta}`.
        **options: see `trec.backends.options.PictureOptions`.

    Raises:
        OptionError: the picture is larger than TeX can count, about five metres.

    Cost: as that of `trec.backends.svg.to_svg`; TeX itself takes about a millisecond for each box and edge.
    """
    drawing = lower(graph, **options)
    measured = diagram(drawing, wrap=wrap)
    placement = arrange(measured)
    if max(placement.size) > _LONGEST:
        width, height = placement.size
        raise OptionError(
            f"the picture is {width:.0f} by {height:.0f} points, and TeX counts to {_LONGEST:.0f} only; collapse or"
            " fold the graph, give wrap=, or use to_pdf()"
        )
    text = "\n".join(lines(drawing, measured, placement, standalone=standalone)) + "\n"
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text
