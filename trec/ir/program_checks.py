"""Checks of how rows refer to one another: scopes, the order of the program, what each kind of node is like.

See `trec.ir.row_checks` for what a check is.
"""

from __future__ import annotations

from itertools import accumulate, chain, compress, count
from operator import ge, lt, ne
from typing import TYPE_CHECKING, Any

from trec.ir.columns import first, outside, owner, repeated
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trec.ir.columns import Columns, Fault

LINKS = frozenset({"pass", "update", "alias"})
NAMED_BY_KIND = frozenset({*SOURCE_KINDS, "output"})
AT_ROOT = frozenset({"input", "output"})
IN_MODULES = frozenset({"param", "buffer"})
STANDS_FOR = {"module": {"module"}, "op": {"function"}, "region": {"region", "function", "module"}}
"""For each kind of node that can stand for a scope, the kinds of that scope; the root may be of any kind."""

MANY = 2**63
ARITY: dict[str, dict[str, tuple[int, int]]] = {
    "input": {"inputs": (0, 0), "outputs": (1, 1)},
    "param": {"inputs": (0, 1), "outputs": (1, 1)},
    "buffer": {"inputs": (0, 1), "outputs": (1, 1)},
    "constant": {"inputs": (0, 0), "outputs": (1, 1)},
    "link": {"inputs": (1, MANY), "outputs": (1, MANY)},
    "output": {"inputs": (1, 1), "outputs": (0, 0)},
}
"""For each kind of node that is bound to one, the least and the greatest number of inputs and of outputs."""


def one_root(columns: Columns) -> Fault:
    scopes = columns.graph.scopes
    if not scopes:
        return "scopes", 0, "is missing"
    root = scopes[0]
    if (root.parent, root.depth, root.path) != (-1, 0, ""):
        found = f"parent {root.parent}, depth {root.depth}, path {root.path!r}"
        return "scopes", 0, f"has {found}, expected parent -1, depth 0, path ''"
    if root.kind == "function":
        return "scopes", 0, "is a function, expected a module or a region"
    at = first(map((0).__gt__, columns.scope("parent")[1:]))
    return None if at is None else ("scopes", at + 1, "is a second root: it has no parent")


def parents_first(columns: Columns) -> Fault:
    parents = columns.scope("parent")
    at = first(map(ge, parents, count()))
    return None if at is None else ("scopes", at, f"has parent {parents[at]}")


def scope_names(columns: Columns) -> Fault:
    return _named_twice(columns, "scopes")


def scope_depths(columns: Columns) -> Fault:
    depths = columns.scope("depth")
    expected = [0, *map(columns.inside.__getitem__, columns.scope("parent")[1:])]
    at = None if depths == expected else first(map(ne, depths, expected))
    return None if at is None else ("scopes", at, f"has depth {depths[at]}, expected {expected[at]}")


def scope_indices(columns: Columns) -> Fault:
    graph = columns.graph
    bounds = {"call": (0, 2**63), "attrs": (0, len(graph.attrs)), "source": (-1, len(graph.sources))}
    return _out_of_range(columns, "scopes", bounds) or _values_out_of_range(columns)


def node_indices(columns: Columns) -> Fault:
    graph = columns.graph
    scopes = len(graph.scopes)
    bounds = {
        "parent": (0, scopes),
        "attrs": (0, len(graph.attrs)),
        "source": (-1, len(graph.sources)),
        "scope": (-1, scopes),
    }
    return _out_of_range(columns, "nodes", bounds)


def value_types(columns: Columns) -> Fault:
    return _out_of_range(columns, "values", {"type": (0, len(columns.graph.types))})


def node_names(columns: Columns) -> Fault:
    if len(columns.node_names) == len(columns.graph.nodes):
        return None
    return _named_twice(columns, "nodes")


def shared_names(columns: Columns) -> Fault:
    nodes, scopes = columns.graph.nodes, columns.graph.scopes
    shared = columns.node_names.intersection(columns.scope("name"))
    if not shared:
        return None
    for at, name in enumerate(columns.node("name")):
        if name in shared and (nodes[at].scope < 0 or scopes[nodes[at].scope].name != name):
            return "nodes", at, f"has the name {name!r}, as a scope has that it does not stand for"
    return None


def one_producer(columns: Columns) -> Fault:
    if columns.in_order:
        return None
    writes = columns.writes
    at = repeated(writes)
    if at is not None:
        return "nodes", owner(columns.node("outputs"), at), f"produces value {writes[at]}, as an earlier one does"
    written = set(writes)
    missing = first([value not in written for value in range(len(columns.graph.values))])
    return None if missing is None else ("values", missing, "is produced by no node")


def production_order(columns: Columns) -> Fault:
    if columns.in_order:
        return None
    writes, outputs = columns.writes, columns.node("outputs")
    at = first(map(ne, writes, count()))
    if at is None:
        at = len(columns.graph.values)
        return "nodes", owner(outputs, at), f"produces value {writes[at]}, but the last value is {at - 1}"
    return "nodes", owner(outputs, at), f"produces value {writes[at]}, expected {at}"


