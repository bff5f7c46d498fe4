"""Take one run out of a graph of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.errors import OptionError
from trec.ir.derivation import derived
from trec.ir.rewrite import with_nodes
from trec.ir.run_marks import EITHER, MADE_IN, READ_IN, RUNS, ports, run_names, runs_of, without_runs
from trec.ir.tables import Table

if TYPE_CHECKING:
    from trec.ir.graph import Graph
    from trec.ir.types import Node


def run(graph: Graph, which: int | str) -> Graph:
    """Return what ran in one of the runs that a graph is of, as `trec.union` joined them.

    Args:
        graph: a graph of several runs.
        which: the name of a run, or its position.

    Raises:
        OptionError: there is no such run.

    Ensures:
        It is the graph of that run, but for alternatives, which stay: sizes and arguments that differ between runs.
    """
    index = _position(graph, which)
    rows = Table(graph.attrs)
    plain = [rows.add(without_runs(row)) for row in graph.attrs]
    stands: dict[int, int] = {}
    nodes: list[Node] = []
    for node in graph.nodes:
        if index not in runs_of(graph, node):
            continue
        read, made = ports(graph, node, READ_IN), ports(graph, node, MADE_IN)
        inputs = [value for port, value in enumerate(node.inputs) if index in read.get(port, (index,))]
        inputs = [stands.get(value, value) for value in inputs]
        outputs = [value for port, value in enumerate(node.outputs) if index in made.get(port, (index,))]
        if node.kind == "link" and node.op == EITHER:
            stands[outputs[0]] = inputs[0]
        else:
            nodes.append(replace(node, inputs=tuple(inputs), outputs=tuple(outputs), attrs=plain[node.attrs]))
    scopes = [at for at, scope in enumerate(graph.scopes) if index in runs_of(graph, scope)]
    changed = tuple([replace(scope, attrs=plain[scope.attrs]) for scope in graph.scopes])
    meta = tuple([pair for pair in graph.meta if pair[0] != RUNS])
    bare = replace(graph, scopes=changed, attrs=tuple(rows), meta=meta)
    place = {node.name: at for at, node in enumerate(nodes)}
    carried = [
        replace(edge, value=stands.get(edge.value, edge.value), node=place[name])
        for edge in graph.carried
        if (name := graph.nodes[edge.node].name) in place
    ]
    return derived(with_nodes(bare, nodes, scopes=scopes, attrs=bare.attrs, carried=carried), graph)


def _position(graph: Graph, which: int | str) -> int:
    names = run_names(graph)
    if not names:
        raise OptionError("this graph is not of several runs: expected one that trec.union made")
    if isinstance(which, str) and which in names:
        return names.index(which)
    if isinstance(which, int) and not isinstance(which, bool) and -len(names) <= which < len(names):
        return which % len(names)
    raise OptionError(f"which={which!r} is no run: expected one of {', '.join(names)}, or 0 to {len(names) - 1}")
