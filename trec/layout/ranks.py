"""Layers: which members of a scope stand beside one another, and which come later.

Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for Visual Understanding of Hierarchical System Structures", IEEE
Transactions on Systems, Man, and Cybernetics 11 (1981), for layers and the vertices that long edges are made of;
E. Gansner, E. Koutsofios, S. North, K.-P. Vo, "A Technique for Drawing Directed Graphs", IEEE Transactions on Software
Engineering 19 (1993), for labels as vertices of layers of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from trec.layout.diagram import Size
from trec.layout.shape import Shape

if TYPE_CHECKING:
    from trec.layout.nesting import Net


_OUT = 1 << 24
"""Length of what a way that leads out of a scope goes on with: more than any that ends inside."""


class Segment(NamedTuple):
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
    """For each net, its vertices in the layers after its source, as far as it has any."""
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
    crossings: int = 0


def layered(shapes: tuple[Shape, ...], nets: tuple[Net, ...], first: frozenset[int]) -> Layers:
    """Return the members of a scope in layers, every net leading to later ones.

    Args:
        shapes: the members.
        nets: what runs between them, from lower to higher positions.
        first: members that stay in the first layer.

    Ensures:
        Members that nothing of the flow leads to, such as parameters, stand right before what needs them. Where a text
        stands beside a net, a layer of its own is made for it. The vertices of long nets number at most six for each
        member, and some hundreds; nets beyond that run straight from their source to their target.
    """
    count = len(shapes)
    rank, flow = _ranks(count, nets, first)
    ways = _ways(nets, shapes, flow)
    gaps = sorted({rank[net.source] for net in nets if net.label is not None})
    shift = [0] * (max(rank, default=-1) + 2)
    for gap in gaps:
        shift[gap + 1] += 1
    for index in range(1, len(shift)):
        shift[index] += shift[index - 1]
    layer = [value + shift[value] for value in rank]
    last = max(layer, default=-1) + 1 + any(net.leaves for net in nets)
    builder = _Chains(count, layer, last, ways)
    for net in nets:
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
    )


def _ranks(count: int, nets: tuple[Net, ...], first: frozenset[int]) -> tuple[list[int], list[bool]]:
    """Return the rank of each member, and whether it is in the flow from what enters or comes first.

    A member stands as early as what leads to it allows, but outside the flow as late as what needs it.
    """
    rank = [1 if any(net.source < 0 for net in nets) else 0] * count
    feeds: list[list[int]] = [[] for _ in range(count)]
    flow = [member in first for member in range(count)]
    for net in nets:
        targets = [member for member, _ in net.targets]
        if net.source >= 0:
            feeds[net.source] += targets
        else:
            for member in targets:
                flow[member] = True
    for member in range(count):
        later = rank[member] + 1
        for target in feeds[member]:
            if rank[target] < later:
                rank[target] = later
            if flow[member]:
                flow[target] = True
    for member in range(count - 1, -1, -1):
        if feeds[member] and not flow[member]:
            rank[member] = min([rank[target] for target in feeds[member]]) - 1
    _sink(nets, rank, feeds, first)
    return rank, flow


def _sink(nets: tuple[Net, ...], rank: list[int], feeds: list[list[int]], first: frozenset[int]) -> None:
    """Move members later that then make the picture narrower, such as the slices of an input that a loop reads.

    What leads to such a member grows longer, but as one line if it leads to several; what leads away from each grows
    shorter.
    """
    into: list[list[int]] = [[] for _ in rank]
    out = [0] * len(rank)
    for index, net in enumerate(nets):
        if net.source >= 0:
            out[net.source] += 1
        for target, _ in net.targets:
            into[target].append(index)

    def latest(member: int) -> int:
        return min([rank[target] for target in feeds[member]]) - 1

    for member in range(len(rank) - 1, -1, -1):
        if not feeds[member] or not into[member] or member in first or latest(member) <= rank[member]:
            continue
        longer = 0
        for index in into[member]:
            others = [target for target, _ in nets[index].targets if target != member]
            shared = nets[index].leaves or any(
                rank[other] >= latest(member) or (feeds[other] and latest(other) > rank[other]) for other in others
            )
            longer += not shared
        if longer < out[member]:
            rank[member] = latest(member)


class _Ways(Struct):
    """How long ways through the members are, counted in layers of what is in them."""

    above: list[int]
    """For each member, the longest way to it, without itself."""
    below: list[int]
    """For each member, the longest way from it, without itself."""
    shapes: tuple[Shape, ...]
    flow: list[bool]

    def before(self, net: Net) -> int:
        """Return the longest way to where a net begins."""
        if net.source < 0 or not self.flow[net.source]:
            return 0
        shape = self.shapes[net.source]
        return self.above[net.source] + (shape.out_ways[net.source_port] if shape.out_ways else shape.length)

    def behind(self, member: int, port: int) -> int:
        """Return the longest way from where a net reaches a member."""
        shape = self.shapes[member]
        return self.below[member] + (shape.into_ways[port] if shape.into_ways else shape.length)


def _ways(nets: tuple[Net, ...], shapes: tuple[Shape, ...], flow: list[bool]) -> _Ways:
    """Return the ways through members; only those in the flow count, lest the trunk come from a chain of constants."""
    count = len(shapes)
    ways = _Ways([0] * count, [0] * count, shapes, flow)
    by_source: list[list[Net]] = [[] for _ in range(count)]
    for net in nets:
        if net.source >= 0:
            by_source[net.source].append(net)
    above, below = ways.above, ways.below
    for member in range(count):
        for net in by_source[member]:
            length = ways.before(net)
            for target, _ in net.targets:
                above[target] = max(above[target], length)
    for member in range(count - 1, -1, -1):
        for net in by_source[member]:
            if net.leaves:
                below[member] = max(below[member], _OUT)
            for target, port in net.targets:
                below[member] = max(below[member], ways.behind(target, port))
    return ways


class _Chains:
    """Make vertices and segments of one net after the other."""

    def __init__(self, count: int, layer: list[int], last: int, ways: _Ways) -> None:
        self.count, self.layer, self.last, self.ways = count, list(layer), last, ways
        self.segments: list[Segment] = []
        self.chains: list[list[int]] = []
        self.entries: list[int] = []
        self.exits: list[int] = []
        self.entry_ways: list[int] = []
        self.exit_ways: list[int] = []
        self.labels: dict[int, Size] = {}
        self.outermost = [(-1, member) for member in range(count)]
        """For each vertex, what it is ordered by at first: members, then nets; of nested nets the inner one."""
        self.budget = 6 * count + 400

    def add(self, net: Net) -> None:
        """Add the vertices and segments of a net."""
        layer = self.layer
        source = net.source
        ends = [(target, port, self.ways.behind(target, port)) for target, port in net.targets]
        way = self.ways.before(net)
        start = layer[source] if source >= 0 else 0
        reach = self.last - 1 if net.leaves else max([layer[end] for end, _, _ in ends])
        nested = (self.last - start, reach)
        if source < 0:
            source = self._vertex(0, nested)
            self.entries.append(source)
            self.entry_ways.append(max([length for _, _, length in ends]) % _OUT)
        if net.leaves:
            ends.append((self._vertex(reach, nested), 0, _OUT))
            self.exits.append(ends[-1][0])
            self.exit_ways.append(way)
        chain: list[int] = []
        index = len(self.chains)
        self.chains.append(chain)
        far = reach - start - 1
        if net.label is None and far > self.budget:
            far = 0
        self.budget -= far
        chain += [self._vertex(start + 1 + step, nested) for step in range(far)]
        if net.label is not None:
            self.labels[chain[0]] = net.label
        longest = [0] * far
        for end, port, length in ends:
            step = min(layer[end] - start - 2, far - 1)
            if step < 0:
                self.segments.append(Segment(source, end, net.source_port, port, index, way + length))
            else:
                self.segments.append(Segment(chain[step], end, 0, port, index, way + length))
                longest[step] = max(longest[step], length)
        for step in range(far - 1, -1, -1):
            if step + 1 < far:
                longest[step] = max(longest[step], longest[step + 1])
            upper, port = (chain[step - 1], 0) if step else (source, net.source_port)
            self.segments.append(Segment(upper, chain[step], port, 0, index, way + longest[step]))

    def _vertex(self, layer: int, nested: tuple[int, int]) -> int:
        self.layer.append(layer)
        self.outermost.append(nested)
        return len(self.layer) - 1
