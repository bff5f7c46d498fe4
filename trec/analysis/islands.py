"""Parts of a graph that compute in one element type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.paths import is_step
from trec.analysis.table import lines, plain
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from typing import Any

    from trec.ir.graph import Graph


class Island(Struct, frozen=True):
    """Steps that yield one element type and are joined by what flows between them."""

    dtype: str
    """Element type of what they yield."""
    steps: int
    """How many they are."""
    first: str
    """Name of the first in program order."""
    last: str
    """Name of the last in program order."""


class Islands(Struct, frozen=True):
    """The islands of a graph, in program order."""

    islands: tuple[Island, ...]
    """Each of them."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the islands as plain rows."""
        return plain(self.islands)

    def __str__(self) -> str:
        rows = [(island.dtype, island.steps, island.first, island.last) for island in self.islands]
        return "\n".join(lines(("dtype", "steps", "first", "last"), rows))


def islands(graph: Graph) -> Islands:
    """Return the parts of a graph that compute in one element type, such as where a model leaves half precision."""
    parent = list(range(len(graph.nodes)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    dtypes = [graph.types[graph.values[node.outputs[0]].type].dtype if node.outputs else "" for node in graph.nodes]
    joins = [bool(dtypes[index]) and node.kind not in SOURCE_KINDS for index, node in enumerate(graph.nodes)]
    for index, node in enumerate(graph.nodes):
        for maker in {graph.producers[value] for value in node.inputs} if joins[index] else ():
            if joins[maker] and dtypes[maker] == dtypes[index]:
                one, other = root(maker), root(index)
                parent[max(one, other)] = min(one, other)
    members: dict[int, list[int]] = {}
    for index, node in enumerate(graph.nodes):
        if joins[index] and is_step(node.kind):
            members.setdefault(root(index), []).append(index)
    names = [node.name for node in graph.nodes]
    return Islands(
        tuple([Island(dtypes[all_[0]], len(all_), names[all_[0]], names[all_[-1]]) for all_ in members.values()])
    )
