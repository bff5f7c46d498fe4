"""How long ways through a scope are, which tells its trunk from what stands beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.layout.shape import Shape

if TYPE_CHECKING:
    from trec.layout.nesting import Net

OUT = 1 << 24
"""Length of what a way that leads out of a scope goes on with: more than any that ends inside."""


class Ways(Struct):
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


def ways(nets: tuple[Net, ...], shapes: tuple[Shape, ...], flow: list[bool]) -> Ways:
    """Return the ways through members; only those in the flow count, lest the trunk come from a chain of constants."""
    count = len(shapes)
    found = Ways([0] * count, [0] * count, shapes, flow)
    by_source: list[list[Net]] = [[] for _ in range(count)]
    for net in nets:
        if net.source >= 0:
            by_source[net.source].append(net)
    above, below = found.above, found.below
    for member in range(count):
        for net in by_source[member]:
            length = found.before(net)
            for target, _ in net.targets:
                above[target] = max(above[target], length)
    for member in range(count - 1, -1, -1):
        for net in by_source[member]:
            if net.leaves:
                below[member] = max(below[member], OUT)
            for target, port in net.targets:
                below[member] = max(below[member], found.behind(target, port))
    return found
