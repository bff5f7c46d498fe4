from __future__ import annotations

import io
from typing import TYPE_CHECKING

import networkx
import pytest
from hypothesis import given

from tests.backends.samples import every, marks, sample
from tests.conftest import twice
from tests.strategies import any_graph
from trec.backends.escape import printable
from trec.backends.graphml import to_graphml

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph


def parse(text: str) -> networkx.MultiDiGraph[int]:
    found = networkx.read_graphml(io.BytesIO(text.encode()), node_type=int, force_multigraph=True)
    assert isinstance(found, networkx.MultiDiGraph)
    return found


def check(graph: Graph) -> None:
    """Hold what networkx reads to its own view of the graph."""
    found, own = parse(to_graphml(graph)), graph.to_networkx(carried=True)
    assert found.graph.get("name") or printable(graph.name) == ""
    assert list(found) == list(own)
    for index, row in own.nodes(data=True):
        scope = printable(graph.scopes[row.pop("scope")].name)
        wanted = {**row, "node_kind": row["kind"], "scope": scope}
        del wanted["kind"], wanted["parent"]
        # An empty element is read as None.
        assert {key: "" if value is None else value for key, value in found.nodes[index].items()} == wanted
    assert found.number_of_edges() == own.number_of_edges()


@given(any_graph())
def test_networkx_reads_what_it_would_be_given(graph: Graph) -> None:
    check(graph)


@pytest.mark.parametrize("graph", every(), ids=lambda graph: ascii(graph.name)[:20])
def test_networkx_reads_graphs_of_all_kinds(graph: Graph) -> None:
    check(graph)


def test_edges_tell_what_flows_along_them() -> None:
    (edge,) = parse(to_graphml(sample())).get_edge_data(0, 3).values()
    expected = {"value": "x", "tensor_shape": "1x3", "dtype": "float32", "device": "cpu"}
    assert edge == {**expected, "source_port": 0, "target_port": 0}
    assert [row["carried"] for *_, row in parse(to_graphml(marks())).edges(data=True) if "carried" in row] == [True]


def test_igraph_reads_it(tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph")
    for graph in (twice(), marks()):
        to_graphml(graph, tmp_path / "net.graphml")
        found = igraph.Graph.Read_GraphML(str(tmp_path / "net.graphml"))
        assert found.is_directed()
        assert found.vs["name"] == [row.name for row in graph.nodes]
        assert found.ecount() == sum(len(row.inputs) for row in graph.nodes) + len(graph.carried)


def test_what_is_written_is_the_text(tmp_path: Path) -> None:
    path = tmp_path / "net.graphml"
    sample().write(path)
    assert path.read_text(encoding="utf-8") == to_graphml(sample())
