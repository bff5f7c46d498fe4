from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import networkx
import pytest
from hypothesis import given

from tests.backends.samples import HOSTILE, aten, marks, named, sample
from tests.conftest import collapsed, hostile, twice
from tests.strategies import any_graph
from trec.backends.networkx import to_networkx
from trec.errors import DependencyError
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from trec.ir.graph import Graph

ALWAYS = {"kind", "name", "op", "level", "depth", "parent", "scope", "path"}
ON_EDGES = {"value", "tensor_shape", "dtype", "device", "source_port", "target_port"}
IN_SCOPES = {"id", "kind", "name", "path", "cls", "call", "depth"}
PLAIN = (str, int, float, bool)


def test_the_contract_on_a_sample() -> None:
    network = to_networkx(sample())
    assert type(network) is networkx.MultiDiGraph
    assert list(network) == list(range(12 + 1))
    assert network.graph["name"] == "SampleNet"
    assert network.graph["scopes"][:2] == [
        {"id": 0, "kind": "module", "name": "SampleNet", "path": "", "cls": "SampleNet", "call": 0, "depth": 0},
        {
            "id": 1,
            "kind": "module",
            "name": "linear_1",
            "path": "linear_1",
            "cls": "Linear",
            "call": 0,
            "depth": 1,
            "parent": 0,
        },
    ]
    nodes = network.nodes
    assert nodes[0] == {
        "kind": "input",
        "name": "x",
        "op": "input",
        "level": "function",
        "depth": 1,
        "parent": 0,
        "scope": 0,
        "path": "",
        "index": 0,
        "tensor_shape": "1x3",
        "dtype": "float32",
        "device": "cpu",
    }
    assert nodes[1]["qualname"] == "linear_1.weight"
    assert (nodes[3]["op"], nodes[3]["depth"], nodes[3]["path"], nodes[3]["code"]) == (
        "linear",
        2,
        "linear_1",
        "net.py:7",
    )
    assert nodes[12]["index"] == 0
    assert nodes[12]["tensor_shape"] == "1x1"
    assert network.get_edge_data(0, 3) == {
        0: {
            "value": "x",
            "tensor_shape": "1x3",
            "dtype": "float32",
            "device": "cpu",
            "source_port": 0,
            "target_port": 0,
        }
    }


def test_levels_ports_and_odd_shapes() -> None:
    operators = to_networkx(aten())
    assert {row["level"] for _, row in operators.nodes(data=True) if row["kind"] == "op"} == {"aten"}
    assert [row["aliases"] for _, row in operators.nodes(data=True) if row["kind"] == "param"] == ["tied.w"]
    network = to_networkx(twice())
    names = {row["name"]: index for index, row in network.nodes(data=True)}
    topk, item = names["topk"], names["item"]
    assert "tensor_shape" not in network.nodes[topk]
    assert network.get_edge_data(topk, item)[0]["source_port"] == 1
    assert network.nodes[names["x"]]["tensor_shape"] == "4xs0"
    assert network.nodes[names["scale"]]["tensor_shape"] == ""
    assert network.nodes[topk]["arg_mode"] == "max"


def test_a_collapsed_call_has_its_own_scope_and_path() -> None:
    network = to_networkx(collapsed())
    (body,) = [row for _, row in network.nodes(data=True) if row["kind"] == "module"]
    assert (body["op"], body["level"], body["path"], body["parent"], body["depth"]) == ("Body", "module", "body", 0, 1)
    assert network.graph["scopes"][body["scope"]]["path"] == "body"
    assert (body["ops"], body["params"], body["param_bytes"]) == (7, 1200, 4800)
    assert network.number_of_edges(0, 1) == 2


def test_no_x_in_the_name_of_a_size() -> None:
    builder = GraphBuilder("Symbolic")
    builder.scope("module", path="", cls="Symbolic")
    builder.node("input", parent=0, name="x", results=[builder.tensor_type(("max", 3, "?"), "float32")])
    assert to_networkx(builder.build()).nodes[0]["tensor_shape"] == "ma_x3x?"


