from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings

from tests.backends import readers
from tests.backends.samples import HOSTILE, aten, deep, marks, named, sample
from tests.strategies import any_graph
from trec.backends.dot import lines, to_dot
from trec.backends.lower import lower

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trec.ir.graph import Graph


@pytest.mark.parametrize("graph", [sample(), marks(), aten()], ids=["sample", "marks", "aten"])
def test_golden(graph: Graph, golden: Callable[[str, str], None]) -> None:
    golden(f"{graph.name.lower()}.dot", to_dot(graph))
    golden(f"{graph.name.lower()}_nodes.dot", to_dot(graph, tensors="nodes", params=True, rankdir="LR", caption=True))


def test_lines_are_a_stream() -> None:
    stream = lines(lower(sample()))
    assert next(stream) == 'digraph "SampleNet" {'
    assert "\n".join(["", *stream]) == to_dot(sample())[len('digraph "SampleNet" {') : -1]


def test_a_path_is_written(tmp_path: Path) -> None:
    path = tmp_path / "net.gv"
    assert to_dot(sample(), path) == path.read_text(encoding="utf-8")


def test_tooltips_may_be_left_out() -> None:
    assert not any("tooltip" in line for line in lines(lower(marks()), tooltips=False))


@pytest.mark.parametrize("name", HOSTILE)
def test_pydot_reads_any_name(name: str) -> None:
    graph = named(name)
    drawing = lower(graph)
    nodes, edges, clusters = readers.everything(readers.by_pydot(to_dot(graph)))
    assert [readers.visible(readers.label(nodes[f"n{index}"])) for index in range(len(nodes))] == [
        readers.expected(box, drawing) for box in drawing.boxes
    ]
    assert len(edges) == len(drawing.edges)
    assert [readers.visible(readers.label(cluster)) for cluster in clusters] == [
        readers.expected(cluster, drawing) for cluster in drawing.clusters
    ]


@pytest.mark.dot
@pytest.mark.parametrize("name", HOSTILE)
def test_dot_reads_and_draws_any_name(name: str) -> None:
    graph = named(name)
    drawing = lower(graph)
    found = readers.by_dot(to_dot(graph))
    boxes = [row for row in found["objects"] if row["name"].startswith("n")]
    assert len(boxes) == len(drawing.boxes)
    assert len(found["edges"]) == len(drawing.edges)
    svg = readers.svg_by_dot(to_dot(graph))
    for box in drawing.boxes:
        for word in readers.expected(box, drawing).split():
            assert word in readers.words(svg)


@pytest.mark.dot
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(any_graph())
def test_dot_reads_any_graph(graph: Graph) -> None:
    for tensors in ("edges", "nodes"):
        drawing = lower(graph, params=True, shapes="all", tensors=tensors)
        found = readers.by_dot("\n".join(lines(drawing)))
        objects = found.get("objects", [])
        names = {row["name"] for row in objects}
        assert {f"n{index}" for index in range(len(drawing.boxes))} == {name for name in names if name[0] == "n"}
        assert len(found.get("edges", [])) == len(drawing.edges)
        filled = {f"cluster_{entry}" for held in drawing.content for entry in held if isinstance(entry, int)}
        assert filled == {name for name in names if name.startswith("cluster")}


@settings(max_examples=40)
@given(any_graph())
def test_pydot_reads_any_graph(graph: Graph) -> None:
    drawing = lower(graph, params=True, shapes="all")
    nodes, edges, _ = readers.everything(readers.by_pydot("\n".join(lines(drawing))))
    assert len(edges) == len(drawing.edges)
    assert {name: readers.visible(readers.label(node)) for name, node in nodes.items()} == {
        f"n{index}": readers.expected(box, drawing) for index, box in enumerate(drawing.boxes)
    }


def test_deep_nesting_needs_no_recursion() -> None:
    text = to_dot(deep(3000))
    assert text.count("subgraph cluster_") == 2999
    assert text.count("{") == text.count("}")
