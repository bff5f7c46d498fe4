"""Give nodes and scopes other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.errors import OptionError
from trec.ir.builder import unique
from trec.ir.derivation import derived
from trec.ir.tables import clean
from trec.ir.types import Lifetime

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope


def rename(graph: Graph, names: Mapping[str, str] | Callable[[Node | Scope], str]) -> Graph:
    """Return the graph with other names of nodes, scopes and the values that they make.

    Args:
        graph: what to rewrite.
        names: new names by old ones, for those that change, or a function that returns the name of a node or scope.
            Names that are given twice get a number. A collapsed node keeps the name of its call.

    Ensures:
        Nothing but names changes, paths of modules included.

    Raises:
        OptionError: a name is not text.
    """
    taken: dict[str, int] = {}
    scopes = [replace(scope, name=unique(_new(names, scope), taken)) for scope in graph.scopes]
    standing: set[int] = set()
    nodes, values = [], list(graph.values)
    members: dict[str, list[int]] = {}
    for index, node in enumerate(graph.nodes):
        if node.scope >= 0 and node.name == graph.scopes[node.scope].name and node.scope not in standing:
            standing.add(node.scope)
            name = scopes[node.scope].name
        else:
            name = unique(_new(names, node), taken)
        if name != node.name:
            members[name] = [index]
            node = replace(node, name=name)
        nodes.append(node)
        old = graph.nodes[index].name
        for value in node.outputs:
            if values[value].name == old or values[value].name.startswith(f"{old}:"):
                values[value] = replace(values[value], name=name + values[value].name[len(old) :])
    result = replace(graph, scopes=tuple(scopes), nodes=tuple(nodes), values=tuple(values))
    if graph.seconds:
        pairs = [(old.name, new.name) for old, new in zip(graph.scopes, scopes, strict=True)]
        pairs += [(old.name, new.name) for old, new in zip(graph.nodes, nodes, strict=True)]
        result.__dict__["seconds"] = {new: graph.seconds[old] for old, new in pairs if old in graph.seconds}
    if graph.lifetimes:
        new = {old.name: row.name for old, row in zip(graph.values, values, strict=True)}
        at = {"": "", **{old.name: row.name for old, row in zip(graph.nodes, nodes, strict=True)}}
        result.__dict__["lifetimes"] = tuple(
            [
                Lifetime(tuple(map(new.__getitem__, row.values)), at[row.node], row.bytes, at[row.maker], at[row.held])
                for row in graph.lifetimes
            ]
        )
    return derived(result, graph, members)


def _new(names: Mapping[str, str] | Callable[[Node | Scope], str], row: Node | Scope) -> str:
    name = names(row) if callable(names) else names.get(row.name, row.name)
    if not isinstance(name, str):
        raise OptionError(f"names must give text, but give {name!r} for {row.name!r}")
    return clean(name)
