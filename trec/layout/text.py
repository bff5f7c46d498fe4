"""How wide text is, without any font at hand: from one table, for every picture and the page alike."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from trec.layout.widths import BOLD, REGULAR

_WIDE = 1000
_EMOJI = 1400
_UNKNOWN = 900
"""What a glyph that is in no table takes, in thousandths of the font size: wide enough for most scripts."""


def _table(ranges: tuple[tuple[int, tuple[int, ...]], ...]) -> dict[str, int]:
    return {chr(first + index): width for first, row in ranges for index, width in enumerate(row) if width}


_TABLES = {False: _table(REGULAR), True: _table(BOLD)}


@lru_cache(maxsize=65536)
def width(text: str, size: float, bold: bool = False) -> float:
    """Return the most that a line of text takes in any common sans-serif font, in the unit of the size.

    Args:
        text: one line.
        size: size of the font.
        bold: whether the text is bold.

    Example:
        >>> width("conv", 10) < width("conv", 10, bold=True) < width("convolution", 10)
        True
    """
    table = _TABLES[bold]
    return sum([table[char] if char in table else _other(char) for char in text]) * size / 1000


@lru_cache(maxsize=4096)
def _other(char: str) -> int:
    """Return the width of a glyph that no table holds.

    Source: Unicode Standard Annex 11, East Asian Width.
    """
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    if ord(char) >= 0x1F000:
        return _EMOJI
    return _WIDE if unicodedata.east_asian_width(char) in "WF" else _UNKNOWN


def fitted(text: str, size: float, room: float, bold: bool = False) -> str:
    """Return the text, without so much of its middle that it is at most as wide as the room.

    Example:
        >>> fitted("a_rather_long_name", 10, 60)
        'a_ra…ame'
    """
    if width(text, size, bold) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if width(_shortened(text, middle), size, bold) <= room:
            low = middle
        else:
            high = middle - 1
    return _shortened(text, low)


def _shortened(text: str, kept: int) -> str:
    """Return so many characters of a text, from both ends, with an ellipsis for the rest."""
    tail = kept // 2
    return f"{text[: kept - tail]}…{text[len(text) - tail :]}"
