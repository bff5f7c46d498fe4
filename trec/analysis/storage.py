"""Which values share memory, and what is written in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.groups import CASTS, GROUPS, IDENTITIES, OVERWRITERS, VIEWS, is_in_place, short_op
from trec.analysis.table import plain

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from trec.ir.graph import Graph
    from trec.ir.types import Node

_SAME_MEMORY = IDENTITIES - {"clone"} | {"data"}
_STATE = frozenset({"input", "param", "buffer", "constant"})


class Write(Struct, frozen=True):
    """One write in place."""

    node: str
    """Name of the node that writes."""
    into: str
    """Name of the value that first had this memory."""
    kind: str
    """`input`, `param`, `buffer` or `constant` if that value came from outside, else `result`; `unread` if
    nothing tells whose memory it was, since what stood there is not read: `into` is then what was written."""
    seen_by: tuple[str, ...]
    """Names of other values in the same memory that are read afterwards, as they were before the write."""

    @property
    def is_hazard(self) -> bool:
        """Whether the write changes what the caller gave or the model keeps, or what is read again."""
        return self.kind not in ("result", "unread") or bool(self.seen_by)


class Aliases(Struct, frozen=True):
    """What shares memory in a graph, as far as names of operators tell."""

    storages: tuple[tuple[str, ...], ...]
    """Names of values that share memory, two or more each, in the order in which they are made."""
    writes: tuple[Write, ...]
    """Writes in place, in program order."""

    @property
    def hazards(self) -> tuple[Write, ...]:
        """The writes that change more than a result that nobody else looks at."""
        return tuple([write for write in self.writes if write.is_hazard])

    def rows(self) -> list[dict[str, Any]]:
        """Return the writes as plain rows."""
        return plain(self.writes)


def aliases(graph: Graph) -> Aliases:
    """Return which values share memory, and what is written in place.

    Memory is followed through views, writes and links, by the names of operators; `reshape` and `contiguous` are taken
    for views, dropout that is switched off for what returns its input. Collapsed nodes hide what happens inside them.
    """
    storage = storages(graph)
    groups: dict[int, list[int]] = {}
    for value, first in enumerate(storage):
        groups.setdefault(first, []).append(value)
    writes = []
    for index, node in enumerate(graph.nodes):
        if node.kind == "op" and is_in_place(node.op) and (node.inputs or node.outputs):
            first = _written(graph, node, storage)
            maker = graph.nodes[graph.producers[first]]
            seen = [
                graph.values[value].name
                for value in groups[first]
                if graph.producers[value] < index and any(user > index for user in graph.users[value])
            ]
            kind = maker.kind if maker.kind in _STATE else "unread" if maker is node else "result"
            writes.append(Write(node.name, graph.values[first].name, kind, tuple(seen)))
    shared = [tuple([graph.values[value].name for value in group]) for group in groups.values() if len(group) > 1]
    return Aliases(tuple(shared), tuple(writes))


def _written(graph: Graph, node: Node, storage: Sequence[int]) -> int:
    """Return the first value that had the memory that a node writes; its result, if the graph has no earlier one."""
    if short_op(node.op) not in OVERWRITERS or not node.outputs:
        return storage[node.inputs[0]] if node.inputs else node.outputs[0]
    made = node.outputs[0]
    for user in graph.users[made]:  # what was written in part is put together with the rest
        reader = graph.nodes[user]
        if (reader.kind, reader.op) == ("link", "update") and made in reader.inputs[1:]:
            return storage[reader.inputs[0]]
    return made


def storages(graph: Graph) -> list[int]:
    """Return for each value the first value that had its memory."""
    storage = list(range(len(graph.values)))
    for node in graph.nodes:
        if node.inputs and _shares(graph, node):
            first = storage[node.inputs[0]]
            for value in node.outputs:
                storage[value] = first
    return storage


def _shares(graph: Graph, node: Node) -> bool:
    """Return whether what a node yields lies in the memory of what it reads first."""
    if node.kind == "link":
        return True
    if node.kind != "op":
        return False
    name = short_op(node.op)
    if is_in_place(node.op):
        return name not in OVERWRITERS  # those read something else than what they write
    if name == "__getitem__" and len(node.inputs) > 1:  # indexed by a tensor
        return False
    if name in CASTS:
        return _same_type(graph, node)
    return name in VIEWS or name in _SAME_MEMORY or GROUPS["dropout"](graph, node)


def _same_type(graph: Graph, node: Node) -> bool:
    """Return whether a cast had nothing to do."""
    return (
        graph.values[node.inputs[0]].type == graph.values[node.outputs[0]].type and node.op != "aten._to_copy.default"
    )
