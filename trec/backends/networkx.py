"""Make a graph of networkx, in plain values that every writer of networkx takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, overload

from trec.backends.escape import printable
from trec.backends.plain import Attributes, Plain
from trec.errors import DependencyError
from trec.ir.collector import paused

if TYPE_CHECKING:
    import networkx

    from trec.ir.graph import Graph


@overload
def to_networkx(
    graph: Graph, *, scopes: bool = True, carried: bool = False, simple: Literal[False] = False
) -> networkx.MultiDiGraph[int]: ...
@overload
def to_networkx(graph: Graph, *, scopes: bool = True, carried: bool = False, simple: bool) -> networkx.DiGraph[int]: ...
@paused()
def to_networkx(
    graph: Graph, *, scopes: bool = True, carried: bool = False, simple: bool = False
) -> networkx.DiGraph[int]:
    """Return the graph for networkx: one node per node, one edge per use, plain values only.

    Args:
        graph: what to hand over.
        scopes: whether the scopes are a graph attribute; without it `networkx.write_gexf` and `write_graphml` take
            the result.
        carried: whether the edges that a loop carries to its next iteration are added.
        simple: whether all uses between the same two nodes are one edge of a `networkx.DiGraph`, which tells the first
            of them and, as `count`, how many there are. Otherwise the result is a `networkx.MultiDiGraph`.

    Raises:
        DependencyError: the package `networkx` is not installed.

    Cost: linear, but some kB for each node.
    """
    try:
        import networkx
    except ImportError as error:
        raise DependencyError("to_networkx() needs the package networkx: pip install networkx") from error

    plain = Plain(graph)
    network: networkx.DiGraph[int] = networkx.DiGraph() if simple else networkx.MultiDiGraph()
    network.graph["name"] = printable(graph.name)
    if scopes:
        network.graph["scopes"] = _scopes(graph)
    network.add_nodes_from([(index, plain.node(node)) for index, node in enumerate(graph.nodes)])
    uses = plain.uses(carried=carried)
    if not simple:
        network.add_edges_from([(use[0], use[1], plain.use(use)) for use in uses])
        return network
    merged: dict[tuple[int, int], Attributes] = {}
    for use in uses:
        row = merged.get(use[:2])
        if row is None:
            merged[use[:2]] = {**plain.use(use), "count": 1}
        else:
            row["count"] += 1
            if use[5]:
                row["carried"] = True
    network.add_edges_from([(*pair, row) for pair, row in merged.items()])
    return network


def _scopes(graph: Graph) -> list[Attributes]:
    rows: list[Attributes] = []
    for index, scope in enumerate(graph.scopes):
        row = {
            "id": index,
            "kind": scope.kind,
            "name": scope.name,  # as it is: the list of scopes is for programs, and no writer of networkx takes it
            "path": scope.path,
            "cls": scope.cls,
            "call": scope.call,
            "depth": scope.depth,
        }
        if len(graph.phases) > 1:
            row["phase"] = scope.phase
        if scope.parent >= 0:
            row["parent"] = scope.parent
        rows.append(row)
    return rows
