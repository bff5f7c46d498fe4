"""Drawings are columns, and boxes and edges their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings

from tests.backends.samples import blocks, deep, marks
from tests.strategies import any_graph
from trec.backends.escape import all_quoted, quoted
from trec.backends.lower import lower
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from trec.ir.graph import Graph


@settings(max_examples=50)
@given(any_graph())
def test_rows_are_made_of_columns(graph: Graph) -> None:
    drawing = lower(graph, params=True, shapes="all", links="https://a/{file}#L{line}")
    boxes, edges = drawing.boxes, drawing.edges
    assert len(list(boxes)) == len(boxes) == len(boxes.names) == len(boxes.clusters) == len(boxes.nodes)
    assert len(list(edges)) == len(edges) == len(edges.values) == len(edges.sources) == len(edges.targets)
    for index, box in enumerate(boxes):
        face = boxes.faces[boxes.face[index]]
        assert boxes[index] == box
        assert (box.title, box.subtitle, box.detail, box.look) == (face.title, face.subtitle, face.detail, face.look)
        assert box.tooltip == boxes.names[index] + face.about
    for index, edge in enumerate(edges):
        arrow = edges.arrows[edges.arrow[index]]
        assert edges[index] == edge
        assert (edge.label, edge.stroke, edge.main) == (arrow.label, arrow.stroke, arrow.main)
        assert edge.tooltip == edges.names[edges.values[index]] + arrow.about


@settings(max_examples=50)
@given(any_graph())
def test_each_face_and_each_arrow_is_there_once(graph: Graph) -> None:
    for tensors in ("edges", "nodes"):
        drawing = lower(graph, params=True, tensors=tensors)
        assert len(set(drawing.boxes.faces)) == len(drawing.boxes.faces)
        assert len(set(drawing.edges.arrows)) == len(drawing.edges.arrows)


def test_equal_blocks_have_the_same_faces_and_arrows() -> None:
    few, many = (lower(blocks(count), params=True) for count in (4, 40))
    assert many.boxes.faces == few.boxes.faces
    assert many.edges.arrows == few.edges.arrows
    assert len(many.boxes) == 10 * len(few.boxes) - 18


@settings(max_examples=50)
@given(any_graph())
def test_a_walk_meets_every_box_once_inside_its_clusters(graph: Graph) -> None:
    drawing = lower(graph, params=True)
    around = [-1]
    met: list[int] = []
    for depth, entry in drawing.walk():
        if entry is None:
            around.pop()
            assert depth == len(around) - 1
        elif isinstance(entry, int):
            assert depth == len(around) - 1
            assert drawing.clusters[entry].parent == around[-1]
            around.append(entry)
        else:
            assert all(drawing.boxes.clusters[box] == around[-1] for box in entry)
            met += entry
    assert around == [-1]
    assert sorted(met) == list(range(len(drawing.boxes)))


def test_a_walk_needs_no_recursion() -> None:
    assert max(depth for depth, _ in lower(deep(3000)).walk()) == 2999


def test_outputs_in_one_pill_are_joined_to_it_once_whatever_is_read_between() -> None:
    builder = GraphBuilder("Cache")
    root = builder.scope("module", path="", cls="Cache")
    kind = builder.tensor_type((2,), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    (y,) = builder.node("op", "relu", parent=root, inputs=[x], results=[kind])
    for name in ("cache.keys", "logits", "cache.values"):
        builder.node("output", parent=root, name=name, inputs=[y])
    drawing = lower(builder.build())
    assert [(edge.source, edge.target, edge.label) for edge in drawing.edges] == [(0, 1, ""), (1, 2, "×2"), (1, 3, "")]


@settings(max_examples=50)
@given(any_graph())
def test_texts_are_quoted_together_as_each_is_alone(graph: Graph) -> None:
    names = [node.name for node in graph.nodes]
    assert list(all_quoted(names)) == [quoted(name) for name in names]


def test_a_drawing_equals_one_of_the_same_graph() -> None:
    assert lower(marks()) == lower(marks())
    assert lower(marks()) != lower(marks(), shapes="all")
