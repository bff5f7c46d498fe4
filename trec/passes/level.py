"""Fold what is finer than a level into single nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from msgspec.structs import replace

from trec.analysis.costs import are_counted, flops_of_rows, with_flops
from trec.errors import OptionError
from trec.ir.collector import paused
from trec.ir.derivation import derived, members_since
from trec.ir.rewrite import revised, with_nodes
from trec.ir.types import ROLLED, SAVED, AttrRow, Level, Node, Scope, Value
from trec.passes.collapse import collapsed
from trec.passes.fewest_segments import fewest_segments
from trec.passes.grouping import Segment, carried_rows, members_of, moved_out, segment_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.ir.graph import Graph

LEVELS: tuple[Level, ...] = get_args(Level)
"""From coarse to fine."""
_STEPS = frozenset({"op", "host", "link", "region"})


def level(graph: Graph, level: Level) -> Graph:
    """Return the graph as capture would have made it at a coarser level.

    Args:
        graph: what to rewrite.
        level: `aten` leaves the operators as they are. `function` makes each call of a torch function one node, with
            the tensors that it was given and returned as its first inputs and outputs; a function that called a module
            is replaced by what it holds. `module` makes further each call of a module that calls no other one node.

    Ensures:
        A path leads from one remaining node to another exactly if one did before, but for those through a folded
        node, which `expand` opens again. No cycle arises: what ran during a call and depends on it ends its node, and
        a second one follows.

    Raises:
        OptionError: there is no such level, or the graph is already coarser.
    """
    if level not in LEVELS:
        raise OptionError(f"there is no level {level!r}; known are: {', '.join(LEVELS)}")
    present = level_of(graph)
    if LEVELS.index(level) > LEVELS.index(present):
        raise OptionError(f'a graph of level "{present}" cannot be refined; capture again with level="{level}"')
    return graph if level == present else leveled(graph, level)


def leveled(graph: Graph, level: Level, leave: frozenset[str] = frozenset()) -> Graph:
    """Return the graph at a coarser level, but for some calls, given by name, that stay open."""
    result = graph
    if level_of(graph) == "aten":
        with paused():
            result = _fold_functions(graph, leave)
    if level == "module":
        result = _fold_modules(result, leave)
    meta = tuple([(name, level if name == "level" else value) for name, value in graph.meta])
    coarse = revised(result, meta=meta if dict(meta).get("level") == level else (("level", level), *meta))

    def opened(name: str) -> Graph:
        node = coarse.nodes[coarse.index_of[name]]
        if node.scope >= 0:
            return leveled(graph, level, leave | {coarse.scopes[node.scope].name})
        groups = _groups(graph, "function", leave)
        made = [groups[graph.nodes[index].parent] for index in members_since(result, graph)[name]]
        return leveled(graph, level, leave | {graph.scopes[group].name for group in made})

    return derived(coarse, graph, lambda: members_since(result, graph), opened)


def level_of(graph: Graph) -> Level:
    """Return the level that a graph was captured at or folded to."""
    found = dict(graph.meta).get("level", "function")
    return next((known for known in LEVELS if known == found), "function")


def _groups(graph: Graph, kind: str, leave: frozenset[str]) -> list[int]:
    """Return for each scope the outermost call of a kind around it that calls no module and is not left open, or -1."""
    around_module = _around_modules(graph)
    groups: list[int] = []
    for index, scope in enumerate(graph.scopes):
        group = groups[scope.parent] if scope.parent >= 0 else -1
        if group < 0 and scope.kind == kind and not around_module[index] and scope.name not in leave:
            group = index
        groups.append(group)
    return groups


def _fold_functions(graph: Graph, leave: frozenset[str]) -> Graph:
    groups = _groups(graph, "function", leave)
    grouping = fewest_segments(graph, groups)
    values = list(graph.values)
    lifted, holder = _without_functions(graph, leave)
    kept = [index for index in range(len(graph.scopes)) if holder[index] == index and groups[index] in (-1, index)]
    names = segment_names(graph, grouping, kept)
    attrs = list(graph.attrs)
    made = [
        _function_node(graph, segment, name, values, attrs)
        for segment, name in zip(grouping.segments, names, strict=True)
    ]
    if are_counted(graph):
        flops = flops_of_rows(graph)
        totals = [sum([flops[graph.nodes[index].attrs] for index in segment.span]) for segment in grouping.segments]
        made = with_flops(made, totals, attrs)
    nodes = []
    for index in grouping.order:
        node = made[~index] if index < 0 else moved_out(graph, graph.nodes[index], groups, attrs)
        parent = holder[node.parent]
        stands_for = node.scope if node.scope < 0 or holder[node.scope] == node.scope else -1
        if (parent, stands_for) != (node.parent, node.scope):
            node = replace(node, parent=parent, scope=stands_for)
        nodes.append(node)
    result = with_nodes(lifted, nodes, scopes=kept, values=values, attrs=attrs, carried=carried_rows(grouping, nodes))
    return derived(result, graph, lambda: members_of(grouping, names))


def _fold_modules(graph: Graph, leave: frozenset[str]) -> Graph:
    groups = _groups(graph, "module", leave)
    busy = {groups[node.parent] for node in graph.nodes if node.kind in _STEPS}
    return collapsed(graph, [group if group in busy else -1 for group in groups])


def _around_modules(graph: Graph) -> bytearray:
    """Mark the scopes in which a module is called."""
    around = bytearray(len(graph.scopes))
    for index in range(len(graph.scopes) - 1, 0, -1):
        scope = graph.scopes[index]
        if around[index] or scope.kind == "module":
            around[scope.parent] = 1
    return around


def _function_node(graph: Graph, segment: Segment, name: str, values: list[Value], attrs: list[AttrRow]) -> Node:
    """Return the node of one call of a function; its results are named in `values`, what is new is put in `attrs`."""
    scope = graph.scopes[segment.scope]
    inside = {value for index in segment.span for value in graph.nodes[index].outputs}
    read = dict.fromkeys(segment.inputs)
    inputs = [value for value in scope.inputs if value in read]
    given = set(inputs)
    inputs += [value for value in read if value not in given]
    returned = dict.fromkeys([value for value in scope.outputs if value in inside])
    loose = [value for value in segment.outputs if value not in returned]
    saved = _saved(graph, segment, loose) if scope.phase == "forward" else []
    outputs = [*returned, *[value for value in loose if value not in saved], *saved]
    row = scope.attrs
    if (ROLLED, True) in graph.attrs[row]:  # that is said of the call, and no argument
        attrs.append(tuple([pair for pair in graph.attrs[row] if pair[0] != ROLLED]))
        row = len(attrs) - 1
    if saved:
        attrs.append((*attrs[row], (SAVED, len(saved))))
        row = len(attrs) - 1
    lone = len(outputs) - len(saved) == 1
    for port, value in enumerate(outputs):
        values[value] = Value(values[value].type, name if lone and not port else f"{name}:{port}")
    leaves_torch = not outputs and any(graph.nodes[index].kind == "host" for index in segment.span)
    return Node(
        "host" if leaves_torch else "op",
        scope.cls,
        name,
        scope.parent,
        scope.depth,
        tuple(inputs),
        tuple(outputs),
        row,
        scope.source,
        segment.scope if scope.repeats else -1,
    )


def _saved(graph: Graph, segment: Segment, made: list[int]) -> list[int]:
    """Return those of the values that a call made which only backward passes read outside of it."""
    members = set(segment.span)
    return [
        value
        for value in made
        if all(user in members or graph.phase_of(graph.nodes[user]) == "backward" for user in graph.users[value])
    ]


def _without_functions(graph: Graph, leave: frozenset[str]) -> tuple[Graph, Sequence[int]]:
    """Return the graph with scopes moved out of functions, and for each scope the nearest that stays.

    A function that stands for several calls stays, to say for how many.
    """
    holder: list[int] = []
    scopes: list[Scope] = []
    for index, scope in enumerate(graph.scopes):
        parent = holder[scope.parent] if scope.parent >= 0 else -1
        gone = scope.kind == "function" and scope.name not in leave and not scope.repeats
        holder.append(parent if gone else index)
        scopes.append(scope if parent == scope.parent else replace(scope, parent=parent))
    return revised(graph, scopes=tuple(scopes)), holder
