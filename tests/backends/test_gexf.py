from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any

import networkx
import pytest
from hypothesis import given

from tests.backends import node
from tests.backends.samples import aten, blocks, every, marks, named, sample
from tests.conftest import empty
from tests.strategies import any_graph
from trec.backends.escape import printable
from trec.backends.gexf import lines, to_gexf

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

SPACE = "{http://gexf.net/1.3}"
VIZ = "{http://gexf.net/1.3/viz}"
TAKEN = {"id", "label", "x", "y", "z", "size", "color", "weight", "kind", "shape", "thickness"}
"""Titles that readers take for something of their own."""
CONTROLS = "".join(map(chr, range(32))) + "\x7f\x85\u2028\ud800\ufffe\uffff"


def parse(text: str) -> networkx.MultiDiGraph[str]:
    network = networkx.read_gexf(io.BytesIO(text.encode()), version="1.3")
    return networkx.MultiDiGraph(network)


def check_structure(text: str) -> None:
    """Hold a file to what its schema says of the order, the types and the references of what is in it."""
    root = ElementTree.fromstring(text)
    assert (root.tag, root.attrib) == (f"{SPACE}gexf", {"version": "1.3"})
    assert [child.tag for child in root] == [f"{SPACE}meta", f"{SPACE}graph"]
    *attributes, nodes, edges = root[1]
    declared = {}
    for columns in attributes:
        assert columns.tag == f"{SPACE}attributes"
        rows = [column.attrib for column in columns]
        assert [row["id"] for row in rows] == [str(index) for index in range(len(rows))]
        assert {row["type"] for row in rows} <= {"string", "integer", "long", "boolean"}
        titles = [row["title"] for row in rows]
        assert len(set(titles)) == len(titles)
        assert not TAKEN & set(titles)
        declared[columns.attrib["class"]] = {row["id"]: row["type"] for row in rows}
    ids = [row.attrib["id"] for row in nodes]
    assert len(set(ids)) == len(ids)
    for kind, rows_ in (("node", nodes), ("edge", edges)):
        for row in rows_:
            assert row.tag == f"{SPACE}{kind}"
            assert {row.attrib.get(key, ids[0]) for key in ("pid", "source", "target")} <= set(ids)
            assert row[0].tag == f"{SPACE}attvalues"
            for value in row[0]:
                type_ = declared[kind][value.attrib["for"]]
                assert type_ == "string" or value.attrib["value"] == "true" or int(value.attrib["value"]) is not None


def uses(graph: Graph) -> int:
    return sum(len(row.inputs) for row in graph.nodes) + len(graph.carried)


def test_the_text_of_a_sample() -> None:
    found = parse(to_gexf(sample()))
    assert found.nodes["3"] == {
        "label": "linear_1.linear",
        "node_kind": "op",
        "op": "linear",
        "level": "function",
        "depth": 2,
        "scope": "linear_1",
        "path": "linear_1",
        "tensor_shape": "1x3",
        "dtype": "float32",
        "device": "cpu",
        "code": "net.py:7",
    }
    (edge,) = found.get_edge_data("0", "3").values()
    del edge["id"]
    expected = {"value": "x", "tensor_shape": "1x3", "dtype": "float32", "device": "cpu"}
    assert edge == {**expected, "source_port": 0, "target_port": 0}


@given(any_graph())
def test_networkx_reads_any_graph(graph: Graph) -> None:
    text = to_gexf(graph)
    check_structure(text)
    if graph.nodes:
        found = parse(text)
        assert [row["label"] for _, row in found.nodes(data=True)] == [printable(row.name) for row in graph.nodes]
        assert found.number_of_edges() == uses(graph)


@pytest.mark.parametrize("graph", every(), ids=lambda graph: ascii(graph.name)[:20])
def test_scopes_and_layout_keep_the_structure(graph: Graph) -> None:
    check_structure(to_gexf(graph, scopes=True, layout=True))


def test_every_control_character_is_replaced_or_kept() -> None:
    label = parse(to_gexf(named(CONTROLS))).nodes["0"]["label"]
    assert label == printable(named(CONTROLS).nodes[0].name)
    assert "\ufffd\t\n\ufffd\ufffd\r\ufffd" in label


def test_a_label_may_be_long() -> None:
    name = "a <b> & 😀 " * 10_000
    assert parse(to_gexf(named(name))).nodes["0"]["label"].startswith(name)


def test_scopes_are_nodes_that_what_they_hold_names() -> None:
    found = parse(to_gexf(sample(), scopes=True))
    assert found.nodes["3"]["pid"] == "s1"
    assert found.nodes["s1"]["pid"] == "s0"
    assert found.nodes["s1"]["node_kind"] == "scope"
    assert "pid" not in found.nodes["s0"]
    assert len(found) == 13 + 5


def test_layout_gives_places_and_colours() -> None:
    root = ElementTree.fromstring(to_gexf(sample(), layout=True))
    places = [(float(row.attrib["x"]), float(row.attrib["y"])) for row in root.iter(f"{VIZ}position")]
    assert len(set(places)) == len(sample().nodes)
    x, output = places[0], places[-1]
    assert x[1] > output[1]
    assert all(0 <= int(row.attrib[part]) <= 255 for row in root.iter(f"{VIZ}color") for part in "rgb")


def test_carried_edges_are_marked() -> None:
    carried = [row for _, _, row in parse(to_gexf(marks())).edges(data=True) if row.get("carried")]
    assert len(carried) == 1


def test_an_empty_graph() -> None:
    check_structure(to_gexf(empty()))


def test_what_is_written_is_the_text_and_streamed(tmp_path: Path) -> None:
    path = tmp_path / "net.gexf"
    path.write_text("before", encoding="utf-8")
    assert to_gexf(aten(), path) == path.read_text(encoding="utf-8")
    blocks(2).write(path, scopes=True)
    assert path.read_text(encoding="utf-8") == to_gexf(blocks(2), scopes=True)
    assert next(lines(blocks(2))).startswith("<?xml")


@pytest.mark.node
def test_graphology_reads_the_same(tmp_path: Path) -> None:
    graphs = every()
    files = [tmp_path / f"{index}.gexf" for index in range(len(graphs))]
    for graph, path in zip(graphs, files, strict=True):
        to_gexf(graph, path, layout=True)
    for graph, found in zip(graphs, node.read("gexf", files), strict=True):
        rows: list[tuple[str, dict[str, Any]]] = found["nodes"]
        assert [(key, row.get("label", "")) for key, row in rows] == [
            (str(index), printable(row.name)) for index, row in enumerate(graph.nodes)
        ]
        assert len(found["edges"]) == uses(graph)
        if graph.nodes:
            again = parse(to_gexf(graph))
            for key, row in rows:
                for title, value in again.nodes[key].items():
                    assert row.get(title, "") == value
