from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from tests.backends import node
from tests.backends.samples import every, marks, sample
from tests.strategies import any_graph
from trec.backends.cytoscape import to_cytoscape

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph


def data_of(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {row["data"]["id"]: row["data"] for row in rows}


@given(any_graph())
def test_every_reference_leads_somewhere_and_nothing_is_lost(graph: Graph) -> None:
    data = to_cytoscape(graph)
    nodes, edges = data_of(data["elements"]["nodes"]), data_of(data["elements"]["edges"])
    assert [key for key in nodes if key.startswith("n")] == [f"n{index}" for index in range(len(graph.nodes))]
    assert len(edges) == sum(len(row.inputs) for row in graph.nodes) + len(graph.carried)
    assert all(row["source"] in nodes and row["target"] in nodes for row in edges.values())
    for key, row in nodes.items():
        if "parent" in row:
            assert nodes[row["parent"]]["kind"] == "scope"
            assert row["parent"] != key
    for index, step in enumerate(graph.nodes):
        assert nodes[f"n{index}"].get("parent", "s0") == f"s{step.parent}"
    json.dumps(data, allow_nan=False)


def test_calls_without_anything_in_them_are_no_elements() -> None:
    nodes = to_cytoscape(sample().collapse(depth=1))["elements"]["nodes"]
    assert {row["data"]["id"][0] for row in nodes} == {"n"}


def test_layout_gives_places_and_colours() -> None:
    elements = to_cytoscape(marks(), layout=True)["elements"]["nodes"]
    placed = [row for row in elements if "position" in row]
    assert len(placed) == len(marks().nodes)
    assert placed[0]["position"]["y"] < placed[-1]["position"]["y"]
    assert placed[0]["data"]["width"] > placed[0]["data"]["height"] > 0


@pytest.mark.node
def test_cytoscape_reads_the_same(tmp_path: Path) -> None:
    graphs = every()
    files = [tmp_path / f"{index}.cyto.json" for index in range(len(graphs))]
    for graph, path in zip(graphs, files, strict=True):
        graph.write(path, layout=True)
    for graph, found in zip(graphs, node.read("cytoscape", files), strict=True):
        elements = to_cytoscape(graph, layout=True)["elements"]
        wanted = data_of(elements["nodes"])
        assert {key: row for key, row, _ in found["nodes"]} == wanted
        assert {key: parents for key, _, parents in found["nodes"]} == {
            key: [row["parent"]] if "parent" in row else [] for key, row in wanted.items()
        }
        assert [row for _, _, row in found["edges"]] == [row["data"] for row in elements["edges"]]
