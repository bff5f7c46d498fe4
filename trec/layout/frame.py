"""The frame round a scope: room at its sides, and its title where no net runs through it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from trec.layout.diagram import Direction, Size
    from trec.layout.scope import Content

PAD = 9.0
"""Room between the border of a frame and what is in it, in points."""


class Frame(Struct, frozen=True):
    """Where the content of a scope lies in its frame, before the picture is turned."""

    left: float
    top: float
    width: float
    height: float
    title: float
    """How far from the left of the frame, in the picture, its title begins."""


def framed(content: Content, title: Size | None, direction: Direction) -> Frame:
    """Return the frame round a scope.

    Args:
        content: the scope laid out.
        title: room for the title; None for the whole picture, which has no frame.
        direction: where the flow goes. From top to bottom nets enter beside the title, from bottom to top they leave
            beside it; sideways they meet it nowhere.
    """
    if title is None:
        return Frame(0.0, 0.0, content.width, content.height, 0.0)
    width, height = title
    if direction in ("LR", "RL"):
        along = max(content.height + 2 * PAD, width + 2 * PAD)
        # Turned by a right angle, the title lies along the flow, at the left side of it.
        return Frame(height, (along - content.height) / 2, content.width + height + PAD, along, PAD)
    left, right, start = _beside(content.into if direction == "TB" else content.out, content.width, width)
    top = height if direction == "TB" else PAD
    return Frame(left, top, left + content.width + right, content.height + height + PAD, start)


def _beside(ports: list[float], width: float, title: float) -> tuple[float, float, float]:
    """Return the room left and right of a content for its title to stand left of all nets, or right of them.

    It stands at the left unless the frame is much narrower with it at the right.
    """
    if not ports:
        return PAD, max(PAD, title + PAD - width), PAD
    left = max(PAD, PAD + title + 4 - min(ports))
    right = max(PAD, max(ports) + 4 + title + PAD - width)
    if left <= right + 2 * PAD:
        return left, PAD, PAD
    return PAD, right, PAD + max(ports) + 4
