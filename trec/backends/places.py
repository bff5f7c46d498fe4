"""Where the nodes and scopes of a graph lie on its picture, for data that carries positions with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from trec.backends.arrows import CARRIED
from trec.backends.lower import lower
from trec.backends.measure import diagram
from trec.backends.options import check
from trec.backends.plan import plan
from trec.layout.arrange import arrange
from trec.layout.diagram import Point, Size

if TYPE_CHECKING:
    from trec.backends.style import Style
    from trec.backends.themes import ThemeName
    from trec.ir.graph import Graph

_STEP = 12.0
"""How far to the right of one another results lie that a picture shows as one box, in points."""


class Frame(Struct, frozen=True):
    """The frame of a scope; lengths are in points, y grows downwards."""

    scope: int
    """Index into `Graph.scopes`."""
    around: int
    """Scope of the frame around it; -1 for none."""
    left: float
    top: float
    width: float
    height: float
    fill: str
    """Colour as `#rrggbb`, as all colours here."""
    border: str


class Places(Struct, frozen=True):
    """Where everything is, in points; x grows to the right and y downwards."""

    points: list[Point]
    """Centre of each node."""
    sizes: list[Size]
    """Width and height of the box of each node."""
    fills: list[str]
    """Colour of each node."""
    borders: list[str]
    """Colour of the outline of each node, which is the stronger one."""
    frames: list[Frame]
    """Frames of the scopes that have one, each after the one around it."""
    routes: dict[tuple[int, int], tuple[Point, ...]]
    """The points that the edge between two nodes passes, as far as the picture has one."""
    edge: str
    """Colour of edges."""
    carried: str
    """Colour of edges that a loop carries."""


def places(
    graph: Graph,
    *,
    rankdir: Literal["TB", "LR", "BT", "RL"] = "TB",
    wrap: float = 0,
    style: Style | ThemeName | None = None,
) -> Places:
    """Return where everything lies on the picture of a graph with all its parameters.

    Args:
        graph: what to place.
        rankdir: where the flow goes.
        wrap: see `trec.backends.svg.to_svg`.
        style: see `trec.backends.options.PictureOptions`.

    Cost: as that of `trec.backends.svg.to_svg`.
    """
    check("rankdir", rankdir, ("TB", "LR", "BT", "RL"))
    drawing = lower(graph, params=True, shapes="none", rankdir=rankdir, style=style)
    measured = diagram(drawing, wrap=wrap)
    placement = arrange(measured)
    shown = plan(graph, params=True)
    box_of = {node: index for index, node in enumerate(drawing.boxes.nodes)}
    points: list[Point] = []
    boxes: list[int] = []
    beside: dict[int, int] = {}
    for index in range(len(graph.nodes)):
        box = box_of[shown.merged.get(index, index)]
        boxes.append(box)
        taken = beside[box] = beside.get(box, -1) + 1
        x, y = placement.boxes[box]
        points.append((x + taken * _STEP, y))
    looks = [drawing.looks[drawing.boxes[box].look] for box in boxes]
    frames = []
    for index, frame in enumerate(placement.frames):
        if frame is not None:
            cluster = drawing.clusters[index]
            look = drawing.looks[cluster.look]
            around = shown.scopes[cluster.parent] if cluster.parent >= 0 else -1
            frames.append(Frame(shown.scopes[index], around, *frame, look.fill, look.border))
    routes: dict[tuple[int, int], tuple[Point, ...]] = {}
    for edge, route in zip(drawing.edges, placement.routes, strict=True):
        pair = (drawing.boxes[edge.source].node, drawing.boxes[edge.target].node)
        routes.setdefault(pair, route)
    return Places(
        points,
        [measured.sizes[box] for box in boxes],
        [look.fill for look in looks],
        [look.border for look in looks],
        frames,
        routes,
        drawing.strokes[0].colour,
        drawing.strokes[CARRIED].colour,
    )
