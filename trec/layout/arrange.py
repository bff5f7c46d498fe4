"""The layout of a whole diagram: each scope on its own, the innermost first, equal ones once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.ir.collector import paused
from trec.layout.diagram import Placement
from trec.layout.frame import Frame, framed
from trec.layout.nesting import Nesting, nest
from trec.layout.routing import Line, simplified
from trec.layout.scope import Content, lay_out
from trec.layout.shape import Shape

if TYPE_CHECKING:
    from trec.layout.diagram import Diagram, Point
    from trec.layout.nesting import Net

LOOP = 18.0
"""Room beside a box for a net that returns to it, in points."""

_FEW = 40
"""Crossings of a scope up to which another order of the nets that enter its members is tried; more take long."""

_Key = tuple[tuple["Net", ...], tuple[Shape, ...], tuple[int, ...]]


class Scope(Struct):
    """A scope laid out, in its frame."""

    content: Content
    frame: Frame
    left: float = 0.0
    """Where its frame begins in the picture, before that is turned."""
    top: float = 0.0


def arrange(diagram: Diagram, *, cached: bool = True) -> Placement:
    """Return where everything in a diagram is.

    Args:
        diagram: what to place.
        cached: whether equal scopes are laid out once; the outcome is the same.

    Ensures:
        No two boxes overlap, each is inside the frame of its scope, frames overlap only where one scope holds the
        other, and wires lead onwards with the flow. One that runs against the order of the boxes leaves and arrives
        with the flow as well, and goes round beside what is between. The same diagram gives the same placement.

    Cost: for each scope, linear in its members and wires but for sorting; 100,000 boxes take seconds.

    Source: K. Sugiyama, S. Tagawa, M. Toda (1981) for layers; for ports in the borders of nested graphs C. Schulze,
    M. Spönemann, R. von Hanxleden, "Drawing layered graphs with port constraints", Journal of Visual Languages and
    Computing 25 (2014).
    """
    with paused():
        if len(diagram.columns) > 1 and diagram.direction == "TB":
            from trec.layout.beside import columns_beside  # which builds on the arrangement below

            return columns_beside(diagram, cached=cached)
        return Arrangement(diagram, cached=cached).placement()


class Arrangement:
    """Lay out one diagram."""

    def __init__(self, diagram: Diagram, *, cached: bool) -> None:
        self.diagram, self.cached = diagram, cached
        self.nesting: Nesting = nest(diagram)
        self.sideways = diagram.direction in ("LR", "RL")
        self.known: dict[_Key, Content] = {}
        self.scopes: dict[int, Scope] = {}
        self.looped = {diagram.wires[index].source for index in self.nesting.loops}

    def placement(self) -> Placement:
        """Return the outcome."""
        for scope in reversed(self.nesting.scopes):
            self.scopes[scope] = self._laid_out(scope)
        boxes: list[Point] = [(0.0, 0.0)] * len(self.diagram.sizes)
        count = len(boxes)
        for scope in self.nesting.scopes:
            row = self.scopes[scope]
            left, top = row.left + row.frame.left, row.top + row.frame.top
            for item, (x, y) in zip(self.nesting.locals[scope].members, row.content.centres, strict=True):
                if item < count:
                    boxes[item] = (left + x, top + y)
                else:
                    inner = self.scopes[item]
                    inner.left = left + x - inner.frame.width / 2
                    inner.top = top + y - inner.frame.height / 2
        return self._turned(boxes, self._routes(boxes), self._labels())

    def _laid_out(self, scope: int) -> Scope:
        row = self._framed(scope, self._content(scope))
        return self._reordered(scope, row) if 0 < row.content.crossings <= _FEW else row

    def _content(self, scope: int, entries: tuple[int, ...] = ()) -> Content:
        """Return a scope laid out; `entries` is the order in which the nets that enter are put at first."""
        local = self.nesting.locals[scope]
        nets = tuple(local.nets)
        shapes = tuple([self._shape(item) for item in local.members])
        key = (nets, shapes, entries)
        content = self.known.get(key) if self.cached else None
        if content is None:
            content = lay_out(nets, shapes, entries, sideways=self.sideways, wrap=self.diagram.wrap)
            if self.cached:
                self.known[key] = content
        return content

    def _framed(self, scope: int, content: Content) -> Scope:
        index = scope - len(self.diagram.sizes)
        title = self.diagram.titles[index] if index < len(self.diagram.titles) else ()
        return Scope(content, framed(content, title, self.diagram.direction))

    def _reordered(self, scope: int, row: Scope) -> Scope:
        """Return a scope whose nets enter the scopes in it in the order in which they begin, if fewer cross then."""
        before: dict[int, Scope] = {}
        orders = self._arrivals(scope, row.content)
        for item, order in zip(self.nesting.locals[scope].members, orders, strict=True):
            inner = self.scopes.get(item)
            if inner is None or len(inner.content.into) < 2:
                continue
            if list(order) != sorted(order, key=inner.content.into.__getitem__):
                content = self._content(item, order)
                if content.crossings <= inner.content.crossings:
                    before[item] = inner
                    self.scopes[item] = self._framed(item, content)
        if not before:
            return row
        again = self._framed(scope, self._content(scope))
        saved = sum([inner.content.crossings - self.scopes[item].content.crossings for item, inner in before.items()])
        if again.content.crossings < row.content.crossings + saved:
            return again
        self.scopes.update(before)
        return row

    def _arrivals(self, scope: int, content: Content) -> list[tuple[int, ...]]:
        """Return for each member its ports in the order, from left to right, in which the nets there begin."""
        local = self.nesting.locals[scope]
        places: list[list[tuple[float, int]]] = [[] for _ in local.members]
        for net, ways in zip(local.nets, content.lines, strict=True):
            for member, port in net.targets:
                places[member].append((ways[member][-1 if net.back else 0][0], port))
        return [tuple([port for _, port in sorted(ports)]) for ports in places]

    def _shape(self, item: int) -> Shape:
        inner = self.scopes.get(item)
        if inner is None:
            width, height = self.diagram.sizes[item]
            if self.sideways:
                width, height = height, width
            plain = width > 30
            loop = LOOP if item in self.looped else 0.0
            return Shape(width, height, 1, plain, loop, item in self.diagram.first)
        frame, content = inner.frame, inner.content
        shift = frame.left - frame.width / 2
        into = tuple([x + shift for x in content.into])
        out = tuple([x + shift for x in content.out])
        return Shape(
            frame.width,
            frame.height,
            content.length,
            False,
            0.0,
            False,
            into,
            out,
            tuple(content.into_ways),
            tuple(content.out_ways),
        )

    # ---- routes

    def _routes(self, boxes: list[Point]) -> list[Line]:
        routes: list[Line] = []
        loops = set(self.nesting.loops)
        for index, wire in enumerate(self.diagram.wires):
            if index in loops:
                routes.append(self._loop(boxes[wire.source], wire.source))
            else:
                routes.append(self._route(wire.source, wire.target, self.nesting.nets[index]))
        return routes

    def _route(self, source: int, target: int, net: int) -> Line:
        points: list[Point] = []
        for scope, end in self._passed(source, target):
            local = self.nesting.locals[scope]
            line = self.scopes[scope].content.lines[local.index[net]][local.position[end] if end >= 0 else -1]
            points += self._along(line, scope)
        return simplified(points)

    def _along(self, line: Line, scope: int) -> list[Point]:
        """Return the points of a line in a scope as points of the picture."""
        row = self.scopes[scope]
        left, top = row.left + row.frame.left, row.top + row.frame.top
        return [(x + left, y + top) for x, y in line]

    def _passed(self, source: int, target: int) -> list[tuple[int, int]]:
        """Return the scopes that a wire passes, each with the member that it goes to there; -1 for out of it."""
        parent, depth = self.nesting.parent, self.nesting.depth
        leaving: list[tuple[int, int]] = []
        arriving: list[tuple[int, int]] = []
        above, below = depth[source], depth[target]
        while above > below:
            source = parent[source]
            leaving.append((source, -1))
            above -= 1
        while below > above:
            arriving.append((parent[target], target))
            target = parent[target]
            below -= 1
        while parent[source] != parent[target]:
            source = parent[source]
            leaving.append((source, -1))
            arriving.append((parent[target], target))
            target = parent[target]
        return [*leaving, (parent[source], target), *reversed(arriving)]

    def _loop(self, centre: Point, box: int) -> Line:
        width, height = self.diagram.sizes[box]
        if self.sideways:
            width, height = height, width
        x, y = centre
        inner, outer = x + width / 2 - min(width / 4, 4.0), x + width / 2 + 9.0
        return ((inner, y + height / 2), (outer, y + height / 2), (outer, y - height / 2), (inner, y - height / 2))

    def _labels(self) -> dict[int, Point]:
        labels: dict[int, Point] = {}
        for scope in self.nesting.scopes:
            row = self.scopes[scope]
            if row.content.labels:
                left, top = row.left + row.frame.left, row.top + row.frame.top
                nets = list(self.nesting.locals[scope].index)
                for index, (x, y) in row.content.labels.items():
                    labels[nets[index]] = (left + x, top + y)
        for index, wire in enumerate(self.diagram.wires):
            net = self.nesting.nets[index]
            if net != wire.net and net in labels:
                labels[wire.net] = labels.pop(net)
        return labels

    # ---- turning

    def _turned(self, boxes: list[Point], routes: list[Line], labels: dict[int, Point]) -> Placement:
        whole = self.scopes[self.nesting.scopes[0]].frame
        width, height = whole.width, whole.height
        direction = self.diagram.direction

        def turn(point: Point) -> Point:
            x, y = point
            if direction == "TB":
                return point
            if direction == "BT":
                return (x, height - y)
            return (y, x) if direction == "LR" else (height - y, x)

        frames: list[tuple[float, float, float, float] | None] = []
        titles: list[tuple[float, float, int] | None] = []
        count = len(self.diagram.sizes)
        for index in range(len(self.diagram.parents)):
            row = self.scopes.get(count + index)
            if row is None:
                frames.append(None)
                titles.append(None)
                continue
            frame = row.frame
            one = turn((row.left, row.top))
            other = turn((row.left + frame.width, row.top + frame.height))
            left, top = min(one[0], other[0]), min(one[1], other[1])
            frames.append((left, top, abs(one[0] - other[0]), abs(one[1] - other[1])))
            titles.append((left + frame.title, top, frame.setting))
        if direction != "TB":
            boxes = [turn(point) for point in boxes]
            routes = [tuple([turn(point) for point in line]) for line in routes]
            labels = {net: turn(point) for net, point in labels.items()}
        if self.sideways:
            width, height = height, width
        crossings = sum([row.content.crossings for row in self.scopes.values()])
        return Placement((width, height), boxes, frames, titles, routes, labels, crossings)
