"""The terms of a selector: which nodes and which scopes of a graph one condition holds for."""

from __future__ import annotations

from operator import and_, or_
from typing import TYPE_CHECKING, get_args

from trec.analysis.globs import name_glob, path_glob, shape_glob, shape_text
from trec.analysis.groups import GROUPS, short_op
from trec.ir.text import SHORT
from trec.ir.types import NODE_KINDS, PHASES, ScopeKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trec.analysis.query import Term
    from trec.ir.graph import Graph
    from trec.ir.types import Node, Scope, TensorType

Masks = tuple[bytes, bytes]
"""For each node, and for each scope, 1 where a condition holds, else 0."""


def masks(graph: Graph, term: Term) -> Masks:
    """Return where a term holds.

    A term about calls (`path:`, `class:`, `scope:`, one without a key) holds for the call itself, and for every node
    inside it, however deep, or standing for it.
    """
    return _TERMS[term.key](graph, term.pattern)


def vocabulary(graph: Graph, term: Term) -> list[str]:
    """Return what could have been written as the pattern of a term, each once, in order of appearance."""
    return list(dict.fromkeys(filter(None, _WORDS[term.key](graph))))


# ---- calls


def own_calls(graph: Graph, pattern: str) -> bytes:
    """Mark the module calls whose class is the pattern or whose path the glob matches; with `#`, whose name."""
    matches = path_glob(pattern).fullmatch
    by_name = "#" in pattern
    return bytes(
        [
            (scope.kind == "module" or index == 0)
            and (scope.cls == pattern or (index > 0 and bool(matches(scope.name if by_name else scope.path))))
            for index, scope in enumerate(graph.scopes)
        ]
    )


def _bare(graph: Graph, pattern: str) -> Masks:
    scopes = own_calls(graph, pattern)
    matches = path_glob(pattern).fullmatch
    if not any(sign in pattern for sign in "*?["):
        names = bytes([node.name == pattern for node in graph.nodes])
    else:
        names = bytes([bool(matches(node.name)) for node in graph.nodes])
    return bytes(map(or_, _inside(graph, scopes), names)), scopes


def _path(graph: Graph, pattern: str) -> Masks:
    matches = path_glob(pattern).fullmatch
    scopes = bytes(
        [index > 0 and scope.kind == "module" and bool(matches(scope.path)) for index, scope in enumerate(graph.scopes)]
    )
    return _inside(graph, scopes), scopes


def _class(graph: Graph, pattern: str) -> Masks:
    matches = name_glob(pattern).fullmatch
    scopes = bytes(
        [
            (scope.kind == "module" or index == 0) and bool(matches(scope.cls))
            for index, scope in enumerate(graph.scopes)
        ]
    )
    return _inside(graph, scopes), scopes


def _scope(graph: Graph, pattern: str) -> Masks:
    matches = name_glob(pattern).fullmatch
    scopes = bytes([bool(matches(scope.name)) for scope in graph.scopes])
    return _inside(graph, scopes), scopes


def _in(graph: Graph, pattern: str) -> Masks:
    own = own_calls(graph, pattern)
    inside = _spread(graph, own)
    within = bytes([scope.parent >= 0 and inside[scope.parent] for scope in graph.scopes])
    return bytes([inside[node.parent] for node in graph.nodes]), within


def _spread(graph: Graph, scopes: bytes) -> bytearray:
    """Mark the scopes that are marked or lie inside a marked one."""
    inside = bytearray(scopes)
    for index, scope in enumerate(graph.scopes):
        if scope.parent >= 0 and inside[scope.parent]:
            inside[index] = 1
    return inside


def _inside(graph: Graph, scopes: bytes) -> bytes:
    """Mark the nodes that lie in a marked scope at any depth, or stand for one."""
    inside = _spread(graph, scopes)
    inside.append(0)  # node.scope is -1 where a node stands for none
    return bytes([inside[node.parent] or inside[node.scope] for node in graph.nodes])


# ---- rows


def _name(graph: Graph, pattern: str) -> Masks:
    matches = name_glob(pattern).fullmatch
    return (
        bytes([bool(matches(node.name)) for node in graph.nodes]),
        bytes([bool(matches(scope.name)) for scope in graph.scopes]),
    )


