"""Turn calls of modules into single nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.selectors import calls
from trec.errors import OptionError
from trec.ir.collector import paused
from trec.ir.derivation import derived
from trec.ir.rewrite import with_nodes
from trec.ir.types import Node
from trec.passes.grouping import Segment, carried_rows, members_of, moved_out, segment_names
from trec.passes.marked_calls import shows_changes, with_marks
from trec.passes.segments import segments
from trec.passes.totals import Totals, row_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trec.analysis.selectors import Selector
    from trec.ir.graph import Graph


def collapse(graph: Graph, *, depth: int | None = None, only: Selector = (), keep: Selector = ()) -> Graph:
    """Return the graph with calls of modules as single nodes.

    A call at a depth below `depth` stays open. Of the rest the outermost become nodes, and what is inside them is no
    longer seen: with neither `only` nor `keep` these are the calls at exactly `depth`. A collapsed node knows how many
    operators it holds (`ops`), how many distinct elements and bytes of parameters they read (`params`, `param_bytes`;
    unknown sizes count as nothing), and their floating point operations (`flops`) where these were counted. If it
    stands for several equal calls, that is of one of them; repeats inside are counted. Parameters, buffers and
    constants that nothing else reads are inside it; inputs and outputs of the graph never are. One that stays beside
    it, while each of the calls that it stands for has another, says how many these are (`times`).

    Args:
        graph: what to rewrite.
        depth: levels of modules to keep open; 0 makes the whole model one node. Needed if `only` is not given.
        only: path globs (`layers.*.attn`), class names, any other selector or predicate over scopes (see
            `trec.analysis.selectors`); no other calls become nodes.
        keep: the same for calls that stay open, and so does everything around them.

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
    grouping = segments(graph, groups)
    scopes = [index for index, group in enumerate(groups) if group < 0 or group == index]
    names = segment_names(graph, grouping, scopes)
    totals = Totals(graph, groups, grouping)
    first = len(graph.attrs)
    rows: dict[tuple[int, int, int, int], int] = {}
    made = []
    for segment, name in zip(grouping.segments, names, strict=True):
        row = rows.setdefault(totals.of(segment), first + len(rows))
        made.append(_module_node(graph, segment, name, row))
    attrs = [*graph.attrs, *[row_of(*numbers) for numbers in rows]]
    if shows_changes(graph):
        made = with_marks(graph, made, members_of(grouping, names), attrs)
    nodes = []
    for index in grouping.order:
        node = made[~index] if index < 0 else graph.nodes[index]
        nodes.append(node if index < 0 or groups[node.parent] < 0 else moved_out(graph, node, groups, attrs))
    result = with_nodes(graph, nodes, scopes=scopes, attrs=attrs, carried=carried_rows(grouping, nodes))

    def opened(name: str) -> Graph:
        call = grouping.segments[names.index(name)].scope
        return collapsed(graph, [-1 if group == call else group for group in groups])

    return derived(result, graph, lambda: members_of(grouping, names), opened)


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
