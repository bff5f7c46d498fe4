"""What a layout is asked for and what it answers: sizes and edges in, positions and routes out."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Direction = Literal["TB", "LR", "BT", "RL"]
Point = tuple[float, float]
Size = tuple[float, float]


class Wire(Struct, frozen=True, array_like=True, gc=False):
    """An edge between two boxes."""

    source: int
    """Index into `Diagram.sizes`."""
    target: int
    """Index into `Diagram.sizes`; the same as `source` for a loop."""
    net: int
    """Wires of one net have one source; they leave it as one line, which forks where their ways part."""


class Diagram(Struct, frozen=True):
    """Boxes in scopes and the wires between them; all lengths are in points."""

    sizes: tuple[Size, ...]
    """Width and height of each box."""
    scopes: tuple[int, ...]
    """For each box, the scope that it lies in, an index into `parents`; -1 for none."""
    parents: tuple[int, ...]
    """For each scope, the one around it, which precedes it; -1 for none."""
    titles: tuple[tuple[Size, ...], ...]
    """For each scope, the room for its title at the top of its frame, in each way in which that may be set: the wanted
    one first, then narrower ones."""
    wires: tuple[Wire, ...]
    labels: dict[int, Size]
    """Room for the text beside a net, where it begins; nets without text are left out."""
    texts: dict[int, str] = {}
    """Those texts, for whoever prints them."""
    first: frozenset[int] = frozenset()
    """Boxes that stand where the flow begins, even if they are needed only later."""
    direction: Direction = "TB"
    """Where the flow goes: from top to bottom, from left to right, ..."""
    order: tuple[int, ...] = ()
    """The boxes in the order in which they run, in which most wires lead onwards; empty for the order of `sizes`."""
    wrap: float = 0
    """Longest column of a scope, along the flow; a longer one goes on beside itself. 0 for any length."""
    columns: tuple[bool, ...] = ()
    """For each column of the picture whether the flow goes up in it; none or one if it is not divided. A scope lies in
    one column. Only pictures from top to bottom are divided."""
    column_of: tuple[int, ...] = ()
    """For each box, the column that it lies in."""


class Placement(Struct, frozen=True):
    """Where everything is; x grows to the right and y downwards, from the top left corner of the picture."""

    size: Size
    """Width and height of the whole."""
    boxes: list[Point]
    """Centre of each box."""
    frames: list[tuple[float, float, float, float] | None]
    """For each scope, left, top, width and height of its frame; None for a scope without any box in it."""
    titles: list[tuple[float, float, int] | None]
    """For each scope, the top left corner of its title, and which of the ways to set it was taken."""
    routes: list[tuple[Point, ...]]
    """For each wire, the points that it passes, from its source to its target; see `trec.layout.routing`."""
    labels: dict[int, Point]
    """For each net with a text, the centre of that text."""
    crossings: int
    """How often wires cross."""
