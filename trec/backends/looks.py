"""How boxes and frames look: every look of one picture, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.backends.drawing import Line, Look, Shape
from trec.ir.tables import Table

if TYPE_CHECKING:
    from trec.backends.families import Family
    from trec.backends.style import Paint, Style


class Looks(Table[Look]):
    """The looks of a picture in order of first appearance."""

    __slots__ = ("_known", "_style", "families")

    def __init__(self, style: Style) -> None:
        super().__init__()
        self.families: set[Family] = set()
        """Those whose colours are on the picture."""
        self._style = style
        self._known: dict[tuple[object, ...], int] = {}

    def family(self, family: Family) -> Paint:
        """Return the colours of a family, which are on the picture from now on."""
        self.families.add(family)
        return self._style.paint(family)

    def of(
        self, shape: Shape, paint: Paint, size: float, *, bold: bool = False, line: Line = "solid", error: bool = False
    ) -> int:
        """Return the index of the look of a shape with some colours.

        Args:
            shape: outline.
            paint: colours.
            size: font size of the title in points.
            bold: whether the title is bold.
            line: stroke of the border, unless the colours bring one.
            error: whether it shows an error.
        """
        key = (shape, paint, size, bold, line, error)
        index = self._known.get(key)
        if index is None:
            border, width = (self._style.theme.error, 2.0) if error else (paint.border, paint.width)
            line = paint.line if line == "solid" else line
            index = self._known[key] = self.add(
                Look(shape, paint.fill, border, paint.text, paint.muted, line, width, size, bold)
            )
        return index

    def repainted(self, look: int, paint: Paint, *, border: bool) -> int:
        """Return the index of a look in other colours, with the stroke of their border or with its own."""
        old = self[look]
        line, width = (paint.line, paint.width) if border else (old.line, old.width)
        return self.add(
            Look(old.shape, paint.fill, paint.border, paint.text, paint.muted, line, width, old.size, old.bold)
        )

    def bordered(self, look: int, paint: Paint) -> int:
        """Return the index of a look with another border."""
        return self.add(replace(self[look], border=paint.border, line=paint.line, width=paint.width))

    def dashed(self, look: int) -> int:
        """Return the index of a look with a dashed border."""
        return self.add(replace(self[look], line="dashed"))
