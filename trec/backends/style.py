"""How pictures look: one style for all picture backends, with colours by what a box does."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct, field

from trec.backends.families import Family
from trec.ir.graph import Graph
from trec.ir.types import Node


class Paint(Struct, frozen=True):
    """The colours of a box, as `#rrggbb`."""

    fill: str
    border: str
    text: str = "#1b2430"
    muted: str = "#545f6e"


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
"""Pastel fills with darker borders of the Okabe-Ito hues, told apart in grey too."""


class Style(Struct, frozen=True, kw_only=True):
    """What may be chosen about the look of a picture, the same for every backend.

    Any object with these attributes will do.

    Example:
        >>> from trec.backends.style import Style
        >>> style = Style(classify={"MyMixer": "attention"}, colours={"other": Paint("#ffffff", "#000000")})
        >>> style.paint("other").border
        '#000000'
    """

    theme: Theme = LIGHT
    font: str = "Helvetica, Arial, sans-serif"
    name_size: float = 11.0
    """Font size in points of the names of modules, inputs and outputs."""
    op_size: float = 10.0
    """Font size of operators, in points."""
    view_size: float = 9.0
    """Font size of operators that only change a shape, in points."""
    class_size: float = 9.0
    """Font size of the class beside a name, in points."""
    detail_size: float = 8.5
    """Font size of the second line of a box and of the labels of edges, in points."""
    name_length: int = 30
    """Longest name in characters; a longer one loses its middle."""
    classify: Mapping[str, Family] = field(default_factory=dict)
    """Family by name of function, operator or class, before the built-in tables are asked."""
    colours: Mapping[Family, Paint] = field(default_factory=dict)
    """Colours by family, instead of the theme's."""
    paint_node: Callable[[Graph, Node], Paint | None] | None = None
    """Colours of a single node; None leaves them as they are."""
    label_node: Callable[[Graph, Node], str | None] | None = None
    """Title of a single node; None leaves it as it is."""

    def paint(self, family: Family) -> Paint:
        """Return the colours of a family."""
        return self.colours.get(family) or self.theme.families[family]
