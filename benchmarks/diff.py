"""Processor seconds to diff large graphs: `python benchmarks/diff.py [nodes]`.

One graph is made of blocks of ten operators; the other has one operator exchanged, a block more, one operator of each
block exchanged, or all blocks under other names. Beside it, what `difflib` takes for the lines of the text forms.
"""

from __future__ import annotations

import difflib
import sys
from functools import partial
from time import process_time
from typing import TYPE_CHECKING

from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

OPS = ("linear", "relu", "mul", "exp", "norm", "linear", "gelu", "matmul", "softmax", "add")


def model(blocks: int, op: Callable[[int, int], str] = lambda _, at: OPS[at], prefix: str = "layers") -> Graph:
    """Return blocks of ten operators in a row; `op` names the operator of a block at a position."""
    builder = GraphBuilder("Model", (("level", "function"),))
    builder.scope("module", path="", cls="Model")
    type_ = builder.tensor_type((8, 64), "float32")
    (x,) = builder.node("input", parent=0, name="x", results=[type_], attrs=(("index", 0),))
    for number in range(blocks):
        block = builder.scope("module", path=f"{prefix}.{number}", cls="Block", parent=0)
        before = x
        for at in range(len(OPS)):
            inputs = [x, before] if at == len(OPS) - 1 else [x]
            (x,) = builder.node("op", op(number, at), parent=block, inputs=inputs, results=[type_])
    builder.node("output", parent=0, inputs=[x], attrs=(("index", 0),))
    return builder.build()


def exchanged(place: int, block: int, at: int) -> str:
    """Return the operator of a block at a position, where the one at a place of the program is another."""
    return "tanh" if block * len(OPS) + at == place else OPS[at]


def seconds(work: Callable[[], object]) -> tuple[float, object]:
    """Return the processor time of one run and its result."""
    start = process_time()
    result = work()
    return process_time() - start, result


def by_lines(before: Graph, after: Graph) -> list[str]:
    """Return the changed lines of the text forms."""
    rows = difflib.unified_diff(str(before).splitlines(), str(after).splitlines(), n=0, lineterm="")
    return list(rows)


def main(nodes: int) -> None:
    """Print the figures for graphs of so many nodes, and of a tenth."""
    for count in (nodes // 10, nodes):
        blocks = count // len(OPS)
        graph = model(blocks)
        others = {
            "the same": model(blocks),
            "one operator": model(blocks, partial(exchanged, count // 20)),
            "a block more": model(blocks + 1),
            "a tenth": model(blocks, lambda number, at: "tanh" if at == number % 10 else OPS[at]),
            "other names": model(blocks, prefix="blocks"),
        }
        print(f"{len(graph.nodes):,} nodes")
        for label, other in others.items():
            time, found = seconds(partial(graph.diff, other))
            print(f"  {label:14} {time:7.2f} s {time / count * 1e6:6.1f} µs a node, {len(found.edits):,} edits")  # type: ignore[attr-defined]
    few = nodes // 10
    graph, other = model(few // len(OPS)), model(few // len(OPS), lambda _, at: "tanh" if at == 3 else OPS[at])
    (own, _), (lines, _) = seconds(partial(graph.diff, other)), seconds(partial(by_lines, graph, other))
    print(f"{few:,} nodes, a tenth exchanged: {own:.2f} s, difflib over lines {lines:.2f} s, {lines / own:.1f} times")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
