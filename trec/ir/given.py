"""Graphs and names as users give them: whatever else is given is refused."""

from __future__ import annotations

from collections.abc import Iterable

from trec.errors import OptionError
from trec.ir.graph import Graph


def given_graphs(graphs: object) -> list[Graph]:
    """Return the graphs that were given.

    Raises:
        OptionError: it is no list of graphs, or something in it is no graph.
    """
    if isinstance(graphs, Graph) or not isinstance(graphs, Iterable):
        raise OptionError(f"expected several graphs in a list, not {_told(graphs)}")
    found = list(graphs)
    for at, graph in enumerate(found):
        if not isinstance(graph, Graph):
            raise OptionError(
                f"expected graphs, as trec.capture and trec.load return them; number {at} is {_told(graph)}"
            )
    return found


def given_names(names: object) -> frozenset[str]:
    """Return the names that were given, one or several.

    Raises:
        OptionError: it is neither a name nor a list of names.
    """
    found = [names] if isinstance(names, str) else list(names) if isinstance(names, Iterable) else [names]
    for name in found:
        if not isinstance(name, str):
            raise OptionError(f"expected a name, or several in a list, not {_told(name)}")
    return frozenset(found)


def _told(thing: object) -> str:
    return "a single graph" if isinstance(thing, Graph) else f"an object of type {type(thing).__name__}"
