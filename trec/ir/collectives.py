"""What nodes that communicate between ranks say of it: one set of attributes, read and written here only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, ValidationError, convert

if TYPE_CHECKING:
    from trec.ir.builder import GraphBuilder
    from trec.ir.graph import Graph
    from trec.ir.types import AttrRow, Node

SEND, RECV, BARRIER = "send", "recv", "barrier"
"""Operations whose sides differ, or that move nothing."""

COLLECTIVES = (
    "all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "reduce", "gather", "scatter", BARRIER,
    SEND, RECV,
)  # fmt: skip
"""Every operation, by its name in MPI."""

RANK, WORLD_SIZE = "rank", "world_size"
"""In `Graph.meta`: the rank that a graph was recorded on, and how many ranks there were."""


class Collective(Struct, frozen=True):
    """One rank's part in a communication."""

    collective: str
    """One of `COLLECTIVES`."""
    group: tuple[int, ...]
    """The ranks that take part, in the order of the group, as the whole job numbers them."""
    group_name: str
    """What torch calls the group: the same on all of its ranks."""
    sequence: int
    """How many communications came before: of the group; of sends and of receives with that peer and that tag."""
    bytes: int
    """Bytes of all that is communicated, however the ranks go about it: of the tensor where all have the whole of it,
    of all parts together where each has one; of what this rank gives in an `all_to_all`."""
    reduction: str = ""
    """How numbers become one: `sum`, `avg`, `max`, ...; empty where they do not."""
    root: int = -1
    """The rank that has the whole, of those operations where one has; else -1."""
    peer: int = -1
    """The rank at the other end of a `send` or `recv`; -1 where any may send."""
    tag: int = -1
    """The tag of a `send` or `recv`."""
    blocking: bool = False
    """Whether the rank does nothing else until it is done; never known of a `send` or `recv`."""

    def row(self) -> AttrRow:
        """Return the attributes that a node has for it: fields that say nothing are left out."""
        defaults = (_MISSING,) * (len(_FIELDS) - len(_DEFAULTS)) + _DEFAULTS
        values = [getattr(self, name) for name in _FIELDS]
        told = zip(_FIELDS, values, defaults, strict=True)
        return tuple([(name, value) for name, value, default in told if value != default])


_FIELDS = Collective.__struct_fields__
_DEFAULTS = Collective.__struct_defaults__
_MISSING = object()


def collective_of(graph: Graph, node: Node) -> Collective | None:
    """Return what a node communicates; None if it does not, or if its attributes only have the names of such facts."""
    attrs = graph.attrs[node.attrs]
    if node.kind != "op" or not attrs or attrs[0][0] != _FIELDS[0] or attrs[0][1] not in COLLECTIVES:
        return None
    row: dict[str, Any] = dict(attrs)
    try:
        return convert({name: row[name] for name in _FIELDS if name in row}, Collective)
    except ValidationError:
        return None


def is_rank(graph: Graph | GraphBuilder, scope: int) -> bool:
    """Return whether a scope is the part of one rank in a graph of all ranks."""
    row = graph.scopes[scope]
    return row.kind == "region" and row.parent == 0 and any(name == RANK for name, _ in graph.attrs[row.attrs])
