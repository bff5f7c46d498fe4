"""The words of edits: arguments, names, and what a call holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trec.ir.graph import Graph
    from trec.ir.types import Attr, Scope

Row = tuple[str, str, str, str, str]
"""Kind, what, name, before and after; the fields of `trec.analysis.diff.Edit`."""


def attributes(
    what: str, name: str, old: dict[str, Attr], new: dict[str, Attr], hidden: tuple[str, ...] = ()
) -> Iterator[Row]:
    """Yield an edit for each argument that is another, but for hidden ones."""
    for key in dict.fromkeys([*old, *new]):
        if key not in hidden and repr(old.get(key)) != repr(new.get(key)):
            yield "attribute", what, name, f"{key}={old.get(key)!r}", f"{key}={new.get(key)!r}"


def tied(aliases: Attr) -> str:
    """Return what a parameter is tied to."""
    return f"tied to {aliases}" if aliases else "not tied"


def summary(graph: Graph, scope: int) -> str:
    """Return the class of a call and how many steps it holds."""
    steps = 0
    pending = [scope]
    while pending:
        at = pending.pop()
        steps += sum(graph.nodes[index].kind not in SOURCE_KINDS for index in graph.nodes_in[at])
        pending += graph.scopes_in[at]
    return f"{graph.scopes[scope].cls}, {steps} step{'' if steps == 1 else 's'}" if steps else graph.scopes[scope].cls


def own_name(graph: Graph, scope: Scope) -> str:
    """Return the part of a path that the call adds to that of the module around it."""
    return within(scope.path, graph.scopes[scope.parent].path) if scope.kind == "module" else ""


def within(name: str, path: str) -> str:
    """Return a dotted name as it is inside a path."""
    return name.removeprefix(f"{path}.") if path else name
