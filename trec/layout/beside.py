"""Columns beside one another whose flow goes down in some and up in others, as in a forward and a backward pass.

Each column is laid out on its own as a scope that runs downwards. One that runs upwards is turned by half a circle, so
nets that leave the column before it at the bottom enter it at the bottom, in an order in which no two cross.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.layout.arrange import Arrangement, Scope
from trec.layout.frame import framed
from trec.layout.routing import ARC, simplified
from trec.layout.scope import Content

if TYPE_CHECKING:
    from trec.layout.diagram import Diagram, Placement, Point
    from trec.layout.nesting import Net
    from trec.layout.routing import Line
    from trec.layout.shape import Shape

_BETWEEN = 34.0
"""Room between two columns, in points, as all lengths here."""
_TRACK = 7.0
"""Room between two nets that go from column to column side by side."""


def columns_beside(diagram: Diagram, *, cached: bool = True) -> Placement:
    """Return where everything in a diagram with several columns is; see `trec.layout.arrange.arrange`."""
    wholes = _wholes(diagram)
    made = [column for column in range(len(diagram.columns)) if column not in wholes]
    around = {column: position for position, column in enumerate(made)}
    count = len(made)
    outermost = {scope: column for column, scope in wholes.items()}
    parents = [
        parent + count if parent >= 0 else -1 if scope in outermost or column < 0 else around[column]
        for scope, (parent, column) in enumerate(zip(diagram.parents, _columns_of_scopes(diagram), strict=True))
    ]
    wrapped = replace(
        diagram,
        scopes=tuple(
            [
                scope + count if scope >= 0 else around[column]
                for scope, column in zip(diagram.scopes, diagram.column_of, strict=True)
            ]
        ),
        parents=(*[-1] * count, *parents),
        titles=(*[()] * count, *diagram.titles),
    )
    items = [around[column] if column in around else wholes[column] + count for column in range(len(diagram.columns))]
    placed = _Beside(wrapped, items, cached=cached).placement()
    return replace(placed, frames=placed.frames[count:], titles=placed.titles[count:])


def _columns_of_scopes(diagram: Diagram) -> list[int]:
    """Return the column that each scope lies in; -1 for one without a box."""
    found = [-1] * len(diagram.parents)
    for box, scope in enumerate(diagram.scopes):
        while scope >= 0 and found[scope] < 0:
            found[scope] = diagram.column_of[box]
            scope = diagram.parents[scope]
    return found


def _wholes(diagram: Diagram) -> dict[int, int]:
    """Return the columns that are one scope each, with that scope."""
    held: dict[int, set[int]] = {}
    for box, scope in enumerate(diagram.scopes):
        outer = scope
        while outer >= 0 and diagram.parents[outer] >= 0:
            outer = diagram.parents[outer]
        held.setdefault(diagram.column_of[box], set()).add(outer)
    return {column: scopes.pop() for column, scopes in held.items() if len(scopes) == 1 and -1 not in scopes}


class _Beside(Arrangement):
    """Lay out one diagram whose outermost scopes are its columns."""

    def __init__(self, diagram: Diagram, columns: list[int], *, cached: bool) -> None:
        """Begin.

        Args:
            diagram: what to place.
            columns: for each of its columns, the scope that it is.
            cached: whether equal scopes are laid out once.
        """
        super().__init__(diagram, cached=cached)
        self.column: dict[int, int] = {}
        """The column that each item lies in, an item itself."""
        boxes, root = len(diagram.sizes), len(self.nesting.parent) - 1
        self.turned = {boxes + scope for scope, upward in zip(columns, diagram.columns, strict=True) if upward}
        for item in [*range(boxes, root), *range(boxes)]:
            around = self.nesting.parent[item]
            self.column[item] = item if around == root else self.column[around]

    def placement(self) -> Placement:
        """Return the outcome."""
        placed = super().placement()
        count = len(self.diagram.sizes)
        boxes = [self._turn(point, self.column[box]) for box, point in enumerate(placed.boxes)]
        frames, titles = list(placed.frames), list(placed.titles)
        for index, frame in enumerate(placed.frames):
            column, title = self.column[count + index], titles[index]
            if frame is not None and title is not None and column in self.turned:
                left, top, width, height = frame
                x, y = self._turn((left + width, top + height), column)
                frames[index] = (x, y, width, height)
                titles[index] = (x + title[0] - left, y, title[2])
        return replace(placed, boxes=boxes, frames=frames, titles=titles)

    def _labels(self) -> dict[int, Point]:
        columns = {wire.net: self.column[wire.source] for wire in self.diagram.wires}
        return {net: self._turn(point, columns[net]) for net, point in super()._labels().items()}

    def _turn(self, point: Point, column: int) -> Point:
        """Return where a point in a column comes to lie: elsewhere only if the column runs upwards."""
        if column not in self.turned:
            return point
        row = self.scopes[column]
        return (2 * row.left + row.frame.width - point[0], 2 * row.top + row.frame.height - point[1])

    def _along(self, line: Line, scope: int) -> list[Point]:
        points = super()._along(line, scope)
        column = self.column.get(scope, -1)
        return [self._turn(point, column) for point in points] if column in self.turned else points

    def _loop(self, centre: Point, box: int) -> Line:
        return tuple([self._turn(point, self.column[box]) for point in super()._loop(centre, box)])

    def _framed(self, scope: int, content: Content) -> Scope:
        if self.column.get(scope) not in self.turned:
            return super()._framed(scope, content)
        seen = replace(
            content,
            into=[content.width - x for x in content.into],
            out=[content.width - x for x in content.out],
        )
        frame = framed(seen, self.diagram.titles[scope - len(self.diagram.sizes)], "BT")
        return Scope(content, replace(frame, left=frame.width - frame.left - content.width))

    def _content(self, scope: int, entries: tuple[int, ...] = ()) -> Content:
        if scope in self.column:
            return super()._content(scope, entries)
        local = self.nesting.locals[scope]
        upward = [item in self.turned for item in local.members]
        row = _Row([self._shape(item) for item in local.members], upward, local.nets)
        for column, item in enumerate(local.members):
            before, order = self.scopes[item], row.arrivals(column)
            if upward[column] and list(order) != sorted(order, key=before.content.into.__getitem__):
                content = self._content(item, order)
                if content.crossings <= before.content.crossings:
                    self.scopes[item] = self._framed(item, content)
        return _Row([self._shape(item) for item in local.members], upward, local.nets).content()


class _Row:
    """The columns as members of the whole picture, and the nets between them."""

    def __init__(self, shapes: list[Shape], upward: list[bool], nets: list[Net]) -> None:
        self.shapes, self.upward, self.nets = shapes, upward, nets
        self.height = max([shape.height for shape in shapes], default=0.0)
        self.uses = [(net, target) for net, row in enumerate(nets) for target, _ in row.targets]
        self.gutters = [
            [use for use in self.uses if use[1] == column and self._passes_between(*use)]
            for column in range(len(shapes))
        ]
        """For each column, the nets that go along its left side before they enter it."""
        self.lefts: list[float] = []
        across = 0.0
        for column, shape in enumerate(shapes):
            across += (_BETWEEN if column else 0.0) + _TRACK * len(self.gutters[column])
            self.lefts.append(across)
            across += shape.width
        self.width = across
        self.tracks = {below: self._tracks(below=below) for below in (False, True)}
        self.top = self._room(below=False)

    def content(self) -> Content:
        """Return the outcome."""
        lines: list[dict[int, Line]] = [{} for _ in self.nets]
        for net, target in self.uses:
            lines[net][target] = simplified(self._way(net, target))
        middles = [left + shape.width / 2 for left, shape in zip(self.lefts, self.shapes, strict=True)]
        centres = [(x, (self._edge(at, below=False) + self._edge(at, below=True)) / 2) for at, x in enumerate(middles)]
        height = self.top + self.height + self._room(below=True)
        return Content(self.width, height, len(self.shapes), centres, [], [], [], [], lines, {}, 0)

    def arrivals(self, column: int) -> tuple[int, ...]:
        """Return the ports of a column in the order, from left to right, in which the nets that enter it begin."""
        starts = [
            (self._ends(net, target)[0], self._entry(net, target)) for net, target in self.uses if target == column
        ]
        return tuple([port for _, port in sorted(starts)])

    def _entry(self, net: int, target: int) -> int:
        return next(port for member, port in self.nets[net].targets if member == target)

    def _leaves_below(self, net: int) -> bool:
        return not self.upward[self.nets[net].source]

    def _passes_between(self, net: int, target: int) -> bool:
        """Return whether a net leaves its column at one end, and enters another column at the other."""
        return self._leaves_below(net) != self.upward[target]

    def _tracks(self, *, below: bool) -> dict[int, int]:
        """Return how far out each net goes that passes the columns at one end: the wider ones round the others."""
        spans: dict[int, float] = {}
        for net, target in self.uses:
            if below in (self._leaves_below(net), self.upward[target]):
                start, end = self._ends(net, target)
                spans[net] = max(spans.get(net, 0.0), abs(end - start))
        return {net: place for place, net in enumerate(sorted(spans, key=lambda net: (spans[net], net)))}

    def _room(self, *, below: bool) -> float:
        count = len(self.tracks[below])
        return _TRACK * (count + 1) + ARC if count else 0.0

    def _ends(self, net: int, target: int) -> tuple[float, float]:
        """Return where a net leaves its column and where it enters another one."""
        row = self.nets[net]
        port = self._entry(net, target)
        return self._port(row.source, row.source_port, out=True), self._port(target, port, out=False)

    def _port(self, column: int, port: int, *, out: bool) -> float:
        shape = self.shapes[column]
        beside = (shape.out if out else shape.into)[port]
        return self.lefts[column] + shape.width / 2 + (-beside if self.upward[column] else beside)

    def _edge(self, column: int, *, below: bool) -> float:
        """Return where an end of a column is: one that runs up, and the one before it, stand on the lower line."""
        stands = any(self.upward[column : column + 2])
        start = self.top + (self.height - self.shapes[column].height if stands else 0.0)
        return start + self.shapes[column].height if below else start

    def _track(self, net: int, *, below: bool) -> float:
        out = _TRACK * (self.tracks[below][net] + 1)
        return self.top + self.height + out if below else self.top - out

    def _way(self, net: int, target: int) -> list[Point]:
        start, end = self._ends(net, target)
        leaves, enters = self._leaves_below(net), self.upward[target]
        first, last = self._track(net, below=leaves), self._track(net, below=enters)
        points = [(start, self._edge(self.nets[net].source, below=leaves)), (start, first)]
        if leaves != enters:
            between = self.lefts[target] - _TRACK * (1 + self.gutters[target].index((net, target)))
            points += [(between, first), (between, last)]
        return [*points, (end, last), (end, self._edge(target, below=enters))]
