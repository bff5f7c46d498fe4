"""The drawings are those of torchrecorder itself, for what it can record, at every depth."""

from __future__ import annotations

from typing import Any

import networkx
import pytest
import torch

import trec
import trec.torchrecorder as ours
from tests.torchrecorder.drawings import drawn_flows, flat, has_cycle, read, true_flows
from tests.torchrecorder.models import MODELS
from tests.torchrecorder.original import torchrecorder as theirs

pytestmark = pytest.mark.torch

DEPTHS = (0, 1, 2, 3, 4, 256)

DRAWN_AGAIN = {"siamese", "recurrent", "resnet in place"}
"""Models of which ours draws something once more, under the same label.

Where a module is called several times, theirs draws it closed as one box, as if its calls exchanged data; ours has a
box for each call. Where the result of a module is written in place, theirs draws one tensor before and after the write,
hence a cycle; ours draws it twice.
"""


@pytest.fixture(params=MODELS)
def recordings(request: pytest.FixtureRequest) -> tuple[str, Any, Any]:
    """The name of a model, and its recordings by torchrecorder and by trec."""
    make, shapes = MODELS[request.param]
    net = make()
    return request.param, theirs.record(net, "Net", shapes), ours.record(net, "Net", shapes)


def only_more_boxes(name: str, missing: Any, extra: Any) -> bool:
    return not missing and (not extra or name in DRAWN_AGAIN)


def only_returns(their_edges: Any, our_edges: Any) -> bool:
    """Tell whether the edges are the same, but for those that lead from a result back into the call that returns it."""
    missing = set(their_edges) - set(our_edges)
    return set(our_edges) <= set(their_edges) and all((target, source) in our_edges for source, target in missing)


def into_tensors(edges: Any) -> set[tuple[str, str]]:
    return {(source, target) for source, target in edges if target.startswith(("Tensor", "Output"))}


def test_labels_kinds_and_edges_are_the_same_at_every_depth(recordings: tuple[str, Any, Any]) -> None:
    name, their_rec, our_rec = recordings
    for depth in DEPTHS:
        their_nodes, their_edges = flat(theirs, their_rec, depth)
        our_nodes, our_edges = flat(ours, our_rec, depth)
        assert only_more_boxes(name, their_nodes - our_nodes, our_nodes - their_nodes)
        assert only_returns(their_edges, our_edges)
        # Theirs counts an edge once more for each module that reads what an operation made, though it was made once,
        # and loses one of two edges noted in the same microsecond.
        surplus = {pair for pair in their_edges - our_edges if pair in our_edges} - into_tensors(their_edges)
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
        assert only_returns(their_edges, our_edges)


def test_data_flows_as_in_the_model_at_every_depth(recordings: tuple[str, Any, Any]) -> None:
    _, _, our_rec = recordings
    for depth in DEPTHS:
        assert not has_cycle(ours.make_dot(our_rec, depth))
        assert drawn_flows(ours.make_dot(our_rec, depth)) == true_flows(our_rec.graph.collapse(depth=depth))


@pytest.mark.parametrize(("name", "depth"), [("recurrent", 1), ("resnet in place", 3)])
def test_where_ours_draws_more_theirs_draws_cycles_though_no_model_has_any(name: str, depth: int) -> None:
    make, shapes = MODELS[name]
    edges = flat(theirs, theirs.record(make(), "Net", shapes), depth)[1]
    assert not networkx.is_directed_acyclic_graph(networkx.DiGraph(list(edges)))
    assert networkx.is_directed_acyclic_graph(trec.capture(make(), shapes).to_networkx())


def test_where_a_module_is_called_twice_theirs_mixes_its_inputs() -> None:
    make, shapes = MODELS["siamese"]

    def as_network(package: Any, depth: int) -> networkx.DiGraph[str]:
        return networkx.DiGraph(list(flat(package, package.record(make(), "Net", shapes), depth)[1]))

    reached = [networkx.descendants(as_network(package, 256), "Input-1\n[2, 4]") for package in (ours, theirs)]
    closed = as_network(theirs, 1)
    assert reached[0] == reached[1]
    assert "Tensor-6\n[2, 3]" not in reached[0]  # the encoding of the other input
    assert "Tensor-6\n[2, 3]" in networkx.descendants(closed, "Input-1\n[2, 4]")


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
