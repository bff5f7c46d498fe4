"""What all picture backends print: boxes, clusters and edges with their text and colours, in no format yet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from trec.ir.types import Phase

if TYPE_CHECKING:
    from collections.abc import Iterator

Shape = Literal["box", "pill", "circle", "point"]
"""Outline of a box: rounded corners, round ends, a circle that its title fits in, or a dot without any text."""

Line = Literal["solid", "dashed", "dotted"]


class Look(Struct, frozen=True):
    """How boxes of one sort are drawn; each drawing holds every look once."""

    shape: Shape
    fill: str
    """Colour as `#rrggbb`, as all colours here."""
    border: str
    text: str
    """Colour of the title."""
    muted: str
    """Colour of the subtitle and the detail."""
    line: Line = "solid"
    """Stroke of the border."""
    width: float = 1.0
    """Width of the border in points."""
    size: float = 11.0
    """Font size of the title in points."""
    bold: bool = True
    """Whether the title is bold."""


class Stroke(Struct, frozen=True):
    """How edges of one sort are drawn."""

    colour: str
    line: Line = "solid"


class Face(Struct, frozen=True, gc=False):
    """What boxes have in common that differ in nothing but their names and places; each drawing holds every face once.

    The title and the subtitle stand on the first line, the detail on the second.
    """

    title: str
    subtitle: str
    """Class of a module, shape of a tensor; may be empty."""
    detail: str
    """Small text; may be empty."""
    look: int
    """Index into `Drawing.looks`."""
    about: str = ""
    """What the tooltip says behind the name of a box."""
    link: str = ""
    """Address that the box leads to; may be empty, as may that of a cluster."""
    repeats: int = 1
    """How many equal calls it stands for, as may a cluster; more than one are drawn as a stack."""


class Box(Struct, frozen=True, gc=False):
    """One thing on the picture, with what its face says."""

    title: str
    subtitle: str
    detail: str
    tooltip: str
    cluster: int
    """Index into `Drawing.clusters`; -1 outside all of them."""
    look: int
    """Index into `Drawing.looks`."""
    node: int = -1
    """Index into `Graph.nodes`; -1 for a box that stands for a tensor."""
    link: str = ""
    repeats: int = 1


class Boxes(Struct, frozen=True):
    """The boxes of a drawing in program order, kept as columns, of which each box is a row."""

    faces: Sequence[Face]
    """Each once."""
    face: Sequence[int]
    """For each box, the index of its face."""
    names: Sequence[str]
    """For each box, what its tooltip begins with."""
    clusters: Sequence[int]
    """For each box, an index into `Drawing.clusters`; -1 outside all of them."""
    nodes: Sequence[int]
    """For each box, an index into `Graph.nodes`; -1 for a box that stands for a tensor."""

    @classmethod
    def of(cls, rows: Sequence[Box]) -> Boxes:
        """Return the columns of some boxes."""
        faces: dict[Face, int] = {}
        face = []
        for row in rows:
            key = Face(row.title, row.subtitle, row.detail, row.look, "", row.link, row.repeats)
            face.append(faces.setdefault(key, len(faces)))
        names, clusters, nodes = [[getattr(row, field) for row in rows] for field in ("tooltip", "cluster", "node")]
        return cls(tuple(faces), face, names, clusters, nodes)

    def __len__(self) -> int:
        return len(self.face)

    def __getitem__(self, index: int) -> Box:
        face = self.faces[self.face[index]]
        tooltip = self.names[index] + face.about
        place, node = self.clusters[index], self.nodes[index]
        return Box(face.title, face.subtitle, face.detail, tooltip, place, face.look, node, face.link, face.repeats)

    def __iter__(self) -> Iterator[Box]:
        return map(self.__getitem__, range(len(self)))


class Cluster(Struct, frozen=True, gc=False):
    """A frame round boxes and other clusters, its title at the top left."""

    title: str
    subtitle: str
    detail: str
    tooltip: str
    parent: int
    """Index into `Drawing.clusters` of the cluster around it, which precedes it; -1 for none."""
    look: int
    """Index into `Drawing.looks`."""
    link: str = ""
    repeats: int = 1
    phase: Phase = "forward"
    """What part of a step of training is in it."""
    rank: int = -1
    """The rank whose part of a job it is; -1 for any other frame."""


class Arrow(Struct, frozen=True, gc=False):
    """What edges have in common that differ in nothing but their ends and what flows along them."""

    label: str
    about: str
    """What the tooltip says behind the name of what flows."""
    stroke: int
    """Index into `Drawing.strokes`."""
    main: bool
    """Whether it is the first use of what flows along it, hence part of a trunk rather than a skip."""
    length: int = 1
    """Least number of ranks from source to target; more than one leaves room for the parameters of the target."""
    flow: int = -1
    """Equal for edges from one box along which the same several values flow; -1 where it is one value, or not known."""


class Edge(Struct, frozen=True, gc=False):
    """An arrow between two boxes; no two edges of one stroke join the same two boxes in the same direction."""

    source: int
    """Index into `Drawing.boxes`."""
    target: int
    """Index into `Drawing.boxes`."""
    label: str
    tooltip: str
    stroke: int
    main: bool
    length: int = 1
    flow: int = -1


class Edges(Struct, frozen=True):
    """The edges of a drawing, kept as columns, of which each edge is a row."""

    arrows: Sequence[Arrow]
    """Each once."""
    arrow: Sequence[int]
    """For each edge, the index of its arrow."""
    names: Sequence[str]
    """Of all that flows."""
    values: Sequence[int]
    """For each edge, the index of the name of what flows along it, or of the first of several."""
    sources: Sequence[int]
    """For each edge, an index into `Drawing.boxes`."""
    targets: Sequence[int]
    """For each edge, an index into `Drawing.boxes`."""

    @classmethod
    def of(cls, rows: Sequence[Edge]) -> Edges:
        """Return the columns of some edges."""
        arrows: dict[Arrow, int] = {}
        arrow = []
        for row in rows:
            key = Arrow(row.label, "", row.stroke, row.main, row.length, row.flow)
            arrow.append(arrows.setdefault(key, len(arrows)))
        names, sources, targets = [[getattr(row, field) for row in rows] for field in ("tooltip", "source", "target")]
        return cls(tuple(arrows), arrow, names, range(len(rows)), sources, targets)

    def __len__(self) -> int:
        return len(self.arrow)

    def __getitem__(self, index: int) -> Edge:
        arrow, (source, target) = self.arrows[self.arrow[index]], (self.sources[index], self.targets[index])
        tooltip = self.names[self.values[index]] + arrow.about
        return Edge(source, target, arrow.label, tooltip, arrow.stroke, arrow.main, arrow.length, arrow.flow)

    def __iter__(self) -> Iterator[Edge]:
        return map(self.__getitem__, range(len(self)))


class Key(Struct, frozen=True):
    """One line of a legend: a colour and what it stands for."""

    text: str
    look: int
    """Index into `Drawing.looks`."""


class Drawing(Struct, frozen=True, dict=True):
    """A picture, but for the positions."""

    name: str
    caption: str
    """Text below the picture; may be empty."""
    rankdir: Literal["TB", "LR", "BT", "RL"]
    """Where the flow goes: from top to bottom, from left to right, ..."""
    font: str
    """Font families, the wanted one first, separated by `, `."""
    sizes: tuple[float, float, float]
    """Font sizes in points of subtitles, details and edge labels."""
    background: str
    text: str
    """Colour of the caption."""
    label: str
    """Colour of the labels of edges."""
    boxes: Boxes
    clusters: tuple[Cluster, ...]
    edges: Edges
    looks: tuple[Look, ...]
    strokes: tuple[Stroke, ...]
    first: tuple[int, ...] = ()
    """Indices into `boxes` of those that stand where the flow begins, all outside the clusters."""
    title: str = ""
    """Text above the picture; may be empty."""
    legend_title: str = ""
    """What the colours stand for; empty for families."""
    legend: tuple[Key, ...] = ()

    @cached_property
    def content(self) -> tuple[tuple[range | int, ...], ...]:
        """For each cluster, and last for the drawing itself, what it holds in program order.

        A range holds boxes that follow one another, a number is a cluster. Clusters without any box are left out.
        """
        held: list[list[range | int]] = [[] for _ in range(len(self.clusters) + 1)]
        placed = [False] * len(self.clusters) + [True]
        start = 0
        for cluster, run in groupby(self.boxes.clusters):
            inner = cluster
            while not placed[inner]:
                placed[inner] = True
                outer = self.clusters[inner].parent
                held[outer].append(inner)
                inner = outer
            stop = start + len(list(run))
            held[cluster].append(range(start, stop))
            start = stop
        return tuple(map(tuple, held))

    def walk(self) -> Iterator[tuple[int, range | int | None]]:
        """Yield boxes and clusters as they nest, with their depths: a range of boxes, a cluster, or None at its end."""
        content = self.content
        stack = [iter(content[-1])]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
                if stack:
                    yield len(stack) - 1, None
            else:
                yield len(stack) - 1, entry
                if isinstance(entry, int):
                    stack.append(iter(content[entry]))
