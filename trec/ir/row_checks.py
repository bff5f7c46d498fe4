"""Checks of single rows: their types, and what each table holds.

A check gets the facts of a graph and returns the first fault (table, row, what is wrong with it) or None. It may rely
on those before it in `verify.CHECKS`.

Checks of nodes and values are plain loops that keep globals in local names. That is on purpose: a million nodes take
30 to 100 ms each, a third of what `map`, `attrgetter` or a comprehension with a condition takes.
"""

from __future__ import annotations

from math import isfinite
from operator import attrgetter
from typing import TYPE_CHECKING, Any, get_args

from trec.ir.facts import repeated
from trec.ir.types import (
    NODE_KINDS,
    PHASES,
    Carried,
    Derivative,
    Node,
    Note,
    Scope,
    ScopeKind,
    Source,
    TensorType,
    Value,
)

if TYPE_CHECKING:
    from trec.ir.facts import Facts, Fault

ROWS: dict[str, type] = {
    "nodes": Node,
    "values": Value,
    "scopes": Scope,
    "types": TensorType,
    "attrs": tuple,
    "sources": Source,
    "meta": tuple,
    "carried": Carried,
    "notes": Note,
    "derivatives": Derivative,
}
FIELDS: dict[str, dict[type, tuple[str, ...]]] = {
    "nodes": {
        str: ("kind", "op", "name"),
        int: ("parent", "depth", "attrs", "source", "scope"),
        tuple: ("inputs", "outputs"),
    },
    "values": {int: ("type",), str: ("name",)},
    "scopes": {
        str: ("kind", "name", "path", "cls", "phase"),
        int: ("call", "parent", "depth", "attrs", "source"),
        tuple: ("inputs", "outputs", "repeats"),
    },
    "types": {tuple: ("shape",), str: ("dtype", "device", "layout")},
    "sources": {str: ("file",), int: ("line",)},
    "carried": {int: ("value", "node", "port", "loop")},
    "notes": {str: ("kind", "name", "text")},
    "derivatives": {int: ("node", "forward")},
}
_HOLDS: dict[str, type] = {"inputs": int, "outputs": int, "repeats": str}
"""What the tuples in these fields hold."""


def tables(facts: Facts) -> Fault:
    for table, expected in ROWS.items():
        rows = getattr(facts.graph, table)
        if type(rows) is not tuple:
            return table, 0, f"is in a {type(rows).__name__}, expected a tuple"
        if not {expected}.issuperset(map(type, rows)):
            at, row = next((at, row) for at, row in enumerate(rows) if type(row) is not expected)
            return table, at, f"is of type {type(row).__name__}, expected {expected.__name__}"
    return None


def fields(facts: Facts) -> Fault:
    at = _wrong_node(facts.graph.nodes)
    if at is not None:
        return "nodes", at, _wrong_field(facts.graph.nodes[at], "nodes")
    at = _wrong_value(facts.graph.values)
    if at is not None:
        return "values", at, _wrong_field(facts.graph.values[at], "values")
    for table in ("scopes", "types", "sources", "carried", "notes", "derivatives"):
        for at, row in enumerate(getattr(facts.graph, table)):
            what = _wrong_field(row, table)
            if what:
                return table, at, what
    return None if type(facts.graph.name) is str else ("name", 0, f"is {facts.graph.name!r}, expected text")


def _wrong_node(nodes: tuple[Node, ...]) -> int | None:
    type_, str_, int_, tuple_ = type, str, int, tuple
    for at, node in enumerate(nodes):
        inputs, outputs = node.inputs, node.outputs
        if type_(inputs) is not tuple_ or type_(outputs) is not tuple_:
            return at
        if type_(node.kind) is not str_ or type_(node.op) is not str_ or type_(node.name) is not str_:
            return at
        if type_(node.parent) is not int_ or type_(node.depth) is not int_ or type_(node.attrs) is not int_:
            return at
        if type_(node.source) is not int_ or type_(node.scope) is not int_:
            return at
        for value in inputs:
            if type_(value) is not int_:
                return at
        for value in outputs:
            if type_(value) is not int_:
                return at
    return None


def _wrong_value(values: tuple[Value, ...]) -> int | None:
    type_, str_, int_ = type, str, int
    for at, value in enumerate(values):
        if type_(value.type) is not int_ or type_(value.name) is not str_:
            return at
    return None


