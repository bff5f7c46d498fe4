"""How long the layout takes, with and without its cache, beside `dot` on the same boxes, frames and edges.

Run: python benchmarks/layout.py [boxes ...]
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from trec.layout.arrange import arrange
from trec.layout.diagram import Diagram, Wire

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.layout.diagram import Placement

DOT_MOST = 1500
"""Boxes that `dot` is asked to place; it takes minutes for more."""
DOT_SECONDS = 60


class Builder:
    """Collect a diagram."""

    def __init__(self) -> None:
        self.scopes: list[int] = []
        self.parents: list[int] = []
        self.wires: list[Wire] = []

    def scope(self, parent: int = -1) -> int:
        """Add a scope."""
        self.parents.append(parent)
        return len(self.parents) - 1

    def box(self, scope: int, *sources: int) -> int:
        """Add a box that others lead to."""
        box = len(self.scopes)
        self.scopes.append(scope)
        self.wires += [Wire(source, box, source) for source in sources if source >= 0]
        return box

    def diagram(self) -> Diagram:
        """Return what was collected."""
        count = len(self.scopes)
        sizes = tuple([(60.0 + 10 * (box % 3), 22.0) for box in range(count)])
        titles = (((90.0, 20.0),),) * len(self.parents)
        return Diagram(sizes, tuple(self.scopes), tuple(self.parents), titles, tuple(self.wires), {})


def transformer(boxes: int) -> Diagram:
    """Return blocks of attention and a perceptron in a row, each with its residuals."""
    net = Builder()
    x = net.box(-1)
    while len(net.scopes) < boxes:
        block = net.scope()
        attention, perceptron = net.scope(block), net.scope(block)
        y = net.box(block, x)
        heads = []
        for _ in range(3):
            projected = net.box(attention, y)
            viewed = net.box(attention, projected)
            heads.append(net.box(attention, viewed))
        z = net.box(attention, net.box(attention, *heads))
        x = net.box(block, z, x)
        y = net.box(block, x)
        gate, up = net.box(perceptron, y), net.box(perceptron, y)
        y = net.box(perceptron, net.box(perceptron, net.box(perceptron, gate), up))
        x = net.box(block, y, x)
    return net.diagram()


def dense(boxes: int) -> Diagram:
    """Return blocks of sixteen layers each of which reads all layers before it."""
    net = Builder()
    x = net.box(-1)
    while len(net.scopes) < boxes:
        block = net.scope()
        seen = [x]
        for _ in range(16):
            layer = net.scope(block)
            y = net.box(layer, *seen)
            for _ in range(4):
                y = net.box(layer, y)
            seen.append(y)
        x = net.box(-1, net.box(-1, *seen))
    return net.diagram()


def dot_lines(diagram: Diagram) -> Iterator[str]:
    """Yield the diagram in the DOT language."""
    held: dict[int, list[str]] = {}
    for box, scope in enumerate(diagram.scopes):
        width, height = diagram.sizes[box]
        row = f"n{box} [shape=box fixedsize=true width={width / 72:.3f} height={height / 72:.3f}]"
        held.setdefault(scope, []).append(row)
    for scope in range(len(diagram.parents) - 1, -1, -1):
        body = [f"subgraph cluster_{scope} {{", *held.get(scope, []), "}"]
        held.setdefault(diagram.parents[scope], []).extend(body)
    yield "digraph {"
    yield from held.get(-1, [])
    yield from (f"n{wire.source} -> n{wire.target}" for wire in diagram.wires)
    yield "}"


def measured(diagram: Diagram, *, cached: bool) -> tuple[float, Placement]:
    """Return how much processor time the layout takes, and the layout."""
    start = time.process_time()
    placement = arrange(diagram, cached=cached)
    return time.process_time() - start, placement


def by_dot(diagram: Diagram) -> str:
    """Return how long `dot` takes, or why that is not known."""
    if shutil.which("dot") is None:
        return "not installed"
    if len(diagram.sizes) > DOT_MOST:
        return "left out"
    text = "\n".join(dot_lines(diagram)).encode()
    start = time.perf_counter()
    try:
        subprocess.run(["dot", "-Tplain"], input=text, capture_output=True, check=True, timeout=DOT_SECONDS)
    except subprocess.TimeoutExpired:
        return f"over {DOT_SECONDS}"
    return f"{time.perf_counter() - start:.2f}"


def main(counts: list[int]) -> None:
    """Print the figures, in seconds: processor time for the layout, wall time for `dot`."""
    print(f"{'':12} {'boxes':>7} {'wires':>7} {'cached':>7} {'without':>8} {'dot':>9}  crossings, size")
    for make in (transformer, dense):
        for count in counts:
            diagram = make(count)
            cached, placement = measured(diagram, cached=True)
            uncached, _ = measured(diagram, cached=False)
            size = f"{placement.size[0]:.0f} by {placement.size[1]:.0f}"
            print(
                f"{make.__name__:12} {len(diagram.sizes):7} {len(diagram.wires):7} {cached:7.2f} {uncached:8.2f}"
                f" {by_dot(diagram):>9}  {placement.crossings}, {size}"
            )


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]] or [1000, 10_000, 100_000])
