"""What ranks communicate: how often and how much, by module, operation and group."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from msgspec import Struct
from msgspec.structs import replace

from trec.analysis.table import bytes_text, lines, plain
from trec.ir.collectives import RANK, RECV, SEND, collective_of
from trec.ir.types import Phase

if TYPE_CHECKING:
    from typing import Any

    from trec.ir.collectives import Collective
    from trec.ir.graph import Graph
    from trec.ir.types import Node

Groups = tuple[tuple[int, ...], ...]
"""The ranks of each group; of a send or receive the sender, then the receiver."""


class Traffic(Struct, frozen=True):
    """Communications of one kind in one module."""

    module: str
    """Path of the module that they are begun in, empty for the root and for what no module runs."""
    phase: Phase
    """The part of a step of training that they belong to."""
    operation: str
    """What they do, as in `trec.ir.collectives.COLLECTIVES`."""
    reduction: str
    """How numbers become one; empty where they do not."""
    groups: Groups
    """Who takes part."""
    count: int
    """How many there are."""
    bytes: int
    """Bytes that they communicate; see `trec.ir.collectives.Collective.bytes`."""


class Communication(Struct, frozen=True):
    """What a graph says of communication; of the graph of one rank, what that rank takes part in."""

    traffic: tuple[Traffic, ...]
    """By module, phase, operation, reduction and groups, in order of appearance."""

    @property
    def operations(self) -> tuple[Traffic, ...]:
        """The sums over all modules and phases."""
        return _summed([replace(row, module="", phase="forward") for row in self.traffic])

    @property
    def count(self) -> int:
        """How many communications there are."""
        return sum([row.count for row in self.traffic])

    @property
    def bytes(self) -> int:
        """Bytes of all of them."""
        return sum([row.bytes for row in self.traffic])

    def rows(self) -> list[dict[str, Any]]:
        """Return what is communicated, by module, as plain rows."""
        return plain(self.traffic)

    def __str__(self) -> str:
        head = f"{self.count:,} communications of {bytes_text(self.bytes)}"
        rows = [(row.module, row.phase, *_cells(row)) for row in self.traffic]
        total = [("all", "", *_cells(row)) for row in self.operations]
        heads = ("module", "phase", "operation", "groups", "count", "bytes")
        return "\n".join([head, *lines(heads, [*rows, *total])] if rows else [head])


def communication(graph: Graph) -> Communication:
    """Return how often and how much ranks communicate, by module, phase, operation and group.

    What is inside collapsed calls is not counted. Bytes are those of the tensors, however a backend moves them: an
    `all_gather` of four parts of 1 kB counts 4 kB, once for all of its ranks.

    Args:
        graph: of one rank, or of all (`trec.merge`).

    Cost: linear.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> from trec.ir.collectives import Collective
        >>> builder = GraphBuilder("Net")
        >>> root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((4,), "float32")
        >>> value = builder.node("input", parent=root, name="x", results=[type_])
        >>> row = Collective("all_reduce", (0, 1), "0", 0, 16, "sum").row()
        >>> _ = builder.node("op", "all_reduce", parent=root, inputs=value, results=[type_], attrs=row)
        >>> print(communication(builder.build()))
        1 communications of 16 B
        module    phase         operation  groups  count  bytes
                forward  all_reduce (sum)    0, 1      1     16
        all              all_reduce (sum)    0, 1      1     16
    """
    rank = dict(graph.meta).get(RANK)
    found = []
    for node in graph.nodes:
        says = collective_of(graph, node)
        if says is not None:
            found.append(_traffic(graph, node, says, rank if isinstance(rank, int) else -1))
    return Communication(_summed(found))


def _traffic(graph: Graph, node: Node, says: Collective, rank: int) -> Traffic:
    attrs = graph.attrs_of(node)
    groups = cast("Groups | None", attrs.get("groups"))
    times = graph.counts[node.parent]
    if groups is None:
        ends = {SEND: (rank, says.peer), RECV: (says.peer, rank)}
        groups = (ends.get(says.collective, says.group),)
    else:
        times = times // _lane_count(graph, node.parent) * len(groups)
    module = graph.scopes[node.parent].path
    return Traffic(module, graph.phase_of(node), says.collective, says.reduction, groups, times, times * says.bytes)


def _lane_count(graph: Graph, scope: int) -> int:
    """Return how many ranks the part of a merged graph stands for that a scope lies in."""
    while scope > 0 and graph.scopes[scope].parent > 0:
        scope = graph.scopes[scope].parent
    return graph.counts[scope]


def _summed(found: list[Traffic]) -> tuple[Traffic, ...]:
    sums: dict[tuple[str, Phase, str, str, Groups], list[int]] = {}
    for row in found:
        total = sums.setdefault((row.module, row.phase, row.operation, row.reduction, row.groups), [0, 0])
        total[0] += row.count
        total[1] += row.bytes
    return tuple([Traffic(*key, *total) for key, total in sums.items()])


def _cells(row: Traffic) -> tuple[str, str, int, int]:
    operation = f"{row.operation} ({row.reduction})" if row.reduction else row.operation
    between = " > " if row.operation in (SEND, RECV) else ", "
    groups = " | ".join([between.join(map(str, group)) for group in row.groups])
    if len(groups) > _WIDEST:
        sizes = sorted({len(group) for group in row.groups})
        groups = f"{len(row.groups)} of {'/'.join(map(str, sizes))}"
    return operation, groups, row.count, row.bytes


_WIDEST = 32
"""Characters of groups that a table shows one by one."""
