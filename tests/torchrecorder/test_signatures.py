"""Parameters and defaults are torchrecorder's."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import trec.torchrecorder as ours
from tests.torchrecorder.original import torchrecorder as theirs

pytestmark = pytest.mark.torch

CALLS = (
    "render_network", "record", "make_dot", "renderer.GraphvizStyler", "renderer.GraphvizStyler.style_node",
    "renderer.GraphvizStyler.style_edge", "renderer.GraphvizRenderer", "renderer.GraphvizRenderer.render_edge",
    "renderer.GraphvizRenderer.render_node", "renderer.GraphvizRenderer.render_recursive_node",
    "renderer.GraphvizRenderer.__call__", "renderer.base.BaseRenderer", "renderer.base.BaseRenderer.render_node",
    "renderer.base.BaseRenderer.render_recursive_node", "renderer.base.BaseRenderer.render_edge",
    "renderer.base.BaseRenderer.__call__", "nodes.BaseNode", "nodes.TensorNode", "nodes.ParamNode", "nodes.OpNode",
    "nodes.LayerNode", "recorder.Recorder", "recorder.Recorder.add_node", "recorder.Recorder.add_dummy",
    "recorder.Recorder.add_edge", "recorder.Recorder.register_hooks", "recorder.Recorder.remove_hooks",
    "recorder.op_acc", "recorder.tensor_acc", "recorder.param_acc", "recorder.leaf_dummy", "recorder.prehook",
    "recorder.posthook", "recorder.backhook",
)  # fmt: skip


def parameters(package: Any, path: str) -> list[tuple[str, Any, Any]]:
    found = package
    for part in path.split("."):
        found = getattr(found, part)
    return [(row.name, row.default, row.kind) for row in inspect.signature(found).parameters.values()]


@pytest.mark.parametrize("path", CALLS)
def test_the_parameters_are_the_same(path: str) -> None:
    assert parameters(ours, path) == parameters(theirs, path)
