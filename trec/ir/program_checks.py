"""Checks of how rows refer to one another: scopes, the order of the program, what each kind of node is like.

See `trec.ir.row_checks` for what a check is, and why its loops look as they do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.ir.facts import depth, position, repeated
from trec.ir.types import SOURCE_KINDS

if TYPE_CHECKING:
    from trec.ir.facts import Facts, Fault

LINKS = frozenset({"pass", "update", "alias", "tensor", "either"})
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


def one_root(facts: Facts) -> Fault:
    scopes = facts.graph.scopes
    if not scopes:
        return "scopes", 0, "is missing"
    root = scopes[0]
    if (root.parent, root.depth, root.path) != (-1, 0, ""):
        found = f"parent {root.parent}, depth {root.depth}, path {root.path!r}"
        return "scopes", 0, f"has {found}, expected parent -1, depth 0, path ''"
    if root.kind == "function":
        return "scopes", 0, "is a function, expected a module or a region"
    for at, scope in enumerate(scopes):
        if scope.parent < 0 < at:
            return "scopes", at, "is a second root: it has no parent"
    return None


def parents_first(facts: Facts) -> Fault:
    for at, scope in enumerate(facts.graph.scopes):
        if scope.parent >= at:
            return "scopes", at, f"has parent {scope.parent}"
    return None


def scope_names(facts: Facts) -> Fault:
    scopes = facts.graph.scopes
    names = [scope.name for scope in scopes]
    at = repeated(names) if len(set(names)) < len(names) else None
    return None if at is None else ("scopes", at, f"has the name {scopes[at].name!r}, as an earlier one has")


def scope_depths(facts: Facts) -> Fault:
    inside = facts.inside
    for at, scope in enumerate(facts.graph.scopes):
        if at and scope.depth != inside[scope.parent]:
            return "scopes", at, f"has depth {scope.depth}, expected {inside[scope.parent]}"
    return None


def scope_indices(facts: Facts) -> Fault:
    graph = facts.graph
    attrs, sources, values = len(graph.attrs), len(graph.sources), len(graph.values)
    for at, scope in enumerate(graph.scopes):
        if not 0 <= scope.attrs < attrs:
            return "scopes", at, f"has attrs {scope.attrs}, expected 0 to {attrs - 1}"
        if not -1 <= scope.source < sources:
            return "scopes", at, f"has source {scope.source}, expected -1 to {sources - 1}"
        if not 0 <= scope.call < MANY:
            return "scopes", at, f"has call {scope.call}, expected a number from 0"
        if scope.inputs or scope.outputs:
            for what, indices in (("inputs", scope.inputs), ("outputs", scope.outputs)):
                for value in indices:
                    if not 0 <= value < values:
                        return "scopes", at, f"has {what} {value}, expected 0 to {values - 1}"
    return None


def node_indices(facts: Facts) -> Fault:
    graph = facts.graph
    scopes, attrs, sources = len(graph.scopes), len(graph.attrs), len(graph.sources)
    for at, node in enumerate(graph.nodes):
        if not 0 <= node.parent < scopes:
            return "nodes", at, f"has parent {node.parent}, expected 0 to {scopes - 1}"
        if not 0 <= node.attrs < attrs:
            return "nodes", at, f"has attrs {node.attrs}, expected 0 to {attrs - 1}"
        if not -1 <= node.source < sources:
            return "nodes", at, f"has source {node.source}, expected -1 to {sources - 1}"
        if not -1 <= node.scope < scopes:
            return "nodes", at, f"has scope {node.scope}, expected -1 to {scopes - 1}"
    return None


def node_names(facts: Facts) -> Fault:
    nodes = facts.graph.nodes
    if len(facts.names) == len(nodes):
        return None
    at = repeated([node.name for node in nodes])
    return None if at is None else ("nodes", at, f"has the name {nodes[at].name!r}, as an earlier one has")


def shared_names(facts: Facts) -> Fault:
    nodes, scopes = facts.graph.nodes, facts.graph.scopes
    shared = facts.names.intersection([scope.name for scope in scopes])
    if not shared:
        return None
    for at, node in enumerate(nodes):
        if node.name in shared and (node.scope < 0 or scopes[node.scope].name != node.name):
            return "nodes", at, f"has the name {node.name!r}, as a scope has that it does not stand for"
    return None


def value_types(facts: Facts) -> Fault:
    types = len(facts.graph.types)
    if {value.type for value in facts.graph.values}.issubset(range(types)):
        return None
    for at, value in enumerate(facts.graph.values):
        if not 0 <= value.type < types:
            return "values", at, f"has type {value.type}, expected 0 to {types - 1}"
    return None


def one_producer(facts: Facts) -> Fault:
    values = len(facts.graph.values)
    if facts.production == (None, values):
        return None
    produced: set[int] = set()
    for at, node in enumerate(facts.graph.nodes):
        for value in node.outputs:
            if value in produced:
                return "nodes", at, f"produces value {value}, as an earlier one does"
            produced.add(value)
    for value in range(values):
        if value not in produced:
            return "values", value, "is produced by no node"
    return None


def production_order(facts: Facts) -> Fault:
    at, _ = facts.production
    if at is None:
        return None
    before = sum([len(node.outputs) for node in facts.graph.nodes[:at]])
    outputs = facts.graph.nodes[at].outputs
    return "nodes", at, f"produces values {outputs}, expected them to count on from {before}"


def inputs_earlier(facts: Facts) -> Fault:
    produced = 0
    for at, node in enumerate(facts.graph.nodes):
        for value in node.inputs:
            if not 0 <= value < produced:
                return "nodes", at, f"reads value {value}, but before it only the values below {produced} are produced"
        produced += len(node.outputs)
    return None


def node_depths(facts: Facts) -> Fault:
    for at, node in enumerate(facts.graph.nodes):
        expected = depth(node, facts.graph.scopes, facts.inside)
        if node.depth != expected:
            return "nodes", at, f"has depth {node.depth}, expected {expected}"
    return None


def arity(facts: Facts) -> Fault:
    for node in facts.special.values():
        wrong = _wrong_arity(node.kind, len(node.inputs), len(node.outputs))
        if wrong:
            return "nodes", position(facts.graph.nodes, node), wrong
    return None


def _wrong_arity(kind: str, inputs: int, outputs: int) -> str:
    numbers = {"inputs": inputs, "outputs": outputs}
    for what, (least, most) in ARITY.get(kind, {}).items():
        if not least <= numbers[what] <= most:
            expected = least if least == most else f"{least} to {most}" if most < MANY else f"{least} or more"
            return f"is of kind {kind} and has {numbers[what]} {what}, expected {expected}"
    return ""


def own_ops(facts: Facts) -> Fault:
    for node in facts.special.values():
        if node.op != node.kind and node.kind in NAMED_BY_KIND:
            return "nodes", position(facts.graph.nodes, node), f"has op {node.op!r}, expected {node.kind!r}"
    return None


def link_ops(facts: Facts) -> Fault:
    for node in facts.special.values():
        if node.kind == "link" and node.op not in LINKS:
            return (
                "nodes",
                position(facts.graph.nodes, node),
                f"has op {node.op!r}, expected one of: {', '.join(sorted(LINKS))}",
            )
    return None


def places(facts: Facts) -> Fault:
    for node in facts.special.values():
        place, found = facts.places[node.parent], f"is of kind {node.kind} and lies in scope {node.parent}"
        if node.kind in AT_ROOT and place != "top":
            return "nodes", position(facts.graph.nodes, node), f"{found}, expected the root"
        if node.kind in IN_MODULES and place == "other":
            return "nodes", position(facts.graph.nodes, node), f"{found}, expected a module or a loop"
    return None


def collapsed_kinds(facts: Facts) -> Fault:
    scopes = facts.graph.scopes
    for node in facts.special.values():
        if node.scope < 0:
            if node.kind == "module":
                return "nodes", position(facts.graph.nodes, node), "is of kind module and stands for no scope"
            continue
        scope = scopes[node.scope]
        if scope.kind not in STANDS_FOR.get(node.kind, ()) and not (node.scope == 0 and node.kind == "module"):
            found = f"is of kind {node.kind} and stands for a scope of kind {scope.kind}"
            return "nodes", position(facts.graph.nodes, node), found
        if node.parent != max(scope.parent, 0):
            found = f"has parent {node.parent}, expected {max(scope.parent, 0)}, the parent of its scope"
            return "nodes", position(facts.graph.nodes, node), found
    return None


def collapsed_holds_nothing(facts: Facts) -> Fault:
    nodes, scopes = facts.graph.nodes, facts.graph.scopes
    if all(node.scope <= 0 for node in facts.special.values()):
        return None
    closed = {node.scope for node in nodes} - {-1, 0}
    for at, scope in enumerate(scopes):
        if scope.parent in closed:
            return "scopes", at, f"lies in scope {scope.parent}, which is collapsed"
    for at, node in enumerate(nodes):
        if node.parent in closed:
            return "nodes", at, f"lies in scope {node.parent}, which is collapsed"
    return None


def derivatives(facts: Facts) -> Fault:
    nodes = facts.graph.nodes
    again = repeated(facts.graph.derivatives)
    if again is not None:
        return "derivatives", again, "repeats an earlier row"
    for at, row in enumerate(facts.graph.derivatives):
        if not 0 <= row.node < len(nodes):
            return "derivatives", at, f"has node {row.node}, expected 0 to {len(nodes) - 1}"
        if not 0 <= row.forward < row.node:
            return "derivatives", at, f"has forward {row.forward}, expected a node before {row.node}"
        if facts.graph.phase_of(nodes[row.node]) == "forward":
            return "derivatives", at, f"has node {row.node}, which belongs to the forward pass"
    return None


def carried(facts: Facts) -> Fault:
    nodes, values, scopes = facts.graph.nodes, len(facts.graph.values), len(facts.graph.scopes)
    at = repeated(facts.graph.carried)
    if at is not None:
        return "carried", at, "repeats an earlier row"
    for at, edge in enumerate(facts.graph.carried):
        if not 0 <= edge.value < values:
            return "carried", at, f"has value {edge.value}, expected 0 to {values - 1}"
        if not 0 <= edge.node < len(nodes):
            return "carried", at, f"has node {edge.node}, expected 0 to {len(nodes) - 1}"
        if not -1 <= edge.port < len(nodes[edge.node].inputs):
            inputs = len(nodes[edge.node].inputs)
            return "carried", at, f"has port {edge.port}, but node {edge.node} has {inputs} inputs"
        if not -1 <= edge.loop < scopes:
            return "carried", at, f"has loop {edge.loop}, expected -1 to {scopes - 1}"
    return None
