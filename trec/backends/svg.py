"""Draw a graph as SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack, get_args

from msgspec.structs import replace

from trec.backends import svg_by_dot
from trec.backends.lower import lower
from trec.backends.measure import diagram
from trec.backends.options import PictureOptions, check
from trec.backends.svg_page import lines
from trec.ir.atomic import write_text
from trec.layout.arrange import arrange

if TYPE_CHECKING:
    import os

    from trec.ir.graph import Graph

Engine = Literal["own", "dot"]

_FONTS = "Liberation Sans, Arimo, Nimbus Sans, DejaVu Sans, Noto Sans, Roboto, Segoe UI, sans-serif"
"""What stands in for Helvetica and Arial, by the names of the fonts themselves."""


def to_svg(
    graph: Graph,
    path: str | os.PathLike[str] | None = None,
    *,
    wrap: float = 0,
    engine: Engine = "own",
    **options: Unpack[PictureOptions],
) -> str:
    """Return the drawing of a graph as SVG, with a tooltip on everything.

    Args:
        graph: what to draw.
        path: file that the text is written to as well; with the suffix `.gz` it is compressed.
        wrap: longest column of boxes in a module, in points; a longer one goes on beside itself. 0 for any length.
        engine: what places the boxes: `own` needs nothing, `dot` is the installed Graphviz.
        **options: see `trec.backends.options.PictureOptions`.

    Raises:
        DependencyError: `dot` is wanted and not there.

    Cost: with `own`, linear but for sorting; ten thousand boxes take two seconds.
    """
    check("engine", engine, get_args(Engine))
    drawing = lower(graph, **options)
    if engine == "dot":
        text = svg_by_dot.draw(drawing)
    else:
        measured = diagram(drawing, wrap=wrap)
        text = "\n".join(lines(drawing, measured, arrange(measured))) + "\n"
    if path is not None:
        write_text(path, [text.removesuffix("\n")])
    return text


def for_printing(graph: Graph, wrap: float, options: PictureOptions) -> tuple[str, tuple[float, float]]:
    """Return the drawing of a graph as SVG for programs that know fonts by their own names only, and its size."""
    drawing = lower(graph, **options)
    drawing = replace(drawing, font=f"{drawing.font.removesuffix(', sans-serif')}, {_FONTS}")
    measured = diagram(drawing, wrap=wrap)
    placement = arrange(measured)
    return "\n".join(lines(drawing, measured, placement)), placement.size
