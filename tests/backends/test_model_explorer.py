from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from tests.backends.samples import blocks, every, marks, sample
from tests.conftest import twice
from tests.strategies import any_graph
from trec.backends.model_explorer import to_model_explorer

if TYPE_CHECKING:
    from trec.ir.graph import Graph

NODE = {"id", "label", "namespace", "attrs", "incomingEdges", "outputsMetadata"}
EDGE = {"sourceNodeId", "sourceNodeOutputId", "targetNodeInputId"}


def whole(graph: Graph) -> dict[str, Any]:
    data = to_model_explorer(graph)
    assert data.keys() == {"label", "graphs"}
    (found,) = data["graphs"]
    json.dumps(data, allow_nan=False)
    return dict(found)


def check_pairs(pairs: list[dict[str, str]]) -> None:
    assert all(pair.keys() == {"key", "value"} for pair in pairs)
    assert all(type(text) is str for pair in pairs for text in pair.values())


def check(graph: Graph) -> None:
    """Hold the data to the documented fields, all of them texts."""
    found = whole(graph)
    assert found.keys() == {"id", "nodes", "groupNodeAttributes"}
    assert [row["id"] for row in found["nodes"]] == [str(index) for index in range(len(graph.nodes))]
    for row, step in zip(found["nodes"], graph.nodes, strict=True):
        assert row.keys() == NODE
        check_pairs(row["attrs"])
        assert [output["id"] for output in row["outputsMetadata"]] == [str(port) for port in range(len(step.outputs))]
        for output in row["outputsMetadata"]:
            check_pairs(output["attrs"])
        for edge in row["incomingEdges"]:
            assert edge.keys() == EDGE
            assert int(edge["sourceNodeOutputId"]) < len(graph.nodes[int(edge["sourceNodeId"])].outputs)
        assert row["namespace"] == "" or row["namespace"] in found["groupNodeAttributes"]
    groups = list(found["groupNodeAttributes"])
    assert len(groups) == len(graph.scopes) - 1
    assert all("" not in group.split("/") for group in groups)
    assert sum(len(row["incomingEdges"]) for row in found["nodes"]) == sum(
        len(row.inputs) for row in graph.nodes
    ) + len(graph.carried)


@given(any_graph())
def test_any_graph_has_the_documented_fields(graph: Graph) -> None:
    check(graph)


@pytest.mark.parametrize("graph", every(), ids=lambda graph: ascii(graph.name)[:20])
def test_graphs_of_all_kinds_have_the_documented_fields(graph: Graph) -> None:
    check(graph)


def test_layers_are_nested_as_modules_are() -> None:
    spaces = {row["label"]: row["namespace"] for row in whole(marks())["nodes"]}
    assert spaces["conv2d"] == "layers/0"
    assert spaces["__add__"] == "layers"
    assert spaces["image"] == ""
    assert [row["namespace"] for row in whole(twice())["nodes"] if row["label"] == "relu"] == [
        "block/act",
        "block#2/act#2",
    ]


def test_outputs_are_numbered_by_output() -> None:
    nodes = whole(twice())["nodes"]
    item = next(row for row in nodes if row["label"] == "item")
    assert item["incomingEdges"][0]["sourceNodeOutputId"] == "1"


def test_layers_tell_class_arguments_and_count() -> None:
    groups = whole(sample())["groupNodeAttributes"]
    assert groups["linear_1"]["class"] == "Linear"
    assert groups["linear_1"]["arg_in_features"] == "3"
    assert whole(blocks(4).fold())["groupNodeAttributes"]["layers.0"]["count"] == "4"