def _kind(graph: Graph, pattern: str) -> Masks:
    matches = name_glob(pattern).fullmatch
    return (
        _each([node.kind for node in graph.nodes], matches),
        _each([scope.kind for scope in graph.scopes], matches),
    )


def _phase(graph: Graph, pattern: str) -> Masks:
    matches = name_glob(pattern).fullmatch
    scopes = _each([scope.phase for scope in graph.scopes], matches)
    return bytes([scopes[node.parent if node.scope < 0 else node.scope] for node in graph.nodes]), scopes


def _op(graph: Graph, pattern: str) -> Masks:
    matches = name_glob(pattern).fullmatch

    def holds(op: str) -> bool:
        return bool(matches(op) or matches(short_op(op)))

    functions = bytes([scope.kind == "function" for scope in graph.scopes])
    return (
        _each([node.op for node in graph.nodes], holds),
        bytes(map(and_, functions, _each([scope.cls for scope in graph.scopes], holds))),
    )


def _each(texts: list[str], holds: Callable[[str], object]) -> bytes:
    """Mark the texts that a condition holds for; it is asked once for each that is different."""
    found = {text: bool(holds(text)) for text in set(texts)}
    return bytes([found[text] for text in texts])


# ---- types


def _typed(graph: Graph, holds: Callable[[TensorType], object]) -> Masks:
    types = [bool(holds(type_)) for type_ in graph.types]
    values = [types[value.type] for value in graph.values]
    nodes = bytes([any(values[value] for value in node.outputs or node.inputs) for node in graph.nodes])
    return nodes, bytes(len(graph.scopes))


def _shape(graph: Graph, pattern: str) -> Masks:
    matches = shape_glob(pattern).fullmatch
    return _typed(graph, lambda type_: matches(shape_text(type_.shape)))


def _dtype(graph: Graph, pattern: str) -> Masks:
    matches = name_glob(pattern).fullmatch
    return _typed(graph, lambda type_: matches(type_.dtype) or matches(SHORT.get(type_.dtype, type_.dtype)))


def _device(graph: Graph, pattern: str) -> Masks:
    matches = name_glob(pattern).fullmatch
    return _typed(graph, lambda type_: matches(type_.device))


def _is(graph: Graph, pattern: str) -> Masks:
    holds = GROUPS.get(pattern)
    nodes = bytes([holds(graph, node) for node in graph.nodes]) if holds else bytes(len(graph.nodes))
    return nodes, bytes(len(graph.scopes))


_TERMS: dict[str, Callable[[Graph, str], Masks]] = {
    "": _bare,
    "path": _path,
    "class": _class,
    "scope": _scope,
    "in": _in,
    "name": _name,
    "kind": _kind,
    "phase": _phase,
    "op": _op,
    "shape": _shape,
    "dtype": _dtype,
    "device": _device,
    "is": _is,
}


# ---- what could have been meant


def _call_words(graph: Graph) -> list[str]:
    modules = [scope for scope in graph.scopes if scope.kind == "module"]
    return [scope.cls for scope in modules] + [scope.path for scope in modules]


def _names_of(rows: Iterable[Node | Scope]) -> list[str]:
    return [row.name for row in rows]


_WORDS: dict[str, Callable[[Graph], list[str]]] = {
    "": lambda graph: _call_words(graph) + _names_of(graph.nodes),
    "path": lambda graph: [scope.path for scope in graph.scopes if scope.kind == "module"],
    "class": lambda graph: [scope.cls for scope in graph.scopes if scope.kind == "module"],
    "scope": lambda graph: _names_of(graph.scopes),
    "in": _call_words,
    "name": lambda graph: _names_of(graph.nodes) + _names_of(graph.scopes),
    "kind": lambda _: [*NODE_KINDS, *get_args(ScopeKind)],
    "phase": lambda _: list(PHASES),
    "op": lambda graph: [op for node in graph.nodes for op in (node.op, short_op(node.op))],
    "shape": lambda graph: [shape_text(type_.shape).removesuffix(",").replace(",", "x") for type_ in graph.types],
    "dtype": lambda graph: [type_.dtype for type_ in graph.types],
    "device": lambda graph: [type_.device for type_ in graph.types],
    "is": lambda _: list(GROUPS),
}
