"""The layout as a whole: what holds for every diagram."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from trec.layout.arrange import arrange
from trec.layout.diagram import Diagram, Wire
from trec.layout.routing import curves

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

    from trec.layout.diagram import Direction, Placement

Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom."""
CLOSE = 0.02


@st.composite
def diagrams(draw: DrawFn, most: int = 14) -> Diagram:
    """Return diagrams of every kind: nested, with cycles, loops, texts, unconnected boxes and empty scopes."""
    parents = [draw(st.integers(-1, index - 1)) for index in range(draw(st.integers(0, 5)))]
    count = draw(st.integers(0, most))
    sizes = [
        (draw(st.sampled_from((5.0, 18.0, 60.0, 140.0))), draw(st.sampled_from((5.0, 18.0, 30.0))))
        for _ in range(count)
    ]
    scopes = [draw(st.integers(-1, len(parents) - 1)) for _ in range(count)]
    ends = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=24)) if count else []
    backwards = draw(st.booleans())
    pairs = [pair if backwards else (min(pair), max(pair)) for pair in pairs]
    wires = [Wire(source, target, source * 3 + draw(st.integers(0, 1))) for source, target in pairs]
    nets = sorted({wire.net for wire in wires})
    labels = {net: (draw(st.sampled_from((10.0, 70.0))), 9.0) for net in nets if draw(st.booleans())}
    titles = [((draw(st.sampled_from((20.0, 200.0))), 20.0), (15.0, 30.0))[: draw(st.integers(1, 2))] for _ in parents]
    first = frozenset(draw(st.lists(ends, max_size=2))) if count else frozenset()
    directions: tuple[Direction, ...] = ("TB", "LR", "BT", "RL")
    direction = draw(st.sampled_from(directions))
    wrap = draw(st.sampled_from((0.0, 0.0, 120.0)))
    return Diagram(
        tuple(sizes), tuple(scopes), tuple(parents), tuple(titles), tuple(wires), labels, {}, first, direction, (), wrap
    )


def box(diagram: Diagram, placement: Placement, index: int) -> Rectangle:
    (x, y), (width, height) = placement.boxes[index], diagram.sizes[index]
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def frame(placement: Placement, scope: int) -> Rectangle:
    found = placement.frames[scope]
    assert found is not None
    left, top, width, height = found
    return left, top, left + width, top + height


def overlap(one: Rectangle, other: Rectangle) -> bool:
    return (
        one[0] < other[2] - CLOSE
        and other[0] < one[2] - CLOSE
        and one[1] < other[3] - CLOSE
        and other[1] < one[3] - CLOSE
    )


def inside(inner: Rectangle, outer: Rectangle) -> bool:
    return (
        inner[0] >= outer[0] - CLOSE
        and inner[1] >= outer[1] - CLOSE
        and inner[2] <= outer[2] + CLOSE
        and inner[3] <= outer[3] + CLOSE
    )


def around(diagram: Diagram, scope: int) -> list[int]:
    """Return a scope and those around it, the innermost first; the picture itself is -1."""
    found = [scope]
    while found[-1] >= 0:
        found.append(diagram.parents[found[-1]])
    return found


@given(diagrams())
def test_boxes_do_not_overlap(diagram: Diagram) -> None:
    placement = arrange(diagram)
    boxes = [box(diagram, placement, index) for index in range(len(diagram.sizes))]
    for index, one in enumerate(boxes):
        assert not any(overlap(one, other) for other in boxes[:index])


@given(diagrams())
def test_everything_is_inside_the_frame_of_its_scope(diagram: Diagram) -> None:
    placement = arrange(diagram)
    whole = (0.0, 0.0, *placement.size)
    held = {scope for inner in diagram.scopes for scope in around(diagram, inner)}
    for index, scope in enumerate(diagram.scopes):
        assert inside(box(diagram, placement, index), frame(placement, scope) if scope >= 0 else whole)
    for scope, parent in enumerate(diagram.parents):
        if scope not in held:
            assert placement.frames[scope] is None
            assert placement.titles[scope] is None
            continue
        assert inside(frame(placement, scope), frame(placement, parent) if parent >= 0 else whole)
        title = placement.titles[scope]
        assert title is not None
        width, height = diagram.titles[scope][title[2]]
        assert inside((title[0], title[1], title[0] + width, title[1] + height), frame(placement, scope))


