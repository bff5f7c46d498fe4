"""What leaves a box as one line, once a drawing is measured."""

from __future__ import annotations

from trec.backends.lower import lower
from trec.backends.measure import diagram
from trec.ir.builder import GraphBuilder
from trec.layout.arrange import arrange


def test_several_tensors_that_go_to_many_boxes_alike_leave_as_one_line_with_one_text() -> None:
    builder = GraphBuilder("Rotary")
    root = builder.scope("module", path="", cls="Rotary")
    type_ = builder.tensor_type((2, 4), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_])
    cos, sin = builder.node("op", "polar", parent=root, inputs=[x], results=[builder.tensor_type((4,), "float32")] * 2)
    for _ in range(8):
        (x,) = builder.node("op", "rotate", parent=root, inputs=[x, cos, sin], results=[type_])
    (x,) = builder.node("op", "last", parent=root, inputs=[x, sin, sin], results=[type_])
    builder.node("output", parent=root, name="y", inputs=[x])
    measured = diagram(lower(builder.build()))
    nets = [wire.net for wire in measured.wires if wire.source == 1]
    assert len(set(nets[:8])) == 1
    assert nets[8] != nets[0]
    assert [measured.texts[net] for net in dict.fromkeys(nets)] == ["4 (×2)", "4 (×2)"]
    assert arrange(measured).size[0] < 200


def test_an_expression_in_a_shape_is_no_count() -> None:
    builder = GraphBuilder("Doubled")
    root, type_ = builder.scope("module", path="", cls="Doubled"), builder.tensor_type(("B", "2*(T+1)"), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[builder.tensor_type(("B", "T"), "float32")])
    (x,) = builder.node("op", "repeat", parent=root, inputs=[x], results=[type_])
    for _ in range(3):
        builder.node("op", "relu", parent=root, inputs=[x], results=[type_])
    measured = diagram(lower(builder.build(), shapes="all"))
    nets = [wire.net for wire in measured.wires if wire.source == 1]
    assert len(nets) == 3
    assert {measured.texts[net] for net in nets} == {"B×2*(T+1)"}
    assert len(set(nets)) == 1
