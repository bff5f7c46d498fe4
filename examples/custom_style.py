"""Draw in a look of your own: families, colours, and a colour for each box by how many parameters it holds.

Run: python examples/custom_style.py [file.svg]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from models import UNet

import trec
from trec.backends.style import Paint, Style

if TYPE_CHECKING:
    from trec import Graph
    from trec.ir.types import Node

SHADES = ((20_000, "#f4a582"), (5_000, "#fbd0b9"), (500, "#fdeee6"))
"""Fill for boxes with at least so many parameters."""


def by_size(graph: Graph, node: Node) -> Paint | None:
    """Return a darker fill for modules that learn more; None leaves the others as they are."""
    params = graph.attrs_of(node).get("params")
    fill = next((fill for least, fill in SHADES if isinstance(params, int) and params >= least), None)
    return Paint(fill, "#a5502f", muted="#3b3f46") if fill else None


STYLE = Style(
    font="Georgia, Times New Roman, serif",
    classify={"Sequential": "convolution"},
    colours={"convolution": Paint("#ffffff", "#1b2430")},
    colour_by=by_size,
)


def main() -> None:
    """Write the picture."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(tempfile.mkdtemp()) / "unet.svg"
    trec.capture(UNet().eval(), (1, 3, 64, 64)).collapse(depth=1).to_svg(path, style=STYLE, caption=True)
    print(f"drew {path}")


if __name__ == "__main__":
    main()
