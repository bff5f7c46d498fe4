"""Whether graphs are of one structure, so that only sizes and arguments tell them apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.analysis.diff import diff
from trec.errors import StructureError

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from trec.ir.graph import Graph

_OF_SIZES = frozenset({"reshaped", "attribute"})
_SHOWN = 3


def check_structure(graphs: Sequence[Graph], names: Sequence[str]) -> None:
    """Raise if two graphs differ in more than sizes and arguments.

    Args:
        graphs: what is compared with the first of them.
        names: what they are called in the message.

    Raises:
        StructureError: they do; the message says where.
    """
    first = list(_structure(graphs[0]))
    for graph, name in zip(graphs[1:], names[1:], strict=True):
        if list(_structure(graph)) != first:
            raise StructureError(f"run {name} has another structure than run {names[0]}: {_where(graphs[0], graph)}")


def _structure(graph: Graph) -> Iterator[Hashable]:
    for scope in graph.scopes:
        yield (
            scope.kind,
            scope.path,
            scope.cls,
            scope.phase,
            scope.parent,
            len(scope.repeats),
            scope.inputs,
            scope.outputs,
        )
    for node in graph.nodes:
        types = [graph.type_of(value) for value in node.outputs]
        made = tuple([(len(type_.shape), type_.dtype, type_.layout) for type_ in types])
        names = tuple([name for name, _ in graph.attrs[node.attrs]])
        yield node.kind, node.op, node.parent, node.scope, node.inputs, made, names
    yield graph.carried, graph.derivatives


def _where(before: Graph, after: Graph) -> str:
    edits = [edit for edit in diff(before, after).edits if edit.kind not in _OF_SIZES]
    edits = [edit for edit in edits if edit.kind != "renamed" or edit.what == "scope"]
    told = [
        f"{edit.name} is {edit.kind} ({edit.before or 'nothing'}, then {edit.after or 'nothing'})" for edit in edits
    ]
    rest = f" and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
    text = "; ".join(told[:_SHOWN]) + rest if told else "the order of steps, or what they are given, differs"
    return f"{text}; trec.union joins runs that differ"