def _wrong_field(row: object, table: str) -> str:
    for expected, names in FIELDS[table].items():
        for name in names:
            if type(getattr(row, name)) is not expected:
                return f"has {name} {getattr(row, name)!r}, expected {expected.__name__}"
            if expected is tuple and name != "shape":
                for item in getattr(row, name):
                    if type(item) is not _HOLDS[name]:
                        return f"has {name} that hold {item!r}, expected {_HOLDS[name].__name__}s"
    return ""


def text(facts: Facts) -> Fault:
    for table, by_type in FIELDS.items():
        rows = getattr(facts.graph, table)
        for name in by_type.get(str, ()):
            if name == "kind" and table != "notes":  # has a check of its own
                continue
            if _writable("".join(map(attrgetter(name), rows))):
                continue
            for at, row in enumerate(rows):
                if not _writable(getattr(row, name)):
                    return table, at, f"has {name} {getattr(row, name)!r}"
    for at, scope in enumerate(facts.graph.scopes):
        if not all(map(_writable, scope.repeats)):
            return "scopes", at, f"has repeats {scope.repeats!r}"
    name = facts.graph.name
    return None if _writable(name) else ("name", 0, f"is {name!r}")


def _writable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def kinds(facts: Facts) -> Fault:
    node_kinds, scope_kinds = frozenset(NODE_KINDS), frozenset(get_args(ScopeKind))
    for at, node in enumerate(facts.graph.nodes):
        if node.kind not in node_kinds:
            return "nodes", at, f"has kind {node.kind!r}, expected one of: {', '.join(NODE_KINDS)}"
    for at, scope in enumerate(facts.graph.scopes):
        if scope.kind not in scope_kinds:
            return "scopes", at, f"has kind {scope.kind!r}, expected one of: {', '.join(get_args(ScopeKind))}"
        if scope.phase not in PHASES:
            return "scopes", at, f"has phase {scope.phase!r}, expected one of: {', '.join(PHASES)}"
    return None


def shapes(facts: Facts) -> Fault:
    for at, type_ in enumerate(facts.graph.types):
        for size in type_.shape:
            if type(size) is int and 0 <= size < 2**63:
                continue
            if type(size) is str and size and _writable(size):
                continue
            return "types", at, f"has size {size!r}, expected an int from 0 or the name of a size"
    return None


def lines_from_one(facts: Facts) -> Fault:
    for at, source in enumerate(facts.graph.sources):
        if not 1 <= source.line < 2**63:
            return "sources", at, f"has line {source.line}"
    return None


def empty_row(facts: Facts) -> Fault:
    attrs = facts.graph.attrs
    if attrs and not attrs[0]:
        return None
    return "attrs", 0, f"is {attrs[0]!r}" if attrs else "is missing"


def attr_rows(facts: Facts) -> Fault:
    for table, rows in _attr_tables(facts):
        for at, row in enumerate(rows):
            for pair in row:
                if type(pair) is tuple and len(pair) == 2 and type(pair[0]) is str and _writable(pair[0]):
                    continue
                return table, at, f"is {row!r}"
    return None


def attr_values(facts: Facts) -> Fault:
    for table, rows in _attr_tables(facts):
        for at, row in enumerate(rows):
            for _, value in row:
                is_plain = type(value) is str and value.isascii()  # most are, and a call takes longer
                if not is_plain and not _storable(value):
                    return table, at, f"is {row!r}"
    return None


def _storable(value: Any, depth: int = 3) -> bool:
    if type(value) is tuple:
        return depth > 0 and all(_storable(item, depth - 1) for item in value)
    if type(value) is int:
        return -(2**63) <= value < 2**64
    if type(value) is str:
        return _writable(value)
    return isfinite(value) if type(value) is float else value is None or type(value) is bool


def attr_names(facts: Facts) -> Fault:
    for table, rows in _attr_tables(facts):
        for at, row in enumerate(rows):
            if len(row) > 1 and len(dict(row)) < len(row):
                return table, at, f"is {row!r}"
    return None


def _attr_tables(facts: Facts) -> tuple[tuple[str, tuple[Any, ...]], ...]:
    return ("attrs", facts.graph.attrs), ("meta", (facts.graph.meta,))


def rows_once(facts: Facts) -> Fault:
    graph = facts.graph
    every: dict[str, tuple[object, ...]] = {"types": graph.types, "attrs": graph.attrs, "sources": graph.sources}
    for table, rows in every.items():
        if len(set(rows)) == len(rows):
            continue
        at = repeated(map(repr, rows))  # 1, 1.0 and True are equal, yet make three rows
        if at is not None:
            return table, at, f"repeats an earlier row: {rows[at]!r}"
    return None
