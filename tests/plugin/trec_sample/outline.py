"""List the calls of modules as an outline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.atomic import write_text

if TYPE_CHECKING:
    import os

    from trec import Graph


def to_outline(graph: Graph, path: str | os.PathLike[str] | None = None, *, indent: str = "  ") -> str:
    """Return one line for each call of a module, below that of the module which makes it.

    Args:
        graph: what to list.
        path: file that the text is written to as well.
        indent: what stands before the line once for each module around it.
    """
    calls = [scope for scope in graph.scopes if scope.kind == "module"]
    lines = [f"{indent * scope.depth}- {scope.name}: {scope.cls}" for scope in calls]
    if path is not None:
        write_text(path, lines)
    return "\n".join(lines)