@given(diagrams())
def test_frames_overlap_only_what_they_hold(diagram: Diagram) -> None:
    placement = arrange(diagram)
    held = sorted({scope for inner in diagram.scopes for scope in around(diagram, inner)} - {-1})
    for scope in held:
        for other in held:
            if other not in around(diagram, scope) and scope not in around(diagram, other):
                assert not overlap(frame(placement, scope), frame(placement, other))
        for index, inner in enumerate(diagram.scopes):
            if scope not in around(diagram, inner):
                assert not overlap(frame(placement, scope), box(diagram, placement, index))


@given(diagrams())
def test_titles_and_texts_overlap_no_box_and_no_other_text(diagram: Diagram) -> None:
    placement = arrange(diagram)
    texts = []
    for net, (x, y) in placement.labels.items():
        width, height = diagram.labels[net]
        texts.append((x - width / 2, y - height / 2, x + width / 2, y + height / 2))
    for scope, title in enumerate(placement.titles):
        if title is not None:
            width, height = diagram.titles[scope][title[2]]
            texts.append((title[0], title[1], title[0] + width, title[1] + height))
    boxes = [box(diagram, placement, index) for index in range(len(diagram.sizes))]
    for index, one in enumerate(texts):
        assert not any(overlap(one, other) for other in boxes)
        assert not any(overlap(one, other) for other in texts[:index])


@given(diagrams())
def test_every_net_with_a_text_has_a_place_for_it(diagram: Diagram) -> None:
    shown = {wire.net for wire in diagram.wires if wire.source != wire.target}
    assert set(arrange(diagram).labels) == shown & set(diagram.labels)


@given(diagrams())
def test_wires_lead_from_box_to_box(diagram: Diagram) -> None:
    placement = arrange(diagram)
    for wire, route in zip(diagram.wires, placement.routes, strict=True):
        for end, point in ((wire.source, route[0]), (wire.target, route[-1])):
            left, top, right, bottom = box(diagram, placement, end)
            assert left - CLOSE <= point[0] <= right + CLOSE
            assert top - CLOSE <= point[1] <= bottom + CLOSE


@given(diagrams())
def test_wires_lead_onwards_unless_they_run_against_the_order(diagram: Diagram) -> None:
    diagram = replace(diagram, direction="TB", wrap=0.0)
    placement = arrange(diagram)
    first: dict[int, int] = {}
    for index, scope in enumerate(diagram.scopes):
        for outer in around(diagram, scope):
            first.setdefault(outer, index)
    for wire, route in zip(diagram.wires, placement.routes, strict=True):
        if wire.source == wire.target:
            continue
        heights = [y for _, y in route]
        ways = [
            [*reversed(around(diagram, diagram.scopes[end])), end - len(diagram.sizes) - 2]
            for end in (wire.source, wire.target)
        ]
        one, other = next((a, b) for a, b in zip(*ways, strict=False) if a != b)
        order = [first.get(item, item + len(diagram.sizes) + 2) for item in (one, other)]
        if order[0] < order[1]:
            assert heights == sorted(heights)
            continue
        assert heights[0] == pytest.approx(box(diagram, placement, wire.source)[3])
        assert heights[-1] == pytest.approx(box(diagram, placement, wire.target)[1])
        ups = [after < before for before, after in pairwise(heights) if after != before]
        assert ups == sorted(ups[: ups.index(True)]) + sorted(ups[ups.index(True) :], reverse=True)


@given(diagrams())
def test_no_wire_runs_through_a_box(diagram: Diagram) -> None:
    diagram = replace(diagram, direction="TB")
    placement = arrange(diagram)
    boxes = [box(diagram, placement, index) for index in range(len(diagram.sizes))]
    for route in placement.routes:
        for x, y in along(route):
            for left, top, right, bottom in boxes:
                assert not (left + 1 < x < right - 1 and top + 1 < y < bottom - 1)


@given(diagrams())
def test_no_wire_runs_through_a_title_or_a_frame_that_holds_neither_end(diagram: Diagram) -> None:
    diagram = replace(diagram, direction="TB")
    placement = arrange(diagram)
    for wire, route in zip(diagram.wires, placement.routes, strict=True):
        scopes = {scope for end in (wire.source, wire.target) for scope in around(diagram, diagram.scopes[end])}
        points = along(route)
        for scope, title in enumerate(placement.titles):
            if title is None:
                continue
            width, height = diagram.titles[scope][title[2]]
            left, top, right, bottom = title[0], title[1], title[0] + width, title[1] + height
            if scope not in scopes:
                left, top, right, bottom = frame(placement, scope)
            for x, y in points:
                assert not (left + 1 < x < right - 1 and top + 1 < y < bottom - 1)


