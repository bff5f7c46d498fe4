"""How long tensors live, and how much memory they take at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from trec.analysis.paths import is_step
from trec.analysis.sizes import size_bytes
from trec.analysis.statements import Statements
from trec.analysis.storage import storages
from trec.analysis.table import bytes_text, lines, plain
from trec.analysis.unfolded import unfolded
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from typing import Any

    from trec.analysis.unfolded import Unfolded
    from trec.ir.graph import Graph

_SHOWN = 10


class Live(Struct, frozen=True):
    """How long one piece of memory is needed."""

    name: str
    """Name of the value that has it first; of what a node needs only while it runs, the name of the node."""
    bytes: int
    """Bytes that it takes; 0 where a size is not known."""
    first: int
    """Index into `Graph.nodes` of the step that makes it."""
    last: int
    """Index into `Graph.nodes` of the last step that reads it, or a view of it, or was given it by a call around.

    In a loop that may come before `first`, in a later iteration.
    """


class Memory(Struct, frozen=True):
    """The memory that the results of steps take while the program runs in its order."""

    peak: int
    """The most bytes that are live at once."""
    node: str
    """Name of the node at which that is; empty if no step makes anything."""
    live: tuple[Live, ...]
    """What is live at that node, the largest first."""
    ranges: tuple[Live, ...]
    """All pieces of memory, in the order in which they are made."""
    partial: tuple[str, ...] = ()
    """Names of calls that stand for several, of which one counts; see `memory`."""
    is_measured: bool = False
    """Whether this was measured while the program was recorded; else it is inferred from the graph."""

    def rows(self) -> list[dict[str, Any]]:
        """Return the pieces of memory as plain rows."""
        return plain(self.ranges)

    def __str__(self) -> str:
        how = "measured" if self.is_measured else "inferred"
        head = f"peak {bytes_text(self.peak)} ({how}) at {self.node or 'no node'}, in {len(self.live)} tensors"
        if self.partial:
            head = f"{head}; of what {', '.join(self.partial)} stand for, one run counts"
        rows = [(live.name, bytes_text(live.bytes), live.first, live.last) for live in self.live[:_SHOWN]]
        return "\n".join([head, *lines(("largest", "bytes", "from", "to"), rows)])


def memory(graph: Graph) -> Memory:
    """Return how long each tensor is needed, and the peak of the memory that they take at once.

    What steps make counts, from the step that makes it to the last that reads it or a view of it. What comes from
    outside (inputs, parameters, buffers, constants) does not count; results of the model live to the end. Tensors
    inside a collapsed node are not seen: the finer the graph, the better the figure.

    Of what was folded every iteration counts, as before, under the name of the one that stays. That takes the graph
    that was folded, which is not at hand after the result has been saved and loaded, or joined from several ranks. Then
    one iteration counts, the real peak may be several times higher, and `partial` names the calls that it is so for.

    Of a graph that was recorded it is measured: known is when memory was given back, and where autograd kept it, when
    the program let it go, so that the peak is the one under `torch.no_grad()`. If the backward pass was recorded, or
    the model runs one itself, what autograd keeps counts. What single operators and functions needed while they ran
    counts as well.

    None of this is kept in files. Of a graph from a file, and of the phases of a step, the peak is inferred, without
    what autograd keeps: Python keeps what a module is given until its call returns, and what a variable holds until the
    statement that reads it last has ended, as far as lines of the source code tell. A variable that keeps a tensor even
    longer makes the real peak higher, and so does what an operator needs while it runs.

    Args:
        graph: what to look at; best as it was recorded.

    Cost: linear, and sorting what is live at the peak.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((4,), "float32")
        >>> value = builder.node("op", "rand", parent=root, results=[type_])
        >>> value = builder.node("op", "exp", parent=root, inputs=value, results=[type_])
        >>> found = memory(builder.build())
        >>> found.peak, found.node
        (32, 'exp')
    """
    whole = unfolded(graph)
    if whole is None:
        return _memory(graph, tuple([scope.name for scope in graph.scopes if scope.repeats]))
    return _standing(graph, whole, _memory(whole.graph))


def _memory(graph: Graph, partial: tuple[str, ...] = ()) -> Memory:
    ranges = _ranges(graph)
    change = [0] * (len(graph.nodes) + 1)
    for live in ranges:
        change[live.first] += live.bytes
        change[live.last + 1] -= live.bytes
    size = peak = 0
    at = -1
    for index in range(len(graph.nodes)):
        size += change[index]
        if size > peak:
            peak, at = size, index
    if at < 0:
        return Memory(0, "", (), tuple(ranges), partial, bool(graph.lifetimes))
    found = [live for live in ranges if live.first <= at <= live.last]
    found.sort(key=lambda live: (-live.bytes, live.first))
    return Memory(peak, graph.nodes[at].name, tuple(found), tuple(ranges), partial, bool(graph.lifetimes))


def _standing(graph: Graph, whole: Unfolded, found: Memory) -> Memory:
    """Return what was found of all iterations, told of those that stand for them."""
    rows = []
    for live in found.ranges:
        first, last = whole.standing[live.first], whole.standing[live.last]
        ports = whole.graph.nodes[live.first].outputs
        port = next((at for at, value in enumerate(ports) if whole.graph.values[value].name == live.name), 0)
        made = graph.nodes[first].outputs
        # What a collapsed node yields differs where only one of the iterations hands it out.
        name = graph.values[made[port]].name if made and len(made) == len(ports) else graph.nodes[first].name
        rows.append(Live(name, live.bytes, first, last))
    told = dict(zip(found.ranges, rows, strict=True))
    node = graph.nodes[whole.standing[whole.graph.index_of[found.node]]].name if found.node else ""
    return Memory(found.peak, node, tuple([told[live] for live in found.live]), tuple(rows), (), found.is_measured)


def _ranges(graph: Graph) -> list[Live]:
    return _measured(graph) if graph.lifetimes else _inferred(graph)


def _measured(graph: Graph) -> list[Live]:
    """Return the pieces of memory as they were in the run that was recorded.

    Where it is not known exactly when one was let go, it is taken to be held until it is read last.
    """
    nodes, users, index_of = graph.nodes, graph.users, graph.index_of
    values = {value.name: index for index, value in enumerate(graph.values)}
    end = len(nodes) - 1
    found = []
    for row in graph.lifetimes:
        name = row.values[0] if row.values else row.maker
        first = graph.producers[values[name]] if row.values else index_of[name]
        if nodes[first].kind in SOURCE_KINDS:
            continue
        last = index_of.get(row.node, end)
        if row.held:
            read = max([user for value in row.values for user in users[values[value]]], default=first)
            last = end if nodes[read].kind == "output" else max(index_of[row.held], read)
        found.append(Live(name, row.bytes, first, max(first, last)))
    return found


def _inferred(graph: Graph) -> list[Live]:
    """Return the pieces of memory as the graph and lines of the source code tell."""
    storage, producers, nodes = storages(graph), graph.producers, graph.nodes
    sizes = [size_bytes(type_) for type_ in graph.types]
    ends = _ends(graph)
    statements = Statements(graph)
    last: dict[int, int] = {}
    for value, first in enumerate(storage):
        maker = producers[value]
        end = maker
        for user in graph.users[value]:
            if nodes[user].kind == "output":
                end = len(nodes) - 1
            else:
                held = _held(graph, nodes[user].parent, nodes[maker].parent, ends)
                end = max(end, user, held, statements.end(maker, user))
        last[first] = max(last.get(first, 0), end)
    return [
        Live(graph.values[first].name, sizes[graph.values[first].type], producers[first], end)
        for first, end in last.items()
        if nodes[producers[first]].kind not in SOURCE_KINDS
    ]


def _ends(graph: Graph) -> list[int]:
    """Return for each scope the index of the last step in it."""
    ends = [-1] * len(graph.scopes)
    for index, node in enumerate(graph.nodes):
        if is_step(node.kind):
            ends[node.parent] = index
    for index in range(len(graph.scopes) - 1, 0, -1):
        parent = graph.scopes[index].parent
        ends[parent] = max(ends[parent], ends[index])
    return ends


def _held(graph: Graph, reader: int, maker: int, ends: list[int]) -> int:
    """Return the end of the outermost module call that a value is given to, between the scopes of reader and maker."""
    scopes = graph.scopes
    end = -1
    while reader != maker:
        if reader > maker:
            if scopes[reader].kind == "module":
                end = ends[reader]
            reader = scopes[reader].parent
        else:
            maker = scopes[maker].parent
    return end
