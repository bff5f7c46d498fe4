"""How pictures look: one style for all picture backends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, get_args

from msgspec import Struct, field

from trec.backends.families import Family
from trec.backends.themes import DARK, LIGHT, PAPER, THEMES, Paint, Theme, ThemeName
from trec.errors import OptionError
from trec.ir.graph import Graph
from trec.ir.types import Node

__all__ = ["DARK", "LIGHT", "PAPER", "Fact", "Paint", "Style", "Theme", "chosen"]

Fact = Literal["family", "kind", "class", "module", "dtype", "params", "flops", "memory"]
"""What colours may stand for."""


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
    colour_by: Fact | Callable[[Graph, Node], Paint | str | float | None] = "family"
    """What the colours of operators and modules stand for: the family of what they do, their kind, class, outermost
    module or element type, or how many parameters, floating point operations or bytes of results they have.

    A function may return the colours of a node, a name (equal names, equal colours), or a number (the greater the
    darker); None leaves the colours of the family.
    """
    label_node: str | Callable[[Graph, Node], str | None] | None = None
    """Title of operators and modules: a template such as `{name}: {op} {shape}`, or a function; None leaves it."""

    def paint(self, family: Family) -> Paint:
        """Return the colours of a family."""
        return self.colours.get(family) or self.theme.families[family]


def chosen(style: Style | ThemeName | None) -> Style:
    """Return a style, given as such or as the name of a theme.

    Raises:
        OptionError: there is no theme of that name, or none of what colours are to stand for.
    """
    if style is None:
        return Style()
    names = ", ".join(map(repr, THEMES))
    if isinstance(style, str):
        if style not in THEMES:
            raise OptionError(f"there is no theme {style!r}; themes are: {names}")
        return Style(theme=THEMES[style])
    if not hasattr(style, "theme"):
        raise OptionError(f"style takes a Style or the name of a theme, not {style!r}; themes are: {names}")
    if isinstance(style.theme, str):
        raise OptionError(f"a Style takes a theme, not its name; style={style.theme!r} is enough")
    if isinstance(style.colour_by, str) and style.colour_by not in get_args(Fact):
        facts = ", ".join(map(repr, get_args(Fact)))
        raise OptionError(f"colour_by={style.colour_by!r} is not allowed; allowed are: {facts}, or a function")
    return style
