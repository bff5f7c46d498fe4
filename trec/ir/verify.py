"""The invariants of the IR, and what a graph that breaks one is answered with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.errors import VerifyError
from trec.ir import program_checks as program
from trec.ir import row_checks as rows
from trec.ir import text
from trec.ir.facts import Facts
from trec.ir.sweep import SWEPT, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from trec.ir.facts import Fault
    from trec.ir.graph import Graph
    from trec.ir.types import Node

CHECKS: dict[str, tuple[str, Callable[[Facts], Fault]]] = {
    "tables": ("every table is a tuple of rows of its own type", rows.tables),
    "fields": ("every field is of its declared type", rows.fields),
    "text": ("all text can be written as UTF-8", rows.text),
    "kinds": ("nodes and scopes are of declared kinds, scopes of declared phases", rows.kinds),
    "shapes": ("sizes are ints from 0, or names", rows.shapes),
    "lines": ("lines of source code count from 1", rows.lines_from_one),
    "empty-row": ("the first row of attributes is the empty one", rows.empty_row),
    "attr-rows": ("a row of attributes holds pairs of a name and a value", rows.attr_rows),
    "attr-values": ("attributes are scalars or tuples of them, as `trec.ir.types.Attr` says", rows.attr_values),
    "attr-names": ("no row of attributes has a name twice", rows.attr_names),
    "rows-once": ("types, attributes and sources are stored once", rows.rows_once),
    "one-root": ("the first scope is the root, and no other is", program.one_root),
    "scope-parents": ("a scope comes after the scope that it lies in", program.parents_first),
    "scope-names": ("no two scopes have one name", program.scope_names),
    "scope-depths": ("the depth of a scope is the number of modules around it", program.scope_depths),
    "scope-indices": ("what a scope refers to exists", program.scope_indices),
    "node-indices": ("the scopes, attributes and sources that a node refers to exist", program.node_indices),
    "node-names": ("no two nodes have one name", program.node_names),
    "shared-names": ("a node has the name of a scope only where it stands for it", program.shared_names),
    "value-types": ("the type that a value refers to exists", program.value_types),
    "one-producer": ("each value has one producer", program.one_producer),
    "production-order": ("values are numbered in the order of their production", program.production_order),
    "inputs-earlier": ("a node reads what earlier nodes produce", program.inputs_earlier),
    "node-depths": ("a node lies one deeper than the innermost module around it", program.node_depths),
    "arity": ("inputs, parameters, constants, links and outputs read and produce what they should", program.arity),
    "own-ops": ("the op of what brings values in or out is its kind", program.own_ops),
    "link-ops": ("a link is one of those that exist", program.link_ops),
    "places": ("inputs and outputs lie in the root or a rank's part, parameters in these or a module", program.places),
    "collapsed-kinds": ("a collapsed node is of the kind of its scope, and lies in its place", program.collapsed_kinds),
    "collapsed-inside": ("nothing lies in a scope that is collapsed", program.collapsed_holds_nothing),
    "carried": ("what a carried row refers to exists, and no row is there twice", program.carried),
    "derivatives": (
        "what an operator of a backward pass differentiates ran before it, and no row is there twice",
        program.derivatives,
    ),
}
"""Every invariant by name: what it says, and the check, which may rely on those above it."""

DECODED = ("tables", "fields", "text", "kinds", "attr-rows")
"""What the decoder of a file has checked already."""


def verify(graph: Graph) -> None:
    """Check every invariant of the IR; `CHECKS` names them.

    Raises:
        VerifyError: an invariant is broken. The message has its name, the faulty row and the program around it.

    Example:
        >>> from msgspec.structs import replace
        >>> from trec.ir.builder import GraphBuilder
        >>> builder = GraphBuilder("Net")
        >>> _ = builder.scope("module", path="", cls="Net")
        >>> verify(replace(builder.build(), attrs=()))
        Traceback (most recent call last):
        trec.errors.VerifyError: Net breaks the invariant `empty-row`: the first row of attributes is the empty one
        attrs[0] is missing
    """
    check(graph, CHECKS)


def check(graph: Graph, names: Iterable[str]) -> None:
    """Check some invariants of the IR, by name, in their order in `CHECKS`; raise as `verify` does."""
    facts = Facts(graph)
    is_sound: bool | None = None
    for name in names:
        if name in SWEPT:
            is_sound = sweep(facts) if is_sound is None else is_sound
            if is_sound:
                continue
        statement, find = CHECKS[name]
        fault = find(facts)
        if fault is not None:
            table, row, what = fault
            head = f"{text.clipped(text.word(str(graph.name)))} breaks the invariant `{name}`: {statement}"
            shown = text.window(graph, _near(graph, table, row))
            raise VerifyError("\n".join(filter(None, [head, f"{table}[{row}] {text.clipped(what)}", shown])))


def _near(graph: Graph, table: str, row: int) -> int:
    """Return the index of the node in whose surroundings a faulty row shows."""
    uses: dict[str, Callable[[int, Node], bool]] = {
        "nodes": lambda index, _: index == row,
        "values": lambda _, node: row in node.outputs,
        "scopes": lambda _, node: row in (node.parent, node.scope),
        "types": lambda _, node: any(graph.values[value].type == row for value in node.outputs),
        "attrs": lambda _, node: node.attrs == row,
        "sources": lambda _, node: node.source == row,
        "carried": lambda index, _: index == graph.carried[row].node,
        "derivatives": lambda index, _: index == graph.derivatives[row].node,
    }
    try:
        uses_row = uses[table]
        return next(index for index, node in enumerate(graph.nodes) if uses_row(index, node))
    except (AttributeError, LookupError, StopIteration, TypeError):  # no node uses it, or more is broken
        return 0
