"""What may be chosen about any picture, written down once for all backends that draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast, get_args

from trec.errors import OptionError

if TYPE_CHECKING:
    from trec.backends.style import Style
    from trec.backends.themes import ThemeName

Tensors = Literal["edges", "nodes", "none"]
Shapes = Literal["changes", "all", "none"]
Rankdir = Literal["TB", "LR", "BT", "RL"]


class PictureOptions(TypedDict, total=False):
    """Options of all backends that draw; each may be left out."""

    tensors: Tensors
    """`edges` (default) writes shapes along the edges, `nodes` draws each tensor as a box, `none` shows no tensors."""
    shapes: Shapes
    """Which shapes are written along the edges: those that `changes` (default) or leave a module, `all` or `none`."""
    params: bool | None
    """Whether parameters and buffers are drawn; by default only in a graph of ATen operators."""
    rankdir: Rankdir
    """Where the flow goes; by default `TB`, from top to bottom."""
    title: str
    """Text above the picture; none by default."""
    caption: bool
    """Whether name, depth and number of parameters stand below the picture; by default not."""
    legend: bool | None
    """Whether the meaning of the colours is shown; by default only where they stand for something but families."""
    links: str
    """Address of a line of the user's code, which boxes lead to, such as `vscode://file/{file}:{line}`; by default
    they lead nowhere."""
    style: Style | ThemeName | None
    """Colours, fonts and sizes, or only the name of a theme: `light` (default), `dark` or `paper`."""


DEFAULTS: PictureOptions = {
    "tensors": "edges",
    "shapes": "changes",
    "params": None,
    "rankdir": "TB",
    "title": "",
    "caption": False,
    "legend": None,
    "links": "",
    "style": None,
}
_ALLOWED: dict[str, tuple[object, ...]] = {
    "tensors": get_args(Tensors),
    "shapes": get_args(Shapes),
    "params": (None, True, False),
    "rankdir": get_args(Rankdir),
    "caption": (True, False),
    "legend": (None, True, False),
}


def complete(options: PictureOptions) -> PictureOptions:
    """Return all options, those that are missing with their defaults.

    Raises:
        OptionError: there is no option of that name, or it has a value that is not allowed.
    """
    for name in options:
        if name not in DEFAULTS:
            raise OptionError(f"there is no option {name!r} of pictures; there are: {', '.join(DEFAULTS)}")
    full = cast("PictureOptions", {**DEFAULTS, **options})
    values = cast("dict[str, Any]", full)
    for name, allowed in _ALLOWED.items():
        check(name, values[name], allowed)
    for name in ("title", "links"):
        if not isinstance(values[name], str):
            raise OptionError(f"{name} must be a text, not {values[name]!r}")
    return full


def check(name: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise an `OptionError` that lists the allowed values, unless the value is one of them."""
    if not any(value is one or (isinstance(value, str) and value == one) for one in allowed):
        raise OptionError(f"{name}={value!r} is not allowed; allowed are: {', '.join(map(repr, allowed))}")
