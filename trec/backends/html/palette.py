"""The colours of a page: what is drawn names its role, and each theme says what colours that has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trec.backends.changes import CHANGES
from trec.backends.families import FAMILIES
from trec.backends.style import Style
from trec.backends.themes import DARK, LIGHT, Paint, Theme

if TYPE_CHECKING:
    from trec.backends.drawing import Look

ERROR = "error"


def _role(name: str) -> Paint:
    return Paint(name, name, name, name)


_ROLES = Theme(
    background="background",
    text="text",
    label="label",
    edge="edge",
    carried="carried",
    error=ERROR,
    terminal=_role("terminal"),
    state=_role("state"),
    arithmetic=_role("arithmetic"),
    clusters=(_role("cluster0"), _role("cluster1")),
    families={family: _role(family) for family in FAMILIES},
    changes={change: _role(change) for change in CHANGES},
)
"""A theme whose colours are names of roles, so that what is drawn with it tells what it is."""


def in_roles(style: Style) -> Style:
    """Return a style that decides as the given one does, but whose colours are the names of roles."""
    return Style(
        theme=_ROLES,
        font=style.font,
        name_size=style.name_size,
        op_size=style.op_size,
        view_size=style.view_size,
        class_size=style.class_size,
        detail_size=style.detail_size,
        name_length=style.name_length,
        classify=style.classify,
        label_node=style.label_node,
    )


def look(row: Look) -> list[Any]:
    """Return a look that was made in roles: shape, role, line, font size, and whether it is bold and shows an error."""
    return [row.shape, row.fill, row.line, row.size, int(row.bold), int(row.border == ERROR)]


def themes(style: Style) -> dict[str, Any]:
    """Return the colours for light and for dark surroundings.

    A theme that is neither of the built-in ones takes the place of that for light surroundings.
    """
    light = LIGHT if style.theme is DARK else style.theme
    return {"light": _colours(light, style), "dark": _colours(DARK, style)}


def _colours(theme: Theme, style: Style) -> dict[str, Any]:
    paints: dict[str, Paint] = {
        "terminal": theme.terminal,
        "state": theme.state,
        "arithmetic": theme.arithmetic,
        "cluster0": theme.clusters[0],
        "cluster1": theme.clusters[1],
    }
    for table in (theme.families, style.colours, theme.changes):
        paints.update(table.items())
    return {
        "background": theme.background,
        "text": theme.text,
        "label": theme.label,
        "edge": theme.edge,
        "carried": theme.carried,
        "error": theme.error,
        "scale": list(theme.scale),
        "paints": msgspec.to_builtins(paints),
    }
