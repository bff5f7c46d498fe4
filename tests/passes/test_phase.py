"""The phases of steps of training, also after other passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from tests.passes.laws import assert_laws
from tests.passes.samples import ended, param, started
from tests.passes.training import training
from trec.ir.types import Derivative

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def step() -> Graph:
    """Two steps in one call, the first of which is saved for backward, and one of which saves a result of its own."""
    builder, type_, x = started("Step")
    layer = builder.scope("module", path="fc", cls="Linear", parent=0)
    weight = param(builder, layer, "fc.weight", (3, 3))
    (y,) = builder.node("op", "mm", parent=layer, inputs=[x, weight], results=[type_])
    z, mask = builder.node("op", "relu", parent=layer, inputs=[y], results=[type_, type_], attrs=(("saved", 1),))
    back = builder.scope("region", path="", cls="backward", parent=0, name="backward", phase="backward")
    (g,) = builder.node("op", "ReluBackward", parent=back, inputs=[z, mask], results=[type_])
    builder.node("op", "MmBackward", parent=back, inputs=[g, y, weight], results=[type_])
    builder.derivatives += [Derivative(4, 3), Derivative(5, 2)]
    return ended(builder, z)


def names(graph: Graph) -> list[str]:
    return [node.name for node in graph.nodes]


@pytest.mark.parametrize("graph", [step(), training()], ids=["step", "training"])
@pytest.mark.parametrize("which", ["boundaries", "all"])
def test_the_forward_phase_of_shown_tensors_is_the_forward_phase_with_tensors(graph: Graph, which: Any) -> None:
    assert graph.tensors(which).phase("forward").verify() == graph.phase("forward").tensors(which)
    assert_laws(replace(graph.tensors(which)), "phase", {"phase": "forward"})


def test_a_tensor_that_only_backward_reads_elsewhere_is_gone() -> None:
    shown = step().tensors()
    assert "fc.mm.tensor" in names(shown)
    forward = shown.phase("forward")
    assert names(forward) == ["x", "fc.weight", "fc.mm", "fc.relu", "fc.relu:0.tensor", "output0"]
    assert forward.phase("forward") is forward


def test_a_tensor_lies_in_the_calls_of_its_own_phase() -> None:
    shown = step().tensors("all")
    (tensor,) = [node for node in shown.nodes if node.name == "fc.mm.tensor"]
    assert shown.scopes[tensor.parent].name == "fc"


def test_what_was_saved_stays_where_a_part_of_a_graph_returns_it() -> None:
    graph = step()
    assert [len(node.outputs) for node in graph.phase("forward").nodes if node.op == "relu"] == [1]
    part = graph.focus("op:relu", steps=0)
    (relu,) = [node for node in part.nodes if node.op == "relu"]
    assert (len(relu.outputs), part.attrs_of(relu)["saved"]) == (2, 1)
    assert part.phase("forward") is part
    part = graph.focus("op:relu or op:MmBackward", steps=0).phase("forward").verify()
    (relu,) = [node for node in part.nodes if node.op == "relu"]
    assert (len(relu.outputs), part.attrs_of(relu)["saved"]) == (2, 1)


def test_outputs_of_other_phases_are_gone() -> None:
    part = step().focus("op:relu", steps=1)
    assert "backward.ReluBackward.output" in names(part)
    assert names(part.phase("forward")) == ["x", "fc.weight", "fc.mm", "fc.relu", "output0", "fc.mm.output"]


def test_what_backward_reads_of_a_folded_step_enters_once() -> None:
    folded = training(4).fold()
    backward = folded.phase("backward").verify()
    inputs = [node.name for node in backward.nodes if node.kind == "input"]
    assert inputs == ["embed", "layers.0.linear:1", "layers.0.add", "head"]
    assert [scope.name for scope in backward.scopes if len(scope.repeats) == 3] == ["layers.0", "layers.3.backward"]