def test_carried_edges() -> None:
    assert not any("carried" in row for _, _, row in to_networkx(marks()).edges(data=True))
    (edge,) = [row for _, _, row in to_networkx(marks(), carried=True).edges(data=True) if "carried" in row]
    assert edge["carried"] is True
    assert edge.keys() == ON_EDGES | {"carried"}


@given(any_graph())
def test_a_simple_view_has_each_pair_once_and_counts_uses(graph: Graph) -> None:
    simple, multi = to_networkx(graph, simple=True, carried=True), to_networkx(graph, carried=True)
    assert type(simple) is networkx.DiGraph
    assert list(simple.nodes(data=True)) == list(multi.nodes(data=True))
    for source, target, row in simple.edges(data=True):
        uses = list(multi.get_edge_data(source, target).values())
        assert row["count"] == len(uses)
        assert row.get("carried", False) is any("carried" in use for use in uses)
        assert row["value"] == uses[0]["value"]
    assert sum(row["count"] for *_, row in simple.edges(data=True)) == multi.number_of_edges()


def test_scopes_may_be_left_out() -> None:
    assert to_networkx(sample(), scopes=False).graph == {"name": "SampleNet"}


@given(any_graph())
def test_the_contract_on_any_graph(graph: Graph) -> None:
    network = to_networkx(graph)
    assert list(network) == list(range(len(graph.nodes)))
    assert network.number_of_edges() == sum(len(node.inputs) for node in graph.nodes)
    found = sorted((source, target, row["target_port"]) for source, target, row in network.edges(data=True))
    assert found == sorted(
        (graph.producers[value], index, port)
        for index, node in enumerate(graph.nodes)
        for port, value in enumerate(node.inputs)
    )
    assert networkx.is_directed_acyclic_graph(network)
    for _, row in network.nodes(data=True):
        assert row.keys() >= ALWAYS
        assert all(type(value) in PLAIN for value in row.values())
    for _, _, row in network.edges(data=True):
        assert row.keys() == ON_EDGES
        assert all(type(value) in PLAIN for value in row.values())
    for row in network.graph["scopes"]:
        assert row.keys() - {"parent", "phase"} == IN_SCOPES
        assert all(type(value) in PLAIN for value in row.values())


@given(any_graph())
def test_gexf_and_graphml_hold_any_graph(graph: Graph) -> None:
    network = to_networkx(graph, scopes=False, carried=True)
    for write, read in (
        (networkx.write_gexf, networkx.read_gexf),
        (networkx.write_graphml, networkx.read_graphml),
    ):
        stream = io.BytesIO()
        write(network, stream)
        if len(network):
            stream.seek(0)
            again = read(stream)
            assert len(again) == len(network)
            assert again.number_of_edges() == network.number_of_edges()


def _names(network: networkx.Graph[int]) -> dict[int, str]:
    rows = network.nodes(data=True)
    return {index: row.get("name", "").replace("\r\n", "\n").replace("\r", "\n") for index, row in rows}


@pytest.mark.parametrize("graph", [hostile(), *map(named, HOSTILE)], ids=lambda graph: ascii(graph.name)[:20])
def test_gexf_and_graphml_hold_any_name(graph: Graph) -> None:
    network = to_networkx(graph, scopes=False)
    networkx.write_gexf(network, io.BytesIO())
    stream = io.BytesIO()
    networkx.write_graphml(network, stream)
    stream.seek(0)
    again = networkx.read_graphml(stream, node_type=int, force_multigraph=True)
    # Whether a carriage return survives depends on the writer of XML that networkx finds.
    assert _names(again) == _names(network)


def test_without_the_library_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(DependencyError, match="pip install networkx"):
        to_networkx(sample())
