"""One order in which the steps of several ranks can run: none before what it reads, each rank's in their own order."""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from trec.analysis.agreement import Check, Part
from trec.errors import MergeError
from trec.ir.collectives import collective_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trec.ir.collectives import Collective
    from trec.ir.graph import Graph

End = tuple[int, int]
"""A rank, and the index of a node in its graph."""


class Joint(NamedTuple):
    """A communication that several ranks take part in, or equal ones of equal ranks."""

    ends: tuple[End, ...]
    """What each rank does, in the order of the group."""
    says: Collective
    """What the first of them says of it."""
    groups: list[tuple[int, ...]]
    """The ranks of each communication that it stands for."""


Step = End | Joint
"""One step of the joint program."""


def joint_order(graphs: Mapping[int, Graph], joints: Sequence[Joint]) -> list[Step]:
    """Return the steps of all ranks in one order.

    A communication happens some time after it was begun, and before its result is read; until then its rank goes on, if
    it does not block.

    Args:
        graphs: the program of each rank.
        joints: the communications.

    Raises:
        MergeError: there is no such order, because ranks wait for one another.

    Source: Kahn, Topological sorting of large networks, 1962; of what can run, the step that comes first in its rank.
    """
    order = _Order(graphs, joints)
    found = order.sorted()
    if len(found) < len(order.steps):
        raise MergeError(order.deadlock())
    return found


class _Order:
    def __init__(self, graphs: Mapping[int, Graph], joints: Sequence[Joint]) -> None:
        self.graphs = graphs
        self.steps: list[Step] = list(joints)
        self.number: dict[End, int] = {end: at for at, joint in enumerate(joints) for end in joint.ends}
        self.joints = len(joints)
        for rank, graph in graphs.items():
            for index in range(len(graph.nodes)):
                if (rank, index) not in self.number:
                    self.number[rank, index] = len(self.steps)
                    self.steps.append((rank, index))
        self.before: list[set[int]] = [set() for _ in self.steps]
        for rank, graph in graphs.items():
            self._add_rank(rank, graph)

    def _add_rank(self, rank: int, graph: Graph) -> None:
        last = -1
        for index, node in enumerate(graph.nodes):
            step = self.number[rank, index]
            before = self.before[step]
            before.update([self.number[rank, graph.producers[value]] for value in node.inputs])
            if last >= 0:
                before.add(last)
            says = collective_of(graph, node)
            if says is None or says.blocking:
                last = step

    def sorted(self) -> list[Step]:
        """Return the steps that can run, in order."""
        after: list[list[int]] = [[] for _ in self.steps]
        missing = [len(before) for before in self.before]
        for step, before in enumerate(self.before):
            for other in before:
                after[other].append(step)
        ready = [self._key(step) for step, count in enumerate(missing) if not count]
        heapify(ready)
        found = []
        while ready:
            step = heappop(ready)[-1]
            found.append(self.steps[step])
            missing[step] = -1
            for other in after[step]:
                missing[other] -= 1
                if not missing[other]:
                    heappush(ready, self._key(other))
        self.missing = missing
        return found

    def _key(self, step: int) -> tuple[int, int, int]:
        """Return what orders steps that can run: how far they are in their rank's program, then the rank."""
        rank, index = self.steps[step].ends[0] if step < self.joints else self.steps[step]  # type: ignore[union-attr,misc]
        return index, rank, step

    def deadlock(self) -> str:
        """Return in words which communications wait for one another."""
        step = next(step for step, count in enumerate(self.missing) if count > 0)
        way: dict[int, None] = {}
        while step not in way:
            way[step] = None
            step = min(other for other in self.before[step] if self.missing[other] > 0)
        circle = list(way)[list(way).index(step) :]
        check = Check(self.graphs)
        told = []
        for rank, index in [end for at in circle if at < self.joints for end in self.steps[at].ends]:  # type: ignore[union-attr]
            says = collective_of(self.graphs[rank], self.graphs[rank].nodes[index])
            if says is not None:
                told.append(check.tell(Part(rank, index, says)))
        return f"a deadlock, each waits for the one after it: {'; '.join(told)}; and so on"