def along(route: tuple[tuple[float, float], ...]) -> list[tuple[float, float]]:
    """Return points that a wire passes, close to one another."""
    points = []
    at = route[0]
    for piece in curves(route):
        controls = [at, *piece] if len(piece) == 3 else [at, at, piece[0], piece[0]]
        points += [bezier(controls, step / 16) for step in range(17)]
        at = piece[-1]
    return points


def bezier(points: list[tuple[float, float]], at: float) -> tuple[float, float]:
    weights = ((1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at * at * (1 - at), at**3)
    return (
        sum(weight * x for weight, (x, _) in zip(weights, points, strict=True)),
        sum(weight * y for weight, (_, y) in zip(weights, points, strict=True)),
    )


@given(diagrams())
def test_the_cache_changes_nothing(diagram: Diagram) -> None:
    assert arrange(diagram) == arrange(diagram, cached=False)


@settings(max_examples=20)
@given(diagrams(most=60))
def test_larger_diagrams_hold_to_the_same(diagram: Diagram) -> None:
    placement = arrange(diagram)
    boxes = [box(diagram, placement, index) for index in range(len(diagram.sizes))]
    for index, one in enumerate(boxes):
        assert not any(overlap(one, other) for other in boxes[:index])


def loop(*pairs: tuple[int, int], **options: Any) -> Diagram:
    count = 1 + max(end for pair in pairs for end in pair)
    wires = tuple(Wire(source, target, source) for source, target in pairs)
    return replace(Diagram(((60.0, 20.0),) * count, (-1,) * count, (), (), wires, {}), **options)


def test_a_wire_back_leaves_and_arrives_with_the_flow_and_runs_beside_what_is_between() -> None:
    placement = arrange(loop((0, 1), (1, 2), (2, 0)))
    first, middle, last = placement.boxes
    route = placement.routes[2]
    assert route[0][1] == last[1] + 10
    assert route[-1][1] == first[1] - 10
    assert not any(abs(x - middle[0]) < 30 and first[1] < y < last[1] for x, y in along(route))
    assert first[0] == middle[0] == last[0]


def test_wires_back_from_one_box_lie_inside_one_another() -> None:
    placement = arrange(loop(*pairwise(range(5)), (4, 3), (4, 2), (4, 1), (4, 0)))
    middle = placement.boxes[4][0]
    for right in (True, False):
        routes = [route for route in placement.routes[4:] if (route[2][0] > middle) == right]
        routes.sort(key=lambda route: abs(route[2][0] - middle))
        ports = [abs(route[0][0] - middle) for route in routes]
        assert ports == sorted(ports, reverse=True)
        depths = [max(y for _, y in along(route)) for route in routes]
        assert depths == sorted(depths)


def test_a_wire_back_enters_a_frame_from_above_and_leaves_one_at_the_bottom() -> None:
    scopes = {"scopes": (0, 0, 1, 1), "parents": (-1, -1), "titles": (((30.0, 20.0),),) * 2}
    placement = arrange(loop((0, 1), (1, 2), (2, 3), (3, 0), **scopes))
    upper, lower = frame(placement, 0), frame(placement, 1)
    heights = [y for _, y in along(placement.routes[3])]
    assert min(heights) < upper[1]
    assert max(heights) > lower[3]


def test_a_wire_back_goes_round_between_columns() -> None:
    wires = tuple(Wire(index, index + 1, index) for index in range(39))
    diagram = replace(chain(40, wrap=400.0), wires=(*wires, Wire(35, 5, 35)))
    placement = arrange(diagram)
    boxes = [box(diagram, placement, index) for index in range(40)]
    for x, y in along(placement.routes[-1]):
        assert not any(left + 1 < x < right - 1 and top + 1 < y < bottom - 1 for left, top, right, bottom in boxes)


def test_nothing_is_placed_nowhere() -> None:
    placement = arrange(Diagram((), (), (), (), (), {}))
    assert placement.size == (0.0, 0.0)
    assert placement.routes == []


def test_a_chain_is_a_straight_line() -> None:
    wires = tuple(Wire(index, index + 1, index) for index in range(9))
    placement = arrange(Diagram(((60.0, 20.0),) * 10, (-1,) * 10, (), (), wires, {}))
    assert len({x for x, _ in placement.boxes}) == 1
    assert all(len(route) == 2 for route in placement.routes)


def test_the_trunk_is_straight_and_goes_through_every_frame() -> None:
    """Three blocks in a row, each with a residual round two boxes: what adds stands below what it adds to."""
    scopes, wires, before = [-1], [], 0
    for block in range(3):
        first = len(scopes)
        scopes += [block] * 3
        wires += [(before, first), (first, first + 1), (first + 1, first + 2), (before, first + 2)]
        before = first + 2
    diagram = Diagram(
        ((60.0, 20.0),) * len(scopes),
        tuple(scopes),
        (-1,) * 3,
        (((50.0, 20.0),),) * 3,
        tuple(Wire(source, target, source) for source, target in wires),
        {},
    )
    placement = arrange(diagram)
    xs = [x for x, _ in placement.boxes]
    assert max(xs) - min(xs) < 0.01
    assert placement.crossings == 0


def test_two_equal_branches_stand_on_both_sides_of_where_they_meet() -> None:
    wires = tuple(Wire(*pair, pair[0]) for pair in ((0, 1), (0, 2), (1, 3), (2, 3)))
    placement = arrange(Diagram(((60.0, 20.0),) * 4, (-1,) * 4, (), (), wires, {}))
    (top, _), (left, _), (right, _), (bottom, _) = placement.boxes
    assert left < top < right
    assert top == pytest.approx((left + right) / 2)
    assert bottom == pytest.approx(top)


def test_a_parameter_stands_right_before_what_reads_it() -> None:
    wires = tuple(Wire(*pair, pair[0]) for pair in ((0, 1), (1, 2), (2, 4), (3, 4)))
    placement = arrange(Diagram(((40.0, 20.0),) * 5, (-1,) * 5, (), (), wires, {}, first=frozenset({0})))
    assert placement.boxes[3][1] == placement.boxes[2][1]


def test_equal_scopes_have_equal_insides() -> None:
    scopes = [-1, 0, 0, 0, 1, 1, 1, -1]
    pairs = ((0, 1), (1, 2), (1, 3), (2, 3), (3, 4), (4, 5), (4, 6), (5, 6), (6, 7))
    wires = tuple(Wire(*pair, pair[0]) for pair in pairs)
    placement = arrange(Diagram(((40.0, 20.0),) * 8, tuple(scopes), (-1, -1), (((30.0, 20.0),),) * 2, wires, {}))
    shift = placement.boxes[4][1] - placement.boxes[1][1]
    for index in (1, 2, 3):
        (x, y), (other_x, other_y) = placement.boxes[index], placement.boxes[index + 3]
        assert (other_x, other_y) == pytest.approx((x, y + shift))


def chain(count: int, **options: Any) -> Diagram:
    wires = tuple(Wire(index, index + 1, index) for index in range(count - 1))
    return replace(Diagram(((60.0, 20.0),) * count, (-1,) * count, (), (), wires, {}), **options)


def test_a_long_chain_goes_on_beside_itself_on_request() -> None:
    long, short = arrange(chain(40)), arrange(chain(40, wrap=400.0))
    assert long.size[1] > 1500
    assert short.size[1] < 560
    assert short.size[0] > 3 * long.size[0]
    columns = sorted({x for x, _ in short.boxes})
    assert len(columns) == 4
    for (x, y), (next_x, next_y) in pairwise(short.boxes):
        assert next_y > y if next_x == x else next_x > x


def test_a_wire_between_columns_goes_down_then_up_then_down() -> None:
    placement = arrange(chain(40, wrap=400.0))
    turning = [route for route in placement.routes if route[0][0] != route[-1][0]]
    assert len(turning) == 3
    for route in turning:
        heights = [y for _, y in route]
        steps = [second - first for first, second in pairwise(heights) if second != first]
        assert [step > 0 for step in steps] == [True, False, True]


def test_what_fits_is_not_wrapped() -> None:
    assert arrange(chain(9, wrap=4000.0)) == arrange(chain(9))


def test_members_that_nothing_is_joined_to_stand_in_rows() -> None:
    placement = arrange(Diagram(((60.0, 20.0),) * 100, (-1,) * 100, (), (), (), {}))
    assert placement.size[0] < 1000
    assert len({y for _, y in placement.boxes}) == 10


def test_slices_of_one_input_stand_where_they_are_read() -> None:
    """A loop reads one slice in each step: each stands right before its step, on one line from the input."""
    pairs = [(0, 1)]
    for step in range(8):
        piece, cell = 2 + 2 * step, 3 + 2 * step
        pairs += [(0, piece), (piece, cell), (cell - 2, cell)]
    count = 18
    wires = tuple(Wire(source, target, source) for source, target in pairs)
    placement = arrange(Diagram(((60.0, 20.0),) * count, (-1,) * count, (), (), wires, {}, {}, frozenset({0})))
    assert placement.size[0] < 260
    assert placement.crossings == 0
