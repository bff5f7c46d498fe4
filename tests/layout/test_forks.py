"""What wires of one net share is drawn once, and nothing of them is lost."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from hypothesis import given

from tests.layout.test_arrange import diagrams
from trec.layout.arrange import arrange
from trec.layout.diagram import Wire
from trec.layout.forks import forked

if TYPE_CHECKING:
    from trec.layout.diagram import Diagram, Point
    from trec.layout.routing import Line


def on(point: Point, piece: tuple[Point, Point]) -> bool:
    """Tell whether a point lies on a straight piece that keeps to one coordinate."""
    (x, y), (to_x, to_y) = piece
    return (x == to_x == point[0] and min(y, to_y) <= point[1] <= max(y, to_y)) or (
        y == to_y == point[1] and min(x, to_x) <= point[0] <= max(x, to_x)
    )


@given(diagrams())
def test_every_piece_of_a_net_is_drawn(diagram: Diagram) -> None:
    routes = arrange(diagram).routes
    parts = forked(diagram.wires, routes, sideways=diagram.direction in ("LR", "RL"))
    drawn: dict[int, list[tuple[Point, Point]]] = {}
    for wire, part in zip(diagram.wires, parts, strict=True):
        drawn.setdefault(wire.net, []).extend(pairwise(part))
    for wire, route in zip(diagram.wires, routes, strict=True):
        pieces = drawn[wire.net]
        for piece in pairwise(route):
            assert piece in pieces or all(any(on(end, other) for other in pieces) for end in piece)


@given(diagrams())
def test_a_part_is_the_end_of_its_route(diagram: Diagram) -> None:
    routes = arrange(diagram).routes
    for route, part in zip(routes, forked(diagram.wires, routes), strict=True):
        assert len(part) > 1
        assert part[1:] == route[len(route) - len(part) + 1 :]


def test_a_rail_is_drawn_once() -> None:
    routes: list[Line] = [((0, 0), (0, y), (20, y + 10), (20, y + 20)) for y in (30, 10, 20, 40)]
    parts = forked([Wire(0, index, 0) for index in range(4)], routes)
    assert [part[0] for part in parts] == [(0, 0), (0, 10), (0, 20), (0, 30)]


def test_wires_of_two_nets_share_nothing() -> None:
    line: Line = ((0, 0), (0, 30))
    assert forked([Wire(0, 1, 0), Wire(0, 2, 1)], [line, line]) == [line, line]
