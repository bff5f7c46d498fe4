"""Columns beside one another: what holds for every diagram that is divided into some, and how they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.layout.test_arrange import along, around, box, diagrams, frame, inside, overlap
from trec.layout.arrange import arrange
from trec.layout.diagram import Diagram, Wire

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn


@st.composite
def divided(draw: DrawFn) -> Diagram:
    """Return diagrams whose outermost scopes and boxes lie in several columns, which run up or down."""
    diagram = draw(diagrams())
    upward = tuple(draw(st.lists(st.booleans(), min_size=2, max_size=4)))
    some = st.integers(0, len(upward) - 1)
    of_scopes = [draw(some) for _ in diagram.parents]
    column_of = [of_scopes[around(diagram, scope)[-1]] if scope >= 0 else draw(some) for scope in diagram.scopes]
    return replace(diagram, direction="TB", wrap=0.0, columns=upward, column_of=tuple(column_of))


@given(divided())
def test_boxes_and_frames_stand_as_in_one_column(diagram: Diagram) -> None:
    placement = arrange(diagram)
    whole = (0.0, 0.0, *placement.size)
    boxes = [box(diagram, placement, index) for index in range(len(diagram.sizes))]
    for index, one in enumerate(boxes):
        assert not any(overlap(one, other) for other in boxes[:index])
        scope = diagram.scopes[index]
        assert inside(one, frame(placement, scope) if scope >= 0 else whole)
    held = sorted({scope for inner in diagram.scopes for scope in around(diagram, inner)} - {-1})
    for scope in held:
        title = placement.titles[scope]
        assert title is not None
        width, height = diagram.titles[scope][title[2]]
        text = (title[0], title[1], title[0] + width, title[1] + height)
        assert inside(text, frame(placement, scope))
        assert not any(overlap(text, other) for other in boxes)
        assert abs(title[1] - frame(placement, scope)[1]) < 1  # at the top, also where the flow goes up
    assert [row is not None for row in placement.frames] == [scope in held for scope in range(len(diagram.parents))]


@given(divided())
def test_wires_lead_from_box_to_box_and_through_no_other(diagram: Diagram) -> None:
    placement = arrange(diagram)
    boxes = [box(diagram, placement, index) for index in range(len(diagram.sizes))]
    for wire, route in zip(diagram.wires, placement.routes, strict=True):
        for end, (x, y) in ((wire.source, route[0]), (wire.target, route[-1])):
            left, top, right, bottom = boxes[end]
            assert left - 0.1 <= x <= right + 0.1
            assert top - 0.1 <= y <= bottom + 0.1
        for x, y in along(route):
            for left, top, right, bottom in boxes:
                assert not (left + 1 < x < right - 1 and top + 1 < y < bottom - 1)


def step() -> Diagram:
    """Three layers, and their backward in a frame: each reads from the layer, the last from the first."""
    wires = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5), (1, 4), (2, 3)]
    rows = tuple([Wire(source, target, source) for source, target in wires])
    titles = (((40.0, 20.0),),)
    return Diagram(((60.0, 20.0),) * 6, (-1, -1, -1, 0, 0, 0), (-1,), titles, rows, {}, columns=(False, True),
                   column_of=(0, 0, 0, 1, 1, 1))  # fmt: skip


def test_forward_runs_down_and_backward_up_beside_it() -> None:
    placement = arrange(step())
    heights = [y for _, y in placement.boxes]
    assert heights[:3] == sorted(heights[:3])
    assert heights[3:] == sorted(heights[3:], reverse=True)
    left, _, _, bottom = frame(placement, 0)
    assert all(x + 30 < left for x, _ in placement.boxes[:3])
    assert abs(bottom - (heights[2] + 10)) < 10  # both stand on one line
    assert all(max(y for _, y in route) > bottom for route in placement.routes[5:])


def test_one_column_is_none_and_other_directions_are_not_divided() -> None:
    plain = replace(step(), columns=(), column_of=())
    assert arrange(replace(step(), columns=(True,), column_of=(0,) * 6)) == arrange(plain)
    assert arrange(replace(step(), direction="LR")) == arrange(replace(plain, direction="LR"))
