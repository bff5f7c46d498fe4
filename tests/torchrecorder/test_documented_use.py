"""The uses that torchrecorder's documentation shows, each with both packages."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import trec.torchrecorder as ours
from tests.torchrecorder.drawings import read
from tests.torchrecorder.models import ConvSample, SampleNet
from tests.torchrecorder.original import torchrecorder as theirs

pytestmark = pytest.mark.torch

BOTH = pytest.mark.parametrize("torchrecorder", [ours, theirs], ids=["ours", "theirs"])


def styler(package: Any) -> Any:
    """Return a styler that shows the arguments of convolutions and colours the edges around them."""

    class ShowsConvolutions(package.renderer.GraphvizStyler):  # type: ignore[misc]
        def style_node(self, node: Any) -> Any:
            style = super().style_node(node)
            if isinstance(node.fn, torch.nn.Conv2d):
                shown = {key: getattr(node.fn, key) for key in ("kernel_size", "padding", "stride")}
                style["label"] = node.name + "".join([f"\n{key}={value}" for key, value in shown.items()])
                style["penwidth"] = "2.4"
            return style

        def style_edge(self, fnode: Any, tnode: Any) -> Any:
            if isinstance(fnode.fn, torch.nn.Conv2d) and isinstance(tnode.fn, torch.Tensor):
                return {"penwidth": "4.8", "color": "#ee8800"}
            if isinstance(tnode.fn, torch.nn.ReLU) and isinstance(fnode.fn, torch.Tensor):
                return {"penwidth": "4.8", "color": "#00228f"}
            return super().style_edge(fnode, tnode)

    return ShowsConvolutions


@pytest.mark.dot
@pytest.mark.parametrize("depth", [1, 2])
@BOTH
def test_a_network_is_rendered_to_a_file(torchrecorder: Any, depth: int, tmp_path: Any) -> None:
    torchrecorder.render_network(
        SampleNet(), name="Sample Net", input_shapes=(1, 3), directory=str(tmp_path), fmt="svg", render_depth=depth
    )
    assert [path.name for path in tmp_path.iterdir()] == [f"Sample Net-{depth}.svg"]
    text = (tmp_path / f"Sample Net-{depth}.svg").read_text()
    assert f"Sample Net at depth = {depth}" in text
    assert ("AddmmBackward0" in text) == (depth == 2)
    assert "my_special_relu" in text


@pytest.mark.dot
@BOTH
def test_the_same_in_two_steps_with_a_digraph_between(torchrecorder: Any, tmp_path: Any) -> None:
    rec = torchrecorder.record(SampleNet(), name="Sample Net", input_shapes=(1, 3))
    digraph = torchrecorder.make_dot(rec, render_depth=1)
    digraph.format = "svg"
    digraph.attr(label="Sample Net at depth=1")
    digraph.render("Sample Net-1", directory=str(tmp_path), cleanup=True)
    assert "Sample Net at depth=1" in (tmp_path / "Sample Net-1.svg").read_text()


def test_another_font_holds_for_nodes_and_for_titles() -> None:
    drawings = []
    for package in (ours, theirs):
        rec = package.record(SampleNet(), name="Sample Net", input_shapes=(1, 3))
        digraph = package.make_dot(rec, render_depth=1, fontname="Lato")
        assert digraph.graph_attr["fontname"] == digraph.node_attr["fontname"] == "Lato"
        drawings.append((read(digraph), digraph.graph_attr, digraph.node_attr))
    assert drawings[0] == drawings[1]


def test_a_styler_of_ones_own_sees_modules_and_tensors() -> None:
    found = []
    for package in (ours, theirs):
        rec = package.record(ConvSample(), name="ConvSample", input_shapes=(1, 1, 10, 10))
        digraph = package.make_dot(rec, render_depth=1, styler_cls=styler(package), fontname="Lato")
        assert digraph.source.count("penwidth=2.4") == 2
        assert digraph.source.count("#ee8800") == 2
        assert digraph.source.count("#00228f") == 1
        assert "kernel_size=(5, 5)" in digraph.source
        found.append(read(digraph))
    assert found[0] == found[1]


def test_every_name_of_the_documentation_is_there() -> None:
    for path in (
        "render_network", "record", "make_dot", "renderer.GraphvizStyler", "renderer.GraphvizRenderer",
        "renderer.base.BaseRenderer", "renderer.gv.GraphvizRenderer", "nodes.BaseNode", "nodes.TensorNode",
        "nodes.OpNode", "nodes.LayerNode", "nodes.ParamNode", "recorder.Recorder", "recorder.op_acc",
        "recorder.tensor_acc", "recorder.param_acc", "recorder.leaf_dummy", "recorder.prehook", "recorder.posthook",
        "recorder.backhook", "helpers.record", "helpers.make_dot", "helpers.render_network", "GraphvizStyler",
    ):  # fmt: skip
        theirs_now, ours_now = theirs, ours
        for part in path.split("."):
            theirs_now, ours_now = getattr(theirs_now, part), getattr(ours_now, part)
        assert ours_now.__doc__
        assert callable(ours_now)
