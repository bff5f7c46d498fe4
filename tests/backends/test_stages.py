"""Parts of a step of training on pictures: which column each box is drawn in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.backends.families import family_of_class, family_of_function
from trec.backends.lower import lower
from trec.backends.measure import diagram
from trec.backends.stages import columns
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from trec.ir.graph import Graph
    from trec.ir.types import Phase


def steps(count: int) -> Graph:
    """Return steps of training, each of two operators in each phase; a step updates what the next one reads."""
    builder = GraphBuilder("Steps")
    root = builder.scope("region", path="", cls="recording")
    type_ = builder.tensor_type((2,), "float32")
    (w,) = builder.node("input", parent=root, name="w", results=[type_])
    for _ in range(count):
        phases: tuple[Phase, ...] = ("forward", "backward", "optimizer")
        for phase in phases:
            inner = (
                root
                if phase == "forward"
                else builder.scope("region", path="", cls=phase, parent=root, name=phase, phase=phase)
            )
            for _ in range(2):
                (w,) = builder.node("op", phase, parent=inner, inputs=[w], results=[type_])
    builder.node("output", parent=root, inputs=[w])
    return builder.build().verify()


def test_a_graph_of_one_phase_is_not_divided() -> None:
    assert columns(lower(steps(0))) == ((), ())
    assert diagram(lower(steps(0))).columns == ()


def test_each_phase_is_a_column_and_a_later_forward_stands_behind_the_step() -> None:
    drawing = lower(steps(2))
    upward, of_boxes = columns(drawing)
    assert upward == (False, True, False, False, True, False, False)
    assert of_boxes == (0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6)
    assert [cluster.phase for cluster in drawing.clusters] == ["backward", "optimizer"] * 2
    assert diagram(drawing).column_of == of_boxes


def test_a_node_of_autograd_has_the_colour_of_what_it_differentiates() -> None:
    names = ("AddmmBackward0", "ConvolutionBackward0", "MaxPool2DWithIndicesBackward0", "TanhBackwardBackward0")
    assert [family_of_function(name) for name in names] == ["linear", "convolution", "pooling", "activation"]
    assert family_of_function("AccumulateGrad") == "other"
    assert family_of_class("LinearBackward") == family_of_class("Linear") == "linear"
