"""Several graphs or names that somebody gives at once."""

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


def names(given: Any) -> frozenset[str]:
    """Return the names that are given: one, or several.

    Raises:
        OptionError: what is given is no name and no iterable of names.
    """
    found = [given] if isinstance(given, str) else given
    if not isinstance(found, Iterable):
        raise OptionError(f"expected a name or several, not {type(given).__name__}: write ignore=('first', 'second')")
    found = list(found)
    for name in found:
        if not isinstance(name, str):
            raise OptionError(f"expected names, but one of them is of type {type(name).__name__}")
    return frozenset(found)
