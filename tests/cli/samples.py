"""A backend of somebody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def rows(graph: Graph, **options: Any) -> list[str]:
    """Return one field of all nodes."""
    return [getattr(node, options["key"]) for node in graph.nodes]
