"""The way through a folded program, iteration by iteration."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from msgspec import Struct

from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trec.ir.graph import Graph

    Stage = tuple[int, int, "Stage | None"]
    """The weight of the heaviest way to a step, the index of its node, and the stage before it."""

_MOST = 10_000_000


def reached(graph: Graph, weights: Sequence[int]) -> list[Stage]:
    """Return for each node the heaviest way to it, in the last iteration of the loops around it.

    Who reads a result outside of the loop is taken to read that of the last iteration.

    Args:
        graph: the program.
        weights: what each node adds to a way through it.

    Raises:
        OptionError: folded calls stand for more than 10,000,000 steps.

    Cost: linear in the steps that ran.
    """
    ran = sum([graph.counts[node.parent if node.scope < 0 else node.scope] for node in graph.nodes])
    if ran > _MOST:
        raise OptionError(f"the graph stands for {ran:,} steps, expected at most {_MOST:,}; focus on a part of it")
    walk = _Walk(graph, weights)
    walk.run(_items(graph))
    return walk.found


class _Loop(Struct):
    """Steps that run several times, one after the other."""

    scope: int
    """Index into `Graph.scopes` of the scope that stands for the iterations."""
    items: list[_Loop | int] = []
    """Nodes and inner loops, in program order."""


def _items(graph: Graph) -> list[_Loop | int]:
    """Return the program with its loops."""
    around: list[tuple[int, ...]] = []
    for index, scope in enumerate(graph.scopes):
        outer = around[scope.parent] if scope.parent >= 0 else ()
        around.append((*outer, index) if scope.repeats else outer)
    whole = _Loop(-1)
    open_ = [whole]
    for index, node in enumerate(graph.nodes):
        loops = around[node.parent if node.scope < 0 else node.scope]
        same = 0
        while same < min(len(loops), len(open_) - 1) and open_[same + 1].scope == loops[same]:
            same += 1
        del open_[same + 1 :]
        for scope_ in loops[same:]:
            open_.append(_Loop(scope_))
            open_[-2].items.append(open_[-1])
        open_[-1].items.append(index)
    return whole.items


class _Walk:
    """A run through the program; of every node the last stage is known."""

    def __init__(self, graph: Graph, weights: Sequence[int]) -> None:
        self.graph, self.weights = graph, weights
        self.found: list[Stage] = [(0, index, None) for index in range(len(graph.nodes))]
        self.carried: dict[int, dict[int, list[tuple[int, int]]]] = {}
        """For each node and each loop: ports, and the nodes whose results of the iteration before are read there."""
        self.makers: dict[int, set[int]] = {}
        """For each loop, the nodes whose results it carries."""
        self.handed: dict[int, dict[int, Stage]] = {}
        """For each loop that is not in its first iteration, what the one before it made of these."""
        for edge in graph.carried:
            maker = graph.producers[edge.value]
            self.carried.setdefault(edge.node, {}).setdefault(edge.loop, []).append((edge.port, maker))
            self.makers.setdefault(edge.loop, set()).add(maker)

    def run(self, items: Iterable[_Loop | int]) -> None:
        """Run steps and loops in order."""
        for item in items:
            if isinstance(item, int):
                before = max(self.before(item), key=itemgetter(0), default=None)
                weight = self.weights[item]
                self.found[item] = (weight + (before[0] if before else 0), item, before)
                continue
            makers = self.makers.get(item.scope, ())
            for _ in range(1 + len(self.graph.scopes[item.scope].repeats)):
                self.run(item.items)
                self.handed[item.scope] = {maker: self.found[maker] for maker in makers}
            del self.handed[item.scope]

    def before(self, index: int) -> list[Stage]:
        """Return the stages that a step follows: what it reads now, or got from the iteration before."""
        graph = self.graph
        read = {port: [self.found[graph.producers[value]]] for port, value in enumerate(graph.nodes[index].inputs)}
        for loop, edges in sorted(self.carried.get(index, {}).items()):  # an inner loop comes after the one around it
            if loop in self.handed:
                read |= {port: [] for port, _ in edges if port >= 0}
                for port, maker in edges:
                    read.setdefault(port, []).append(self.handed[loop][maker])
        return [stage for stages in read.values() for stage in stages]
