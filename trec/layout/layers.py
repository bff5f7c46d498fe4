"""Layers: members that stand beside one another, and the vertices that long nets and texts are made of.

Source: K. Sugiyama, S. Tagawa, M. Toda (1981), for layers and for vertices wherever a long edge passes one;
E. Gansner, E. Koutsofios, S. North, K.-P. Vo, "A Technique for Drawing Directed Graphs", IEEE Transactions on Software
Engineering 19 (1993), for labels as vertices of layers of their own.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.layout.diagram import Size
from trec.layout.ranks import ranks
from trec.layout.ways import OUT, Ways, ways

if TYPE_CHECKING:
    from trec.layout.nesting import Net
    from trec.layout.shape import Shape


_LEAST = 2000
"""Vertices of long nets for which there is always room, besides six for each member."""


class Segment(Struct, frozen=True, array_like=True, gc=False):
    """A piece of a net from one layer to the next."""

    upper: int
    """Vertex that it comes from."""
    lower: int
    """Vertex that it leads to."""
    upper_port: int
    lower_port: int
    net: int
    through: int
    """How many members the longest way along this piece passes; the greatest is the trunk."""


class Layers(Struct):
    """The members of a scope in layers, with a vertex wherever a net passes a layer.

    Vertices are numbered: the members, then the nets that enter, those that leave, and the pieces of long nets.
    """

    members: int
    """How many vertices are members."""
    layer: list[int]
    """Layer of each vertex."""
    rows: list[list[int]]
    """Vertices of each layer from left to right."""
    segments: list[Segment]
    chains: list[list[int]]
    """For each net, its vertices in the layers after its source, as far as it has any; for one that runs back, the turn
    before its target, its vertices beside all from there to its source, and the turn behind that."""
    entries: list[int]
    """For each net that enters, its vertex, in the first layer."""
    exits: list[int]
    """For each net that leaves, its vertex, in the last layer."""
    entry_ways: list[int]
    """For each net that enters, how many layers the longest way from there passes."""
    exit_ways: list[int]
    """For each net that leaves, how many layers the longest way to there passes."""
    labels: dict[int, Size]
    """Room for text beside a vertex."""
    texts: set[int]
    """Layers that hold texts and no members."""
    turns: dict[int, int]
    """For each vertex that stands for a turn of a net that runs back, the layer behind which it turns."""
    crossings: int = 0


def layered(shapes: tuple[Shape, ...], nets: tuple[Net, ...], first: frozenset[int]) -> Layers:
    """Return the members of a scope in layers, every net leading to later ones.

    Args:
        shapes: the members.
        nets: what runs between them, from lower to higher positions unless it runs back.
        first: members that stay in the first layer.

    A net that runs back leaves its source and reaches its target along the flow like any other, so it turns twice, and
    goes up beside all that is between.

    Ensures:
        Members that nothing of the flow leads to, such as parameters, stand right before what needs them. Where a text
        stands beside a net, a layer of its own is made for it. The vertices of long nets number at most six for each
        member, and two thousand; nets beyond that run straight from their source to their target.
    """
    count = len(shapes)
    rank, flow = ranks(count, tuple([net.onwards() for net in nets]), first)
    gaps = sorted({rank[net.source] for net in nets if net.label is not None and not net.back})
    shift = [0] * (max(rank, default=-1) + 2)
    for gap in gaps:
        shift[gap + 1] += 1
    for index in range(1, len(shift)):
        shift[index] += shift[index - 1]
    lift = int(any(net.back and not rank[net.targets[0][0]] for net in nets))
    layer = [value + shift[value] + lift for value in rank]
    last = max(layer, default=-1) + 1 + any(net.leaves for net in nets)
    last = max([last, *[layer[net.source] + 2 for net in nets if net.back]])
    builder = _Chains(count, layer, last, ways(tuple([net for net in nets if not net.back]), shapes, flow))
    for net in nets:
        if net.back:
            builder.add_back(net)
        else:
            builder.add(net)
    rows: list[list[int]] = [[] for _ in range(last)]
    for vertex, value in enumerate(builder.layer):
        rows[value].append(vertex)
    for row in rows:
        row.sort(key=builder.outermost.__getitem__)
    return Layers(
        count,
        builder.layer,
        rows,
        builder.segments,
        builder.chains,
        builder.entries,
        builder.exits,
        builder.entry_ways,
        builder.exit_ways,
        builder.labels,
        {gap + shift[gap] + 1 + lift for gap in gaps},
        builder.turns,
    )


class _Chains:
    """Make vertices and segments of one net after the other."""

    def __init__(self, count: int, layer: list[int], last: int, ways: Ways) -> None:
        self.count, self.layer, self.last, self.ways = count, list(layer), last, ways
        self.segments: list[Segment] = []
        self.chains: list[list[int]] = []
        self.entries: list[int] = []
        self.exits: list[int] = []
        self.entry_ways: list[int] = []
        self.exit_ways: list[int] = []
        self.labels: dict[int, Size] = {}
        self.turns: dict[int, int] = {}
        self.outermost = [(-1, member) for member in range(count)]
        """For each vertex, what it is ordered by at first: members, then nets; of nested nets the inner one."""
        self.budget = 6 * count + _LEAST

    def add(self, net: Net) -> None:
        """Add the vertices and segments of a net."""
        layer, source = self.layer, net.source
        ends = [(target, port, self.ways.behind(target, port)) for target, port in net.targets]
        way = self.ways.before(net)
        start = layer[source] if source >= 0 else 0
        reach = self.last - 1 if net.leaves else max([layer[end] for end, _, _ in ends])
        nested = (self.last - start, reach)
        if source < 0:
            source = self._vertex(0, nested)
            self.entries.append(source)
            self.entry_ways.append(max([length for _, _, length in ends]) % OUT)
        if net.leaves:
            ends.append((self._vertex(reach, nested), 0, OUT))
            self.exits.append(ends[-1][0])
            self.exit_ways.append(way)
        index, far = len(self.chains), reach - start - 1
        if net.label is None and far > self.budget:
            far = 0
        self.budget -= far
        self.chains.append(list(range(len(layer), len(layer) + far)))
        if far:
            self._pass(index, source, net, way, ends, nested)
        else:
            for end, port, length in ends:
                self.segments.append(Segment(source, end, net.source_port, port, index, way + length))

    def _pass(
        self, index: int, source: int, net: Net, way: int, ends: list[tuple[int, int, int]], nested: tuple[int, int]
    ) -> None:
        """Add the vertices of a net that passes layers, and its segments; it leaves them for each of its ends."""
        chain = self.chains[index]
        first, far = self.layer[source] + 1, len(chain)
        self.layer += range(first, first + far)
        self.outermost += [nested] * far
        if net.label is not None:
            self.labels[chain[0]] = net.label
        longest = [0] * far
        segments = self.segments
        for end, port, length in ends:
            step = min(self.layer[end] - first - 1, far - 1)
            if step < 0:
                segments.append(Segment(source, end, net.source_port, port, index, way + length))
            else:
                segments.append(Segment(chain[step], end, 0, port, index, way + length))
                longest[step] = max(longest[step], length)
        through = 0
        for step in range(far - 1, -1, -1):
            through = max(through, longest[step])
            upper, port = (chain[step - 1], 0) if step else (source, net.source_port)
            segments.append(Segment(upper, chain[step], port, 0, index, way + through))

    def add_back(self, net: Net) -> None:
        """Add the vertices and segments of a net that runs back; the last segment is that from its source."""
        target, port = net.targets[0]
        first, last = self.layer[target], self.layer[net.source]
        nested = (self.last - first, last)
        beside = range(first, last + 1)
        if len(beside) > self.budget:
            beside = range(first, last + 1, last - first)
        self.budget -= len(beside)
        before = self._vertex(first - 1, nested)
        chain = [before, *[self._vertex(layer, nested) for layer in beside], self._vertex(last + 1, nested)]
        behind = chain[-1]
        self.turns[before], self.turns[behind] = first - 1, last
        if net.label is not None:
            self.labels[chain[-2]] = net.label
        index = len(self.chains)
        self.chains.append(chain)
        self.segments.append(Segment(before, target, 0, port, index, 0))
        self.segments += [Segment(upper, lower, 0, 0, index, 0) for upper, lower in pairwise(chain)]
        self.segments.append(Segment(net.source, behind, net.source_port, 0, index, 0))

    def _vertex(self, layer: int, nested: tuple[int, int]) -> int:
        self.layer.append(layer)
        self.outermost.append(nested)
        return len(self.layer) - 1
