"""The drawings are those of torchrecorder itself, for what it can record, at every depth."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import trec
import trec.torchrecorder as ours
from tests.torchrecorder.drawings import drawn_flows, flat, read, true_flows
from tests.torchrecorder.models import MODELS
from tests.torchrecorder.original import torchrecorder as theirs

pytestmark = pytest.mark.torch

DEPTHS = (0, 1, 2, 3, 4, 256)

CALLED_AGAIN = {"siamese": 1, "recurrent": 1}
"""Models that call modules several times. Theirs draws a closed module once, as if its calls exchanged data; ours has a
box for each call. With the modules open the drawings are the same."""


@pytest.fixture(params=MODELS)
def recordings(request: pytest.FixtureRequest) -> tuple[str, Any, Any]:
    """The name of a model, and its recordings by torchrecorder and by trec."""
    make, shapes = MODELS[request.param]
    net = make()
    return request.param, theirs.record(net, "Net", shapes), ours.record(net, "Net", shapes)


def only_more_boxes(name: str, missing: Any, extra: Any) -> bool:
    return not missing and (not extra or name in CALLED_AGAIN)


def into_tensors(edges: Any) -> set[tuple[str, str]]:
    return {(source, target) for source, target in edges if target.startswith(("Tensor", "Output"))}


def test_labels_kinds_and_edges_are_the_same_at_every_depth(recordings: tuple[str, Any, Any]) -> None:
    name, their_rec, our_rec = recordings
    for depth in DEPTHS:
        their_nodes, their_edges = flat(theirs, their_rec, depth)
        our_nodes, our_edges = flat(ours, our_rec, depth)
        assert only_more_boxes(name, their_nodes - our_nodes, our_nodes - their_nodes)
        assert set(their_edges) == set(our_edges)
        # Theirs counts an edge once more for each module that reads what an operation made, though it was made once,
        # and loses one of two edges noted in the same microsecond.
        surplus = {pair for pair in their_edges - our_edges if pair not in into_tensors(their_edges)}
        assert not surplus


def test_looks_and_clusters_are_the_same_at_every_depth_that_torchrecorder_can_draw(
    recordings: tuple[str, Any, Any],
) -> None:
    name, their_rec, our_rec = recordings
    for depth in DEPTHS:
        our_nodes, our_clusters, our_edges = read(ours.make_dot(our_rec, depth))
        try:
            their_nodes, their_clusters, their_edges = read(theirs.make_dot(their_rec, depth))
        except IndexError:  # an edge that leads two or more levels down
            assert depth > 2
            continue
        assert only_more_boxes(name, their_nodes - our_nodes, our_nodes - their_nodes)
        assert their_clusters == our_clusters
        assert set(their_edges) == set(our_edges)


def test_data_flows_as_in_the_model_at_every_depth(recordings: tuple[str, Any, Any]) -> None:
    _, _, our_rec = recordings
    for depth in DEPTHS:
        assert drawn_flows(ours.make_dot(our_rec, depth)) == true_flows(our_rec.graph.collapse(depth=depth))


def test_the_graph_is_the_one_of_capture(recordings: tuple[str, Any, Any]) -> None:
    name, _, our_rec = recordings
    make, shapes = MODELS[name]
    assert our_rec.graph == trec.capture(make(), shapes, name="Net")


def test_the_operations_are_numbered_in_the_same_order(recordings: tuple[str, Any, Any]) -> None:
    _, their_rec, our_rec = recordings
    assert their_rec.fn_types == our_rec.fn_types
    names = [[node.name for node in rec.nodes.values()] for rec in (their_rec, our_rec)]
    assert sorted(set(names[0])) == sorted(set(names[1]))


@pytest.mark.parametrize("depth", DEPTHS)
def test_an_edge_is_drawn_for_each_time_that_a_tensor_is_read(depth: int) -> None:
    class Square(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * x

    rec = ours.record(torch.nn.Sequential(Square()), "Net", (2, 3))
    edges = read(ours.make_dot(rec, depth)).edges
    assert [count for (source, _), count in edges.items() if source.startswith("Input")] == [2]
