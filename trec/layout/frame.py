"""The frame round a scope: room at its sides, and its title where no net runs through it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from trec.layout.diagram import Direction, Size
    from trec.layout.scope import Content

PAD = 9.0
"""Room between the border of a frame and what is in it, in points."""
_BESIDE_NET = 4.0
"""Room between a title and a net."""
_SMALL = 24.0
"""By how much a frame may be widened before its title is set in another way."""


class Frame(Struct, frozen=True):
    """Where the content of a scope lies in its frame, before the picture is turned."""

    left: float
    top: float
    width: float
    height: float
    title: float = 0.0
    """How far from the left of the frame, in the picture, its title begins."""
    setting: int = 0
    """Which of the ways to set the title was taken."""


def framed(content: Content, settings: tuple[Size, ...], direction: Direction) -> Frame:
    """Return the frame round a scope.

    Args:
        content: the scope laid out.
        settings: room for the title in each way that it may be set, the wanted one first; none for the whole picture,
            which has no frame.
        direction: where the flow goes. From top to bottom nets enter beside the title, from bottom to top they leave
            beside it; sideways they meet it nowhere.
    """
    if not settings:
        return Frame(0.0, 0.0, content.width, content.height)
    if direction in ("LR", "RL"):
        # Turned by a right angle, the title lies along the flow, at the left side of it.
        found = [max(content.height, width) for width, _ in settings]
        setting = _least(found, content.height)
        along, height = found[setting] + 2 * PAD, settings[setting][1]
        top = (along - content.height) / 2
        return Frame(height, top, content.width + height + PAD, along, PAD, setting)
    ports = content.into if direction == "TB" else content.out
    ways = [_beside(ports, content.width, width) for width, _ in settings]
    costs = [left + right + other for left, right, _, other in ways]
    setting = _least(costs, 2 * PAD)
    left, right, start, _ = ways[setting]
    height = settings[setting][1]
    top = height if direction == "TB" else PAD
    return Frame(left, top, left + content.width + right, content.height + height + PAD, start, setting)


def _least(sizes: list[float], wanted: float) -> int:
    """Return the first size that is not much greater than the wanted one, or else the least."""
    for position, size in enumerate(sizes):
        if size <= wanted + _SMALL:
            return position
    return sizes.index(min(sizes))


def _beside(ports: list[float], width: float, title: float) -> tuple[float, float, float, float]:
    """Return the room left and right of a content for its title to stand clear of all nets, and where it begins.

    It stands at the left unless the frame is much narrower with it at the right, which counts as room of its own.
    """
    if not ports:
        return PAD, max(PAD, title + PAD - width), PAD, 0.0
    left = max(PAD, PAD + title + _BESIDE_NET - min(ports))
    right = max(PAD, max(ports) + _BESIDE_NET + title + PAD - width)
    if left <= right + 2 * _SMALL:
        return left, max(PAD, title + PAD - width), PAD, 0.0
    return PAD, right, PAD + max(ports) + _BESIDE_NET, 2 * _SMALL
