"""Files for sigma.js, read by graphology and drawn by sigma.js of both versions in a browser."""

from __future__ import annotations

import html
import json
import math
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given

from tests.backends import node
from tests.backends.chromium import title
from tests.backends.samples import blocks, every, marks, sample
from tests.conftest import empty
from tests.strategies import any_graph
from trec.backends.escape import printable
from trec.backends.sigma import to_sigma
from trec.errors import OptionError
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

OWN = {"type", "id"}
"""Attributes that sigma takes for something of its own, and fails on if it does not know their value."""


def check(data: dict[str, Any], graph: Graph) -> None:
    """Hold the data to what graphology and sigma ask for, and to the graph."""
    assert data.keys() == {"attributes", "options", "nodes", "edges"}
    keys = [row["key"] for row in data["nodes"]]
    assert keys == [str(index) for index in range(len(graph.nodes))]
    for row in data["nodes"]:
        shown = row["attributes"]
        assert all(math.isfinite(shown[key]) for key in ("x", "y", "size"))
        assert shown["size"] > 0
        assert re.fullmatch("#[0-9a-f]{6}", shown["color"])
    for row in [*data["nodes"], *data["edges"]]:
        assert not OWN & row["attributes"].keys()
        route = row["attributes"].get("route", [])
        assert len(route) % 2 == 0
        assert all(map(math.isfinite, route))
        for value in [value for key, value in row["attributes"].items() if key != "route"]:
            assert type(value) in (str, int, float, bool)
            assert not isinstance(value, int) or abs(value) <= 2**53
    pairs = [(row["source"], row["target"]) for row in data["edges"]]
    uses = [
        (use, index) for index, row in enumerate(graph.nodes) for use in map(graph.producers.__getitem__, row.inputs)
    ]
    uses += [(graph.producers[edge.value], edge.node) for edge in graph.carried]
    if not data["options"]["multi"]:
        assert len(set(pairs)) == len(pairs)
    assert sum(row["attributes"]["count"] for row in data["edges"]) == len(uses)
    assert set(pairs) == {(str(source), str(target)) for source, target in uses}
    json.dumps(data, allow_nan=False)


@given(any_graph())
def test_any_graph_is_what_graphology_asks_for(graph: Graph) -> None:
    check(to_sigma(graph), graph)
    check(to_sigma(graph, multi=True), graph)


def test_frames_of_modules_hold_their_nodes() -> None:
    graph = marks()
    data = to_sigma(graph)
    frames = {row["id"]: row for row in data["attributes"]["scopes"]}
    assert [row["label"] for row in frames.values()][:2] == ["layers", "layers.0"]
    assert frames[2]["parent"] == 1
    assert "parent" not in frames[1]
    for row, step in zip(data["nodes"], graph.nodes, strict=True):
        scope = step.parent
        while scope > 0:
            if scope in frames:
                frame, place = frames[scope], row["attributes"]
                assert frame["x"] <= place["x"] <= frame["x"] + frame["width"]
                assert frame["y"] - frame["height"] <= place["y"] <= frame["y"]
            scope = graph.scopes[scope].parent


def test_y_points_up_and_no_two_nodes_are_at_one_place() -> None:
    places = [(row["attributes"]["x"], row["attributes"]["y"]) for row in to_sigma(sample())["nodes"]]
    assert places[0][1] > places[-1][1]
    assert len(set(places)) == len(places)


def test_results_in_one_container_lie_beside_one_another() -> None:
    builder = GraphBuilder("Pair")
    builder.scope("module", path="", cls="Pair")
    kind = builder.tensor_type((2,), "float32")
    results = builder.node("op", "split", parent=0, results=[kind, kind])
    for index, value in enumerate(results):
        builder.node("output", parent=0, name=f"output.{index}", inputs=[value])
    places = [(row["attributes"]["x"], row["attributes"]["y"]) for row in to_sigma(builder.build())["nodes"]]
    assert len(set(places)) == 3


def test_a_skip_has_the_way_round_what_it_skips() -> None:
    data = to_sigma(blocks(1))
    places = {row["key"]: (row["attributes"]["x"], row["attributes"]["y"]) for row in data["nodes"]}
    routes = {(row["source"], row["target"]): row["attributes"].get("route") for row in data["edges"]}
    skip, straight = routes["0", "3"], routes["2", "3"]
    assert straight is None
    assert skip is not None
    assert places["0"][1] >= skip[1] > skip[-1] >= places["3"][1]
    assert max(abs(x - places["2"][0]) for x in skip[::2]) > 10


def test_numbers_that_javascript_would_round_are_texts() -> None:
    builder = GraphBuilder("Large")
    builder.scope("module", path="", cls="Large")
    builder.node("op", "mm", parent=0, attrs=(("flops", 2**53 + 1), ("ops", 2**53)))
    row = to_sigma(builder.build())["nodes"][0]["attributes"]
    assert (row["flops"], row["ops"]) == (str(2**53 + 1), 2**53)


def test_carried_edges_have_a_colour_of_their_own() -> None:
    (carried,) = [row["attributes"] for row in to_sigma(marks())["edges"] if row["attributes"].get("carried")]
    others = {row["attributes"]["color"] for row in to_sigma(marks())["edges"] if "carried" not in row["attributes"]}
    assert carried["color"] not in others


def test_an_empty_graph_and_a_wrong_direction() -> None:
    assert to_sigma(empty())["nodes"] == []
    with pytest.raises(OptionError, match="'LR'"):
        to_sigma(sample(), rankdir="up")  # type: ignore[arg-type]


@pytest.mark.node
def test_graphology_reads_the_same(tmp_path: Path) -> None:
    graphs = every()
    for multi in (False, True):
        files = [tmp_path / f"{index}.sigma.json" for index in range(len(graphs))]
        for graph, path in zip(graphs, files, strict=True):
            graph.write(path, multi=multi)
        for graph, found in zip(graphs, node.read("sigma", files), strict=True):
            data = to_sigma(graph, multi=multi)
            assert found["nodes"] == [[row["key"], row["attributes"]] for row in data["nodes"]]
            assert found["edges"] == [[row["source"], row["target"], row["attributes"]] for row in data["edges"]]
            assert [row["label"] for _, row in found["nodes"]] == [printable(row.name) for row in graph.nodes]


@pytest.mark.browser
@pytest.mark.node
@pytest.mark.parametrize("version", ["sigma3", "sigma4"])
def test_sigma_shows_nodes_labels_and_frames(version: str, tmp_path: Path) -> None:
    text = json.dumps(to_sigma(marks())).replace("<", "\\u003c")
    page = (node.FOLDER / "sigma.html").read_text(encoding="utf-8").replace("SIGMA", version).replace("DATA", text)
    page = page.replace("node_modules", node.packages().as_uri())
    (tmp_path / "page.html").write_text(page, encoding="utf-8")
    drawn = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--virtual-time-budget=10000"]
    found = json.loads(html.unescape(title(tmp_path / "page.html", *drawn)))
    assert found["errors"] == []
    assert (found["nodes"], found["hidden"], found["unframed"]) == (len(marks().nodes), [], [])
    assert found["labels"] > 1000
