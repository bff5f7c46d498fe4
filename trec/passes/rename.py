"""Give nodes and scopes other names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.ir.builder import unique
from trec.ir.derivation import derived
from trec.ir.types import Lifetime
from trec.passes.new_words import checked, new_word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope


def rename(
    graph: Graph, names: Mapping[str, str] | Callable[[Node | Scope], str], *, missing_ok: bool = False
) -> Graph:
    """Return the graph with other names of nodes, scopes and the values that they make.

    Args:
        graph: what to rewrite.
        names: new names by old ones, for those that change, or a function that returns the name of a node or scope.
            Names that are given twice get a number. A collapsed node keeps the name of its call.
        missing_ok: whether there may be new names for what is not there.

    Ensures:
        Nothing but names changes, paths of modules included.

    Raises:
        OptionError: a name is not text, or nothing has an old one; the message says what it could have been.
    """
    known = [scope.name for scope in graph.scopes] + [node.name for node in graph.nodes]
    names = checked(names, known, "names", missing_ok=missing_ok)
    taken: dict[str, int] = {}
    scopes = [replace(scope, name=unique(new_word(names, scope, scope.name, "names"), taken)) for scope in graph.scopes]
    standing: set[int] = set()
    nodes, values = [], list(graph.values)
    members: dict[str, list[int]] = {}
    for index, node in enumerate(graph.nodes):
        if node.scope >= 0 and node.name == graph.scopes[node.scope].name and node.scope not in standing:
            standing.add(node.scope)
            name = scopes[node.scope].name
        else:
            name = unique(new_word(names, node, node.name, "names"), taken)
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
