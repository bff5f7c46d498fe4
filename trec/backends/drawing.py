"""What all picture backends print: boxes, clusters and edges with their text and colours, in no format yet."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from msgspec import Struct

from trec.ir.types import Phase

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


class Box(Struct, frozen=True, gc=False):
    """One thing on the picture: its title and subtitle stand on the first line, its detail on the second."""

    title: str
    subtitle: str
    """Class of a module, shape of a tensor; may be empty."""
    detail: str
    """Small text; may be empty."""
    tooltip: str
    cluster: int
    """Index into `Drawing.clusters`; -1 outside all of them."""
    look: int
    """Index into `Drawing.looks`."""
    node: int = -1
    """Index into `Graph.nodes`; -1 for a box that stands for a tensor."""
    link: str = ""
    """Address that the box leads to; may be empty, as may that of a cluster."""
    repeats: int = 1
    """How many equal calls it stands for, as may a cluster; more than one are drawn as a stack."""


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


class Edge(Struct, frozen=True, gc=False):
    """An arrow between two boxes; no two edges of one stroke join the same two boxes in the same direction."""

    source: int
    """Index into `Drawing.boxes`."""
    target: int
    """Index into `Drawing.boxes`."""
    label: str
    tooltip: str
    stroke: int
    """Index into `Drawing.strokes`."""
    main: bool
    """Whether it is the first use of what flows along it, hence part of a trunk rather than a skip."""
    length: int = 1
    """Least number of ranks from source to target; more than one leaves room for the parameters of the target."""
    flow: int = -1
    """Equal for edges from one box along which the same several values flow; -1 where it is one value, or not known."""


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
    boxes: tuple[Box, ...]
    """In program order."""
    clusters: tuple[Cluster, ...]
    edges: tuple[Edge, ...]
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
    def content(self) -> tuple[tuple[int, ...], ...]:
        """For each cluster, and last for the drawing itself, what it holds in program order.

        A box is its index, a cluster is `-1 - index`. Clusters without any box in them are left out.
        """
        held: list[list[int]] = [[] for _ in range(len(self.clusters) + 1)]
        placed = [False] * len(self.clusters) + [True]
        for index, box in enumerate(self.boxes):
            held[box.cluster].append(index)
            inner = box.cluster
            while not placed[inner]:
                placed[inner] = True
                outer = self.clusters[inner].parent
                held[outer].append(-1 - inner)
                inner = outer
        return tuple(map(tuple, held))
