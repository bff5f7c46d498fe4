"""The colours of pictures: on white, on black, and for print in black and white."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

from trec.backends.changes import Change
from trec.backends.drawing import Line
from trec.backends.families import Family

if TYPE_CHECKING:
    from collections.abc import Mapping

ThemeName = Literal["light", "dark", "paper"]


class Paint(Struct, frozen=True):
    """The colours of a box, as `#rrggbb`, and the stroke of its border."""

    fill: str
    border: str
    text: str = "#1b2430"
    muted: str = "#545f6e"
    line: Line = "solid"
    width: float = 1.0
    """Width of the border in points."""


_CHANGES: dict[Change, Paint] = {
    "added": Paint("#d9f2dd", "#1f8a3b", width=2.0),
    "removed": Paint("#fde4e1", "#c8372d", line="dashed", width=1.6),
    "changed": Paint("#fdf0c4", "#b07d00", width=2.0),
    "moved": Paint("#e3edfb", "#3468b0", line="dotted", width=1.6),
}


class Theme(Struct, frozen=True, kw_only=True):
    """All colours of a picture."""

    background: str
    text: str
    label: str
    """Labels of edges."""
    edge: str
    carried: str
    """Edges that a loop carries to its next iteration."""
    error: str
    """Border of the call that failed."""
    terminal: Paint
    """Inputs and outputs."""
    state: Paint
    """Parameters, buffers, constants and, where they are boxes, tensors."""
    arithmetic: Paint
    clusters: tuple[Paint, Paint]
    """Open modules at even and at odd depth."""
    families: dict[Family, Paint]
    scale: tuple[str, str] = ("#eef4fb", "#14457e")
    """Colours of the least and of the greatest number where colours stand for numbers."""
    changes: dict[Change, Paint] = field(default_factory=lambda: dict(_CHANGES))
    """What changed between two graphs; the border is the colour of arrows as well."""


LIGHT = Theme(
    background="#ffffff",
    text="#1b2430",
    label="#5f6b7a",
    edge="#8e98a8",
    carried="#d9730d",
    error="#d02c2c",
    terminal=Paint("#2b3a4d", "#2b3a4d", "#ffffff", "#d5dce6"),
    state=Paint("#fafbfc", "#a9b3c0"),
    arithmetic=Paint("#ffffff", "#5f6b7a"),
    clusters=(Paint("#f6f8fb", "#c6cedb", muted="#5f6b7a"), Paint("#ffffff", "#c6cedb", muted="#5f6b7a")),
    families={
        "convolution": Paint("#dbeafe", "#3b6fb6"),
        "linear": Paint("#d7f0ee", "#2f8a83"),
        "normalisation": Paint("#ece6fb", "#7a5fc0"),
        "activation": Paint("#fdf1c9", "#b08a12"),
        "attention": Paint("#fde3d3", "#c0622a"),
        "pooling": Paint("#e3eefb", "#5b7fa8"),
        "embedding": Paint("#e2f3dc", "#4b8a3a"),
        "recurrent": Paint("#fbe0ea", "#b04a76"),
        "view": Paint("#ffffff", "#b8c0cc"),
        "other": Paint("#f3f5f8", "#7d8897"),
    },
)
"""Pastel fills with darker borders of the Okabe-Ito hues, told apart in grey too.

Source: M. Okabe, K. Ito, "Color Universal Design" (2008): hues that people with any colour vision tell apart.
"""

_INK, _DIM = "#e8edf4", "#aab6c6"

DARK = Theme(
    background="#14181f",
    text="#e8edf4",
    label="#9aa7b8",
    edge="#78859a",
    carried="#f0a45b",
    error="#ff7b72",
    terminal=Paint("#dfe6ef", "#dfe6ef", "#14181f", "#414d5d"),
    state=Paint("#1a2029", "#56627a", _INK, _DIM),
    arithmetic=Paint("#14181f", "#9aa7b8", _INK, _DIM),
    clusters=(Paint("#1b212b", "#3a4556", _INK, "#9aa7b8"), Paint("#14181f", "#3a4556", _INK, "#9aa7b8")),
    families={
        "convolution": Paint("#1d3557", "#7fb0ee", _INK, "#b9c7da"),
        "linear": Paint("#173f3c", "#5fc3ba", _INK, "#b3cbc8"),
        "normalisation": Paint("#332a52", "#b09cf0", _INK, "#c3bbdd"),
        "activation": Paint("#433711", "#e2be4b", _INK, "#d2c8a6"),
        "attention": Paint("#4c2a17", "#f0945c", _INK, "#d8bfb1"),
        "pooling": Paint("#22354a", "#8fb3dc", _INK, "#b7c5d6"),
        "embedding": Paint("#24401d", "#86c674", _INK, "#bacdb4"),
        "recurrent": Paint("#4a2033", "#ec86b0", _INK, "#d9b9c8"),
        "view": Paint("#14181f", "#4d596c", _INK, _DIM),
        "other": Paint("#232a35", "#8794a8", _INK, _DIM),
    },
    scale=("#20303f", "#8cc8ff"),
    changes={
        "added": Paint("#173a20", "#5fd07c", _INK, "#b5cdbb", width=2.0),
        "removed": Paint("#471d1b", "#ff8a80", _INK, "#d9b9b6", line="dashed", width=1.6),
        "changed": Paint("#42350d", "#e6bd4a", _INK, "#d2c8a6", width=2.0),
        "moved": Paint("#1d3050", "#82b1f5", _INK, "#b9c7da", line="dotted", width=1.6),
    },
)
"""The same hues on black: deep fills, light borders and text."""

_BLACK, _GREY = "#000000", "#7a7a7a"


def _print(border: str = _BLACK, line: Line = "solid", width: float = 1.0) -> Paint:
    return Paint("#ffffff", border, _BLACK, "#404040", line, width)


PAPER = Theme(
    background="#ffffff",
    text=_BLACK,
    label="#404040",
    edge="#404040",
    carried=_BLACK,
    error=_BLACK,
    terminal=Paint(_BLACK, _BLACK, "#ffffff", "#ffffff"),
    state=_print(_GREY, width=0.6),
    arithmetic=_print(),
    clusters=(_print(_GREY, width=0.6), _print(_GREY, width=0.6)),
    families={
        "convolution": _print(width=2.0),
        "linear": _print(width=1.2),
        "normalisation": _print(_GREY, width=1.2),
        "activation": _print(line="dotted", width=1.2),
        "attention": _print(width=2.8),
        "pooling": _print(_GREY, width=2.0),
        "embedding": _print(_GREY, line="dotted", width=2.0),
        "recurrent": _print(line="dotted", width=2.0),
        "view": _print(_GREY, width=0.6),
        "other": _print(_GREY, width=0.9),
    },
    scale=("#ffffff", "#404040"),
    changes={
        "added": _print(width=2.8),
        "removed": _print(line="dashed", width=1.2),
        "changed": Paint("#d9d9d9", _BLACK, _BLACK, "#404040", width=1.2),
        "moved": _print(_GREY, line="dotted", width=2.0),
    },
)
"""White with black and grey strokes; families are told by the strokes of their borders."""

THEMES: Mapping[ThemeName, Theme] = {"light": LIGHT, "dark": DARK, "paper": PAPER}