def inputs_earlier(columns: Columns) -> Fault:
    inputs = columns.node("inputs")
    produced = list(map(len, columns.node("outputs")))
    greatest = map(max, filter(None, inputs))
    if (
        all(map(lt, greatest, compress(accumulate(produced, initial=0), inputs)))
        and min(chain.from_iterable(inputs), default=0) >= 0
    ):
        return None
    for at, (values, bound) in enumerate(zip(inputs, accumulate(produced, initial=0), strict=False)):
        for value in values:
            if not 0 <= value < bound:
                return "nodes", at, f"reads value {value}, but before it only the values below {bound} are produced"
    return None


def node_depths(columns: Columns) -> Fault:
    depths = columns.node("depth")
    expected = list(map(columns.inside.__getitem__, columns.node("parent")))
    if depths == expected:
        return None
    scopes, own = columns.node("scope"), columns.scope("depth")
    expected = [own[scope] if scope >= 0 else depth for scope, depth in zip(scopes, expected, strict=True)]
    at = first(map(ne, depths, expected))
    return None if at is None else ("nodes", at, f"has depth {depths[at]}, expected {expected[at]}")


def arity(columns: Columns) -> Fault:
    nodes = columns.graph.nodes
    for at in columns.special:
        node = nodes[at]
        for what, (least, most) in ARITY.get(node.kind, {}).items():
            number = len(getattr(node, what))
            if not least <= number <= most:
                expected = least if least == most else f"{least} to {most}" if most < MANY else f"{least} or more"
                return "nodes", at, f"is of kind {node.kind} and has {number} {what}, expected {expected}"
    return None


def own_ops(columns: Columns) -> Fault:
    nodes = columns.graph.nodes
    for at in columns.special:
        node = nodes[at]
        if node.op != node.kind and node.kind in NAMED_BY_KIND:
            return "nodes", at, f"has op {node.op!r}, expected {node.kind!r}"
    return None


def link_ops(columns: Columns) -> Fault:
    nodes = columns.graph.nodes
    for at in columns.special:
        if nodes[at].kind == "link" and nodes[at].op not in LINKS:
            return "nodes", at, f"has op {nodes[at].op!r}, expected one of: {', '.join(sorted(LINKS))}"
    return None


def places(columns: Columns) -> Fault:
    nodes, scopes = columns.graph.nodes, columns.graph.scopes
    for at in columns.special:
        node = nodes[at]
        if node.parent == 0:
            continue
        if node.kind in AT_ROOT:
            return "nodes", at, f"is of kind {node.kind} and lies in scope {node.parent}, expected the root"
        if node.kind in IN_MODULES and scopes[node.parent].kind != "module":
            return "nodes", at, f"is of kind {node.kind} and lies in scope {node.parent}, expected a module"
    return None


def collapsed_kinds(columns: Columns) -> Fault:
    nodes, scopes = columns.graph.nodes, columns.graph.scopes
    for at in columns.special:
        node = nodes[at]
        if node.scope < 0:
            if node.kind == "module":
                return "nodes", at, "is of kind module and stands for no scope"
            continue
        scope = scopes[node.scope]
        if scope.kind not in STANDS_FOR.get(node.kind, ()) and not (node.scope == 0 and node.kind == "module"):
            return "nodes", at, f"is of kind {node.kind} and stands for a scope of kind {scope.kind}"
        if node.parent != max(scope.parent, 0):
            return "nodes", at, f"has parent {node.parent}, expected {max(scope.parent, 0)}, the parent of its scope"
    return None


def collapsed_holds_nothing(columns: Columns) -> Fault:
    closed = set(columns.node("scope")) - {-1, 0}
    for table in ("scopes", "nodes"):
        parents = columns.column(table, "parent")
        if not closed.isdisjoint(parents):
            at = first([parent in closed for parent in parents])
            if at is not None:
                return table, at, f"lies in scope {parents[at]}, which is collapsed"
    return None


def carried(columns: Columns) -> Fault:
    graph = columns.graph
    bounds = {"value": (0, len(graph.values)), "node": (0, len(graph.nodes))}
    fault = _out_of_range(columns, "carried", bounds)
    if fault is not None:
        return fault
    for index, edge in enumerate(graph.carried):
        ports = len(graph.nodes[edge.node].inputs)
        if not 0 <= edge.port < ports:
            return "carried", index, f"has port {edge.port}, but node {edge.node} has {ports} inputs"
    return None


def _named_twice(columns: Columns, table: str) -> Fault:
    names = columns.column(table, "name")
    at = repeated(names)
    return None if at is None else (table, at, f"has the name {names[at]!r}, as row {names.index(names[at])} has")


def _out_of_range(columns: Columns, table: str, bounds: dict[str, tuple[int, int]]) -> Fault:
    for field, (low, high) in bounds.items():
        column = columns.column(table, field)
        at = outside(column, low, high)
        if at is not None:
            return table, at, f"has {field} {column[at]}, expected {low} to {high - 1}"
    return None


def _values_out_of_range(columns: Columns) -> Fault:
    values = len(columns.graph.values)
    for field in ("inputs", "outputs"):
        column: Sequence[Sequence[int]] = columns.scope(field)
        flat: list[Any] = list(chain.from_iterable(column))
        at = outside(flat, 0, values)
        if at is not None:
            return "scopes", owner(column, at), f"has {field} {flat[at]}, expected 0 to {values - 1}"
    return None
