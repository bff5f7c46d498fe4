"""Renderers for formats of one's own, and drawings that are the same every time."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

from tests.torchrecorder.models import MODELS, SampleNet
from trec.torchrecorder import make_dot, record
from trec.torchrecorder.nodes import BaseNode, LayerNode, OpNode
from trec.torchrecorder.renderer import GraphvizRenderer, GraphvizStyler
from trec.torchrecorder.renderer.base import BaseRenderer

pytestmark = pytest.mark.torch


class ToDict(BaseRenderer):
    """Nested dicts, as a format with groups would have them."""

    def render_node(self, dest: Any, node: BaseNode) -> None:
        if isinstance(node, LayerNode) and node.depth < self.render_depth:
            self.render_recursive_node(dest, node)
        else:
            dest[node.name] = {"to": []}

    def render_recursive_node(self, dest: Any, node: BaseNode) -> None:
        assert isinstance(node, LayerNode)
        inner = dest.setdefault(node.name, {})
        for key in node.subnets:
            member = self.rec.nodes[key]
            self.render_node(inner, member)
            self.edges += [(member.name, target.name) for target in self.processed.pop(member, [])]

    def render_edge(self, dest: Any, fnode: BaseNode, tnode: BaseNode) -> None:
        self.edges.append((fnode.name, tnode.name))

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.edges: list[tuple[str, str]] = []


def test_a_renderer_of_ones_own_is_given_nodes_open_modules_and_edges() -> None:
    rec = record(SampleNet(), "Net", (1, 3))
    renderer = ToDict(rec, 1)
    drawn = renderer({})
    assert set(drawn) == {"Net", "Input", "Output"}
    assert "CatBackward0" in drawn["Net"]
    assert ("Input", "linear_1\n(Linear)") in renderer.edges
    assert len(renderer.edges) == len(set(renderer.edges)) == 11
    assert not renderer.processed
    assert (renderer.rec, renderer.render_depth) == (rec, 1)
    deeper = ToDict(rec, 2)({})
    assert "AddmmBackward0" in deeper["Net"]["linear_1\n(Linear)"]


def test_the_base_class_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match="BaseRenderer must say how a node is drawn"):
        BaseRenderer(record(SampleNet(), "Net", (1, 3)))({})


def test_a_subclass_of_the_graphviz_renderer_may_leave_nodes_out() -> None:
    class WithoutOperations(GraphvizRenderer):
        def render_node(self, g: Any, node: BaseNode) -> None:
            if not isinstance(node, OpNode):
                super().render_node(g, node)

    rec = record(SampleNet(), "Net", (1, 3))
    renderer = WithoutOperations(rec, 1, color="red")
    assert isinstance(renderer.styler, GraphvizStyler)
    digraph = renderer(make_dot(rec, 0))
    assert "CatBackward0" not in digraph.source
    assert "color=red" in digraph.source


def test_a_renderer_draws_the_same_again() -> None:
    rec = record(SampleNet(), "Net", (1, 3))
    assert make_dot(rec, 2).source == make_dot(rec, 2).source
    graphs = pytest.importorskip("graphviz")
    renderer = GraphvizRenderer(rec, 2)
    assert renderer(graphs.Digraph()).source == renderer(graphs.Digraph()).source


def test_attributes_that_are_given_come_before_those_of_the_class() -> None:
    styler = GraphvizStyler(fillcolor="white", shape="oval", color=None, penwidth=2)
    assert all(style["fillcolor"] == "white" for kind, style in styler.styles.items() if kind is not BaseNode)
    assert styler.styles[OpNode] == {
        "style": "filled", "align": "left", "color": "black", "fillcolor": "white", "shape": "oval", "penwidth": "2"
    }  # fmt: skip


PROGRAM = """
import torch
from tests.torchrecorder.models import MODELS
from trec.torchrecorder import make_dot, record
for name in ("resnet", "transformer", "siamese"):
    make, shapes = MODELS[name]
    print(make_dot(record(make(), name, shapes)).source)
"""


def test_two_processes_draw_the_same() -> None:
    outputs = [
        subprocess.run(
            [sys.executable, "-c", PROGRAM], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0] == outputs[1]
    assert len(MODELS) > 15
