"""Checks of single rows: their types, and what each table holds.

A check gets the columns of a graph and returns the first fault (table, row, what is wrong with it) or None. It may rely
on those before it in `verify.CHECKS`. It first asks in a few calls of C code whether there is a fault, and only then
where.
"""

from __future__ import annotations

from itertools import chain
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING, Any, get_args

from trec.ir.columns import first, foreign, outside, owner, repeated
from trec.ir.types import NODE_KINDS, Carried, Node, Scope, ScopeKind, Source, TensorType, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trec.ir.columns import Columns, Fault

ROWS: dict[str, type] = {
    "nodes": Node, "values": Value, "scopes": Scope, "types": TensorType, "attrs": tuple, "sources": Source,
    "meta": tuple, "carried": Carried,
}  # fmt: skip
FIELDS: dict[str, dict[type, tuple[str, ...]]] = {
    "nodes": {
        str: ("kind", "op", "name"),
        int: ("parent", "depth", "attrs", "source", "scope"),
        tuple: ("inputs", "outputs"),
    },
    "values": {int: ("type",), str: ("name",)},
    "scopes": {
        str: ("kind", "name", "path", "cls"),
        int: ("call", "parent", "depth", "attrs", "source"),
        tuple: ("inputs", "outputs"),
    },
    "types": {tuple: ("shape",), str: ("dtype", "device", "layout")},
    "sources": {str: ("file",), int: ("line",)},
    "carried": {int: ("value", "node", "port")},
}  # fmt: skip
SCALARS = frozenset({type(None), bool, int, float, str})


def tables(columns: Columns) -> Fault:
    for table, row in ROWS.items():
        rows = getattr(columns.graph, table)
        if type(rows) is not tuple:
            return table, 0, f"is in a {type(rows).__name__}, expected a tuple"
        at = _of_other_type(rows, row)
        if at is not None:
            return table, at, f"is of type {type(rows[at]).__name__}, expected {row.__name__}"
    return None


def field_types(columns: Columns) -> Fault:
    for table, fields in FIELDS.items():
        for expected, names in fields.items():
            for name in names:
                column = columns.column(table, name)
                at = _of_other_type(column, expected)
                if at is not None:
                    return table, at, f"has {name} {column[at]!r}, expected {expected.__name__}"
    for table, name, flat in (
        ("nodes", "inputs", columns.reads),
        ("nodes", "outputs", columns.writes),
        ("scopes", "inputs", list(chain.from_iterable(columns.scope("inputs")))),
        ("scopes", "outputs", list(chain.from_iterable(columns.scope("outputs")))),
    ):
        at = _of_other_type(flat, int)
        if at is not None:
            return table, owner(columns.column(table, name), at), f"has {name} that hold {flat[at]!r}, expected ints"
    return None


def _of_other_type(column: Sequence[object], expected: type) -> int | None:
    if {expected}.issuperset(map(type, column)):
        return None
    return first([type(element) is not expected for element in column])


def text(columns: Columns) -> Fault:
    for table, fields in FIELDS.items():
        for name in fields.get(str, ()):
            column = columns.column(table, name)
            if _writable("".join(column)):
                continue
            at = first([not _writable(string) for string in column])
            if at is not None:
                return table, at, f"has {name} {column[at]!r}"
    name = columns.graph.name
    return None if type(name) is str and _writable(name) else ("name", 0, f"is {name!r}, expected text")


def _writable(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def kinds(columns: Columns) -> Fault:
    for table, kinds in (("nodes", NODE_KINDS), ("scopes", get_args(ScopeKind))):
        column = columns.column(table, "kind")
        at = foreign(column, frozenset(kinds))
        if at is not None:
            return table, at, f"has kind {column[at]!r}, expected one of: {', '.join(kinds)}"
    return None


def rows_once(columns: Columns) -> Fault:
    for table in ("types", "attrs", "sources"):
        rows: Sequence[object] = getattr(columns.graph, table)
        try:
            if len(set(rows)) == len(rows):
                continue
        except TypeError:  # a value that cannot be hashed: `attr-values` says more
            continue
        at = repeated(list(map(repr, rows)))  # 1, 1.0 and True are equal, yet print as three rows
        if at is not None:
            return table, at, f"repeats an earlier row: {rows[at]!r}"
    return None


def shapes(columns: Columns) -> Fault:
    for index, shape in enumerate(columns.column("types", "shape")):
        for size in shape:
            if type(size) is int and 0 <= size < 2**63:
                continue
            if type(size) is str and size and _writable(size):
                continue
            return "types", index, f"has size {size!r}, expected an int from 0 or the name of a size"
    return None


def empty_row(columns: Columns) -> Fault:
    attrs = columns.graph.attrs
    if attrs and not attrs[0]:
        return None
    return "attrs", 0, f"is {attrs[0]!r}" if attrs else "is missing"


def attr_rows(columns: Columns) -> Fault:
    graph = columns.graph
    for table, rows in (("attrs", graph.attrs), ("meta", (graph.meta,))):
        pairs = list(chain.from_iterable(rows))
        if {tuple}.issuperset(map(type, pairs)) and {2}.issuperset(map(len, pairs)):
            names = list(map(itemgetter(0), pairs))
            if {str}.issuperset(map(type, names)) and _writable("".join(names)):
                continue
        at = first([not _row_of_pairs(row) for row in rows])
        if at is not None:
            return table, at, f"is {rows[at]!r}"
    return None


def _row_of_pairs(row: Iterable[object]) -> bool:
    return all(type(pair) is tuple and len(pair) == 2 and type(pair[0]) is str and _writable(pair[0]) for pair in row)


def attr_names(columns: Columns) -> Fault:
    graph = columns.graph
    for table, rows in (("attrs", graph.attrs), ("meta", (graph.meta,))):
        if sum(map(len, map(dict, rows))) != sum(map(len, rows)):
            at = first([len(dict(row)) < len(row) for row in rows])
            if at is not None:
                return table, at, f"is {rows[at]!r}"
    return None


def attr_values(columns: Columns) -> Fault:
    graph = columns.graph
    for table, rows in (("attrs", graph.attrs), ("meta", (graph.meta,))):
        if _storable(map(itemgetter(1), chain.from_iterable(rows))):
            continue
        at = first([not _storable(map(itemgetter(1), row)) for row in rows])
        if at is not None:
            return table, at, f"is {rows[at]!r}"
    return None


def lines_from_one(columns: Columns) -> Fault:
    lines = columns.column("sources", "line")
    at = outside(lines, 1, 2**63)
    return None if at is None else ("sources", at, f"has line {lines[at]}")


def _storable(values: Iterable[Any]) -> bool:
    for _ in range(4):
        level = list(values)
        if not set(map(type, level)) <= {*SCALARS, tuple}:
            return False
        numbers = [value for value in level if type(value) is int]
        if numbers and not (min(numbers) >= -(2**63) and max(numbers) < 2**64):
            return False
        if not all(map(isfinite, [value for value in level if type(value) is float])):
            return False
        if not _writable("".join([value for value in level if type(value) is str])):
            return False
        values = chain.from_iterable([value for value in level if type(value) is tuple])
    return not list(values)
