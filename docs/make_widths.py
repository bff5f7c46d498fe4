"""Write the table of glyph widths anew, `trec/layout/widths.py`: `python docs/make_widths.py`.

Needs fonttools and the fonts Liberation Sans, which has the metrics of Helvetica and Arial, and DejaVu Sans, the widest
that systems without either fall back to. A glyph gets the width of the wider one, so no reader's text is wider.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools.ttLib import TTFont  # type: ignore[import-not-found]

TARGET = Path(__file__).parents[1] / "trec" / "layout" / "widths.py"
FONTS = {
    "REGULAR": ("LiberationSans-Regular.ttf", "DejaVuSans.ttf"),
    "BOLD": ("LiberationSans-Bold.ttf", "DejaVuSans-Bold.ttf"),
}
RANGES = (
    (0x20, 0x7E), (0xA0, 0x17F), (0x370, 0x3FF), (0x400, 0x45F), (0x5D0, 0x5EA), (0x620, 0x64A), (0x2010, 0x2026),
    (0x2190, 0x2195), (0x2200, 0x2265),
)  # fmt: skip
HEAD = '''"""Widths of glyphs in thousandths of the font size; made by `docs/make_widths.py`, not to be edited.

Each entry is a first code point and the widths from there on; 0 stands for a glyph that the fonts do not have. The
widths are the greater of those of Liberation Sans, which has the metrics of Helvetica and Arial, and DejaVu Sans.
"""

from __future__ import annotations
'''


def widths(fonts: list[TTFont], first: int, last: int) -> list[int]:
    """Return for each code point of a range the greatest width that any font gives it."""
    found = []
    for code in range(first, last + 1):
        known = [
            1000 * font["hmtx"][font.getBestCmap()[code]][0] / font["head"].unitsPerEm
            for font in fonts
            if code in font.getBestCmap()
        ]
        found.append(round(max(known, default=0)))
    return found


def main() -> None:
    """Write the table."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("/usr/share/fonts/truetype")
    text = HEAD
    for name, files in FONTS.items():
        fonts = [TTFont(next(folder.rglob(file))) for file in files]
        text += f"\n{name}: tuple[tuple[int, tuple[int, ...]], ...] = (\n"
        for first, last in RANGES:
            row = [str(width) for width in widths(fonts, first, last)]
            lines, line = [], "        "
            for number in row:
                if len(line) + len(number) + 2 > 118:
                    lines.append(line.rstrip())
                    line = "        "
                line += f"{number}, "
            body = "\n".join([*lines, line.rstrip()])
            text += f"    (0x{first:X}, (\n{body}\n    )),\n"
        text += ")  # fmt: skip\n"
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
