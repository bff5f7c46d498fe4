"""The words of edits: arguments, names, and what a call holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from trec.ir.graph import Graph
    from trec.ir.types import Attr, Scope

Row = tuple[str, str, str, str, str]
"""Kind, what, name, before and after; the fields of `trec.analysis.diff.Edit`."""


def attributes(
    what: str, name: str, old: dict[str, Attr], new: dict[str, Attr], hidden: tuple[str, ...] = ()
) -> Iterator[Row]:
    """Yield an edit for each argument that is another, but for hidden ones, and bytes that follow from elements.

    Of an argument that was not given, or is given no more, nothing is said on that side. One that is None is as good as
    not given: a tensor may have been given in its place, which is read and not among the arguments.
    """
    if old.get("params") != new.get("params"):
        hidden = (*hidden, "param_bytes")
    for key in dict.fromkeys([*old, *new]):
        if key not in hidden and repr(old.get(key)) != repr(new.get(key)):
            was, now = (f"{key}={row[key]!r}" if key in row else "" for row in (old, new))
            yield "attribute", what, name, was, now


def tied(aliases: Attr) -> str:
    """Return what a parameter is tied to."""
    return f"tied to {aliases}" if aliases else "not tied"


def are_tied_alike(name: str, old: Attr, other_name: str, new: Attr) -> bool:
    """Return whether a parameter has the same other names as before, but for what all its names now begin with."""
    if old == new or not (old and new):
        return old == new
    for short, few, long, many in ((name, old, other_name, new), (other_name, new, name, old)):
        if long.endswith(short):
            prefix = long.removesuffix(short)
            if [prefix + alias for alias in str(few).split(",")] == str(many).split(","):
                return True
    return False


def summary(graph: Graph, scope: int, kept: Collection[int] = ()) -> str:
    """Return the class of a call and how many steps it holds.

    Args:
        graph: the graph of the call.
        scope: the call.
        kept: nodes that the other graph has as well; only they are counted, if there are any.
    """
    steps = 0
    pending = [scope]
    while pending:
        at = pending.pop()
        held = [index for index in graph.nodes_in[at] if graph.nodes[index].kind not in SOURCE_KINDS]
        steps += sum([not kept or index in kept for index in held])
        pending += graph.scopes_in[at]
    text = f"{'around ' if kept else ''}{steps} step{'' if steps == 1 else 's'}"
    return f"{graph.scopes[scope].cls}, {text}" if steps else graph.scopes[scope].cls


def own_name(graph: Graph, scope: Scope) -> str:
    """Return the part of a path that the call adds to that of the module around it."""
    return within(scope.path, graph.scopes[scope.parent].path) if scope.kind == "module" else ""


def within(name: str, path: str) -> str:
    """Return a dotted name as it is inside a path."""
    return name.removeprefix(f"{path}.") if path else name
