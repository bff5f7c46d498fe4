"""Several graphs that somebody gives at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trec.errors import OptionError
from trec.ir.graph import Graph


def several(graphs: Any) -> list[Graph]:
    """Return the graphs that are given.

    Raises:
        OptionError: what is given is no iterable of graphs.
    """
    if not isinstance(graphs, Iterable):
        raise OptionError(f"expected a list of graphs, not {type(graphs).__name__}: write [first, second]")
    found = list(graphs)
    for graph in found:
        if not isinstance(graph, Graph):
            raise OptionError(f"expected a list of graphs, but one of them is of type {type(graph).__name__}")
    return found
