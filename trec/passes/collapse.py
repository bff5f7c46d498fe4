"""Turn calls of modules into single nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.costs import are_counted, flops_of_rows
from trec.analysis.selectors import calls
from trec.analysis.sizes import elements, size_bytes
from trec.errors import OptionError
from trec.ir.collector import paused
from trec.ir.rewrite import with_nodes
from trec.ir.types import FLOPS, AttrRow, Node
from trec.passes.grouping import Segment, moved_out, segment_names
from trec.passes.runs import runs

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trec.ir.graph import Graph


def collapse(
    graph: Graph, *, depth: int | None = None, only: str | Iterable[str] = (), keep: str | Iterable[str] = ()
) -> Graph:
    """Return the graph with calls of modules as single nodes.

    A call at a depth below `depth` stays open. Of the rest the outermost become nodes, and what is inside them is no
    longer seen: with neither `only` nor `keep` these are the calls at exactly `depth`. A collapsed node knows how many
    operators it holds (`ops`) and how many distinct elements and bytes of parameters they read (`params`,
    `param_bytes`; unknown sizes count as nothing), and the sum of their floating point operations (`flops`) if they
    were counted. Parameters, buffers and constants that nothing else reads are
    inside it; inputs and outputs of the graph never are.

    Args:
        graph: what to rewrite.
        depth: levels of modules to keep open; 0 makes the whole model one node. Needed if `only` is not given.
        only: path globs (`layers.*.attn`) or class names; no other calls become nodes.
        keep: path globs or class names of calls that stay open, and so does everything around them.

    Ensures:
        A path leads from one remaining node to another exactly if one did before, but for those through a collapsed
        node, which joins all it reads with all it yields. A call during which foreign steps ran gives several nodes,
        so no order changes and no cycle arises. `collapse(a)` then `collapse(b)` is `collapse(min(a, b))`.

    Raises:
        OptionError: the depth is no natural number, neither `depth` nor `only` is given, or a pattern matches nothing.

    Example:
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> root = builder.scope("module", path="", cls="Net")
        >>> act = builder.scope("module", path="act", cls="ReLU", parent=root)
        >>> _ = builder.node("op", "relu", parent=act)
        >>> print(collapse(builder.build(), depth=1))
        graph Net: 1 node, 0 values, 2 scopes
          module ReLU(ops=1, params=0, param_bytes=0)  # act
    """
    if depth is not None and (type(depth) is not int or depth < 0):
        raise OptionError(f"depth must be a natural number (0 collapses the whole model), not {depth!r}")
    chosen = calls(graph, only, option="only")
    if depth is None and not chosen:
        raise OptionError("collapse needs depth=, the levels of modules to keep, or only=, the modules to collapse")
    floor = depth or 0
    open_ = _with_ancestors(graph, calls(graph, keep, option="keep"))
    groups: list[int] = []
    for index, scope in enumerate(graph.scopes):
        group = groups[scope.parent] if scope.parent >= 0 else -1
        if group < 0 and scope.depth >= floor and (scope.kind == "module" or index == 0):
            group = index if index not in open_ and (not chosen or index in chosen) else -1
        groups.append(group)
    return collapsed(graph, groups)


def collapsed(graph: Graph, groups: Sequence[int]) -> Graph:
    """Return the graph with calls as single nodes.

    Args:
        graph: what to rewrite.
        groups: for each scope, the scope of the call that takes it in (itself for that call), or -1.
    """
    if max(groups, default=-1) < 0:
        return graph
    with paused():
        return _rebuilt(graph, groups)


def _rebuilt(graph: Graph, groups: Sequence[int]) -> Graph:
    grouping = runs(graph, groups)
    scopes = [index for index, group in enumerate(groups) if group < 0 or group == index]
    names = segment_names(graph, grouping, scopes)
    types = [(elements(type_), size_bytes(type_)) for type_ in graph.types]
    flops = flops_of_rows(graph) if are_counted(graph) else None
    first = len(graph.attrs)
    rows: dict[AttrRow, int] = {}
    made = []
    for segment, name in zip(grouping.segments, names, strict=True):
        row = rows.setdefault(_totals(graph, segment, types, flops), first + len(rows))
        made.append(_module_node(graph, segment, name, row))
    nodes = [made[~index] if index < 0 else moved_out(graph, graph.nodes[index], groups) for index in grouping.order]
    return with_nodes(graph, nodes, scopes=scopes, attrs=[*graph.attrs, *rows])


def _with_ancestors(graph: Graph, scopes: Iterable[int]) -> set[int]:
    found: set[int] = set()
    for index in scopes:
        while index >= 0 and index not in found:
            found.add(index)
            index = graph.scopes[index].parent
    return found


def _module_node(graph: Graph, segment: Segment, name: str, attrs: int) -> Node:
    scope = graph.scopes[segment.scope]
    return Node(
        "module",
        scope.cls,
        name,
        max(scope.parent, 0),
        scope.depth,
        tuple(segment.inputs),
        tuple(segment.outputs),
        attrs,
        scope.source,
        segment.scope,
    )


def _totals(graph: Graph, segment: Segment, types: list[tuple[int, int]], flops: list[int] | None) -> AttrRow:
    """Return how many operators a segment holds, and what parameters these read."""
    nodes, producers = graph.nodes, graph.producers
    kinds = [nodes[index].kind for index in segment.members]
    ops = kinds.count("op")
    read = set(segment.sources)
    read.update([producers[value] for value in segment.inputs])
    params = param_bytes = 0
    for index in segment.members if ops < len(kinds) else ():
        node = nodes[index]
        if node.kind == "module":
            inner = dict(graph.attrs[node.attrs])
            # What it reads from outside is counted with the sources and inputs of this segment.
            outer, outer_bytes = _parameters(graph, {producers[value] for value in node.inputs}, types)
            ops += _count(inner, "ops")
            params += _count(inner, "params") - outer
            param_bytes += _count(inner, "param_bytes") - outer_bytes
        elif node.kind == "param":
            read.add(index)
    own, own_bytes = _parameters(graph, read, types)
    row: AttrRow = (("ops", ops), ("params", params + own), ("param_bytes", param_bytes + own_bytes))
    counted = sum([flops[nodes[index].attrs] for index in segment.members]) if flops else 0
    return (*row, (FLOPS, counted)) if counted else row


def _parameters(graph: Graph, indices: Iterable[int], types: list[tuple[int, int]]) -> tuple[int, int]:
    """Return the elements and bytes of the parameters among some nodes."""
    total = total_bytes = 0
    for index in indices:
        node = graph.nodes[index]
        if node.kind == "param":
            elements_, bytes_ = types[graph.values[node.outputs[0]].type]
            total += elements_
            total_bytes += bytes_
    return total, total_bytes


def _count(row: Mapping[str, object], name: str) -> int:
    found = row.get(name, 0)
    return found if isinstance(found, int) else 0
