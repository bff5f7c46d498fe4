"""How passes and analyses grow with graphs of odd shapes: `python benchmarks/growth.py [nodes] [factor]`.

Processor time of each on a small and on a large graph, and their ratio per node: 1 is linear growth. Printed is what
takes more than a tenth of a second.
"""

from __future__ import annotations

import sys
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any

from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph


def odd(nodes: int, step: Callable[[_Odd, int], None]) -> Graph:
    """Return a graph of so many steps, each added by a function."""
    made = _Odd()
    for number in range(nodes):
        step(made, number)
    for position, value in enumerate(made.loose or [made.last]):
        made.builder.node("output", parent=0, inputs=[value], attrs=(("index", position),))
    return made.builder.build()


class _Odd:
    """A graph while it is made."""

    def __init__(self) -> None:
        self.builder = GraphBuilder("Odd", (("level", "function"),))
        self.inner = self.builder.scope("module", path="", cls="Odd")
        self.type = self.builder.tensor_type((2, 3), "float32")
        (self.last,) = self.builder.node("input", parent=0, name="x", results=[self.type])
        (self.weight,) = self.builder.node("param", parent=0, name="w", results=[self.type])
        self.loose: list[int] = []

    def op(self, op: str, scope: int, *more: int, attrs: Any = ()) -> None:
        inputs = [self.last, *more]
        (self.last,) = self.builder.node("op", op, parent=scope, inputs=inputs, results=[self.type], attrs=attrs)

    def call(self, path: str, parent: int = 0, number: int = 0) -> int:
        return self.builder.scope("module", path=path, cls="Block", parent=parent, call=number)

    def deeper(self, number: int) -> None:
        """Add a call inside the last one, with a parameter of its own."""
        self.inner = self.call(f"m{number}", self.inner)
        (weight,) = self.builder.node("param", parent=self.inner, name=f"m{number}.w", results=[self.type])
        self.op("mul", self.inner, weight)

    def writes(self, number: int) -> None:
        """Add a write through a view of what was written before."""
        self.op("select", 0, attrs=(("index", number),))
        self.op("add_", 0)

    def branch(self, number: int) -> None:
        """Add a view, and a step that reads it and is returned."""
        self.op("view", 0)
        (value,) = self.builder.node("op", "exp", parent=0, inputs=[self.last], results=[self.type])
        self.loose.append(value)


GRAPHS: dict[str, Callable[[_Odd, int], None]] = {
    "chain": lambda made, number: made.op(("relu", "exp", "neg")[number % 3], 0),
    "siblings": lambda made, number: made.op("relu", made.call(f"layers.{number}")),
    "no two alike": lambda made, number: made.op("relu", made.call(f"m.{number}"), attrs=(("k", number),)),
    "calls of one": lambda made, number: made.op("mul", made.call("m", 0, number), made.weight),
    "no period": lambda made, number: made.op("ab"[number.bit_count() % 2], 0),
    "writes": _Odd.writes,
    "branches": _Odd.branch,
    "nested": lambda made, number: made.deeper(number),
}
"""What is added again and again."""

OTHERS = {"relu": "gelu", "view": "t", "mul": "add"}
"""Other operators."""

WORK: dict[str, Callable[[Graph], object]] = {
    "collapse": lambda graph: graph.collapse(depth=1),
    "fold": lambda graph: graph.fold(),
    "roll": lambda graph: graph.roll(),
    "hide": lambda graph: graph.hide("is:view or op:relu", missing_ok=True),
    "focus": lambda graph: graph.focus("kind:input", steps=None, direction="down"),
    "prune": lambda graph: graph.prune(),
    "tensors": lambda graph: graph.tensors("all"),
    "rename": lambda graph: graph.rename(lambda row: "n"),
    "stats": lambda graph: str(graph.stats()),
    "costs": lambda graph: graph.costs(),
    "memory": lambda graph: graph.memory(),
    "aliases": lambda graph: graph.aliases(),
    "critical_path": lambda graph: graph.critical_path(),
    "islands": lambda graph: graph.islands(),
    "repeats": lambda graph: graph.repeats(),
    "diff of other operators": lambda graph: graph.diff(graph.relabel(OTHERS, missing_ok=True)),
    "diff of a folded one": lambda graph: graph.diff(graph.fold()),
    "text": str,
}


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of one run."""
    start = process_time()
    work()
    return process_time() - start


def main(nodes: int, factor: int) -> None:
    """Print the growth of each, from a graph of so many nodes to one of so many times as many."""
    for title, step in GRAPHS.items():
        few = nodes // 10 if title == "nested" else nodes
        small, large = odd(few, step), odd(few * factor, step)
        for name, work in WORK.items():
            one, other = seconds(partial(work, small)), seconds(partial(work, large))
            if other > 0.1:
                print(
                    f"{title:14} {name:24} {other / few / factor * 1e6:8.1f} µs a node, {other / one / factor:6.2f} x"
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_000, int(sys.argv[2]) if len(sys.argv) > 2 else 4)
