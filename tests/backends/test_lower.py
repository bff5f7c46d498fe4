from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from msgspec.structs import replace

from tests.backends.samples import aten, blocks, deep, marks, named, sample
from tests.conftest import collapsed, skip, twice
from tests.strategies import any_graph
from trec.backends.lower import lower
from trec.backends.style import LIGHT, Paint, Style
from trec.errors import OptionError
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from trec.backends.drawing import Box, Drawing
    from trec.ir.graph import Graph
    from trec.ir.types import Node


def box(drawing: Drawing, title: str) -> Box:
    (found,) = [box for box in drawing.boxes if box.title == title]
    return found


def edges(drawing: Drawing) -> list[tuple[str, str, str]]:
    return [(drawing.boxes[edge.source].title, drawing.boxes[edge.target].title, edge.label) for edge in drawing.edges]


def around(drawing: Drawing, title: str) -> list[str]:
    index, names = box(drawing, title).cluster, []
    while index >= 0:
        names.append(drawing.clusters[index].title)
        index = drawing.clusters[index].parent
    return names


def test_leaf_modules_of_one_operator_are_boxes_with_name_class_arguments_and_parameters() -> None:
    drawing = lower(sample())
    assert [(box.title, box.subtitle, box.detail) for box in drawing.boxes] == [
        ("x", "1×3", ""),
        ("linear_1", "Linear", "3→3 · 12 params"),
        ("linear_2", "Linear", "3→3 · 12 params"),
        ("cat", "", ""),
        ("linear_3", "Linear", "6→1 · 7 params"),
        ("my_special_relu", "ReLU", ""),
        ("output0", "1×1", ""),
    ]
    assert not drawing.clusters
    assert edges(drawing) == [
        ("x", "linear_1", ""),
        ("x", "linear_2", ""),
        ("linear_1", "cat", ""),
        ("linear_2", "cat", ""),
        ("cat", "linear_3", "1×6"),
        ("linear_3", "my_special_relu", "1×1"),
        ("my_special_relu", "output0", ""),
    ]


def test_every_mark() -> None:
    drawing = lower(marks())
    shapes = {box.title: drawing.looks[box.look].shape for box in drawing.boxes}
    lines = {box.title: drawing.looks[box.look].line for box in drawing.boxes}
    assert shapes["image"] == shapes["y"] == "pill"
    assert shapes["×"] == shapes["+"] == shapes["÷"] == "circle"
    assert shapes[""] == "point"
    assert {title for title, line in lines.items() if line == "dashed"} == {"scale", "item", "region"}
    assert around(drawing, "conv2d") == ["layers.0", "layers"]
    assert box(drawing, "drop").detail == box(drawing, "drop (2)").detail == "p=0.1"
    assert box(drawing, "mm").detail == "RuntimeError"
    assert drawing.looks[box(drawing, "mm").look].border == LIGHT.error
    (failed,) = [cluster for cluster in drawing.clusters if cluster.title == "head"]
    assert failed.detail == "RuntimeError"
    assert drawing.looks[failed.look].border == LIGHT.error
    (region,) = [cluster for cluster in drawing.clusters if cluster.subtitle == "region"]
    assert drawing.looks[region.look].line == "dashed"
    fills = [drawing.looks[cluster.look].fill for cluster in drawing.clusters]
    assert fills[0] != fills[1]
    assert fills[0] == fills[2]


def test_edges_of_every_mark() -> None:
    drawing = lower(marks())
    found = edges(drawing)
    assert ("chunk", "cat", "×3") in found
    assert ("", "+", "1×32×28×28 (×2)") in found
    assert ("conv2d", "×", "1×32×28×28") in found
    strokes = {(drawing.boxes[e.source].title, drawing.boxes[e.target].title): e.stroke for e in drawing.edges}
    assert drawing.strokes[strokes["drop (2)", "item"]].line == "dashed"
    assert drawing.strokes[strokes["item", "cat"]].line == "dashed"
    assert drawing.strokes[strokes["chunk", "cat"]].line == "solid"
    assert [drawing.strokes[edge.stroke].colour for edge in drawing.edges].count(LIGHT.carried) == 1


def test_function_calls_at_the_level_of_operators() -> None:
    drawing = lower(aten())
    assert around(drawing, "mm") == ["linear", "fc"]
    assert around(drawing, "weight") == ["fc"]
    assert box(drawing, "weight").subtitle == "4×4"
    assert (box(drawing, "act").subtitle, around(drawing, "act")) == ("ReLU", [])
    assert around(drawing, "_softmax") == []
    assert [edge.length for edge in drawing.edges][:3] == [1, 3, 1]


def test_parameters_on_request() -> None:
    assert len(lower(sample(), params=True).boxes) == len(lower(sample()).boxes) + 6
    drawing = lower(sample(), params=True)
    assert not drawing.clusters
    assert sum(box.title == "weight" for box in drawing.boxes) == 3
    hidden = lower(aten(), params=False)
    assert ("t", "mm", "4×4") in edges(hidden)
    assert not [box for box in hidden.boxes if box.title == "weight"]


def test_a_hidden_parameter_made_from_a_value_is_seen_through() -> None:
    builder = GraphBuilder("Made")
    root = builder.scope("module", path="", cls="Made")
    kind = builder.tensor_type((2,), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    (made,) = builder.node("param", parent=root, name="w", inputs=[x], results=[kind])
    (y,) = builder.node("op", "relu", parent=root, inputs=[made], results=[kind])
    builder.node("output", parent=root, name="y", inputs=[y])
    assert edges(lower(builder.build())) == [("x", "relu", ""), ("relu", "y", "")]


def test_shapes_all_and_none() -> None:
    assert all(label for _, _, label in edges(lower(skip(), shapes="all")))
    assert not any("×3" in label.replace("(×", "") for _, _, label in edges(lower(skip(), shapes="none")))
    assert not any(label for _, _, label in edges(lower(sample(), tensors="none")))


def test_types_other_than_the_main_one_are_named() -> None:
    drawing = lower(twice())
    assert box(drawing, "x").subtitle == "4×s0"
    assert box(drawing, "output1").subtitle == "scalar float64"
    assert ("topk", "item", "4×1 int64") in edges(drawing)


def test_tensors_as_boxes() -> None:
    drawing = lower(sample(), tensors="nodes")
    tensors = [box.title for box in drawing.boxes if box.node < 0]
    assert tensors == ["1×3", "1×3", "1×6", "1×1"]
    assert len(drawing.edges) == 11
    assert not any(edge.label for edge in drawing.edges)


def test_a_tensor_lies_in_the_innermost_cluster_around_all_that_touch_it() -> None:
    drawing = lower(marks(), tensors="nodes")
    titles = {-1: "", **{index: cluster.title for index, cluster in enumerate(drawing.clusters)}}
    names = {box.tooltip.split(":")[0]: titles[box.cluster] for box in drawing.boxes if box.node < 0}
    assert names["layers.0.conv2d"] == "layers.0"
    assert names["layers.0.update"] == "layers"
    assert names["layers.__add__"] == ""


def test_collapsed_calls() -> None:
    drawing = lower(collapsed())
    assert [(box.title, box.subtitle, box.detail) for box in drawing.boxes][1:3] == [
        ("body", "Body", "1.2 k params"),
        ("relu", "", ""),
    ]
    assert edges(drawing)[0] == ("x", "body", "")


def test_a_collapsed_root_is_one_box() -> None:
    builder = GraphBuilder("Net")
    builder.scope("module", path="", cls="NetClass")
    kind = builder.tensor_type((2,), "float32")
    (x,) = builder.node("input", parent=0, name="x", results=[kind])
    (y,) = builder.node("module", "NetClass", parent=0, inputs=[x], results=[kind], scope=0)
    builder.node("output", parent=0, name="y", inputs=[y])
    assert [box.title for box in lower(builder.build()).boxes] == ["x", "NetClass", "y"]


def test_several_calls_under_one_root_are_clusters() -> None:
    builder = GraphBuilder("recording")
    builder.scope("region", path="", cls="recording")
    kind = builder.tensor_type((2,), "float32")
    (x,) = builder.node("input", parent=0, name="x", results=[kind])
    for call in range(2):
        scope = builder.scope("module", path="", cls="Net", parent=0, call=call)
        (x,) = builder.node("op", "relu", parent=scope, inputs=[x], results=[kind])
        (x,) = builder.node("op", "sin", parent=scope, inputs=[x], results=[kind])
    builder.node("output", parent=0, name="y", inputs=[x])
    assert [cluster.title for cluster in lower(builder.build()).clusters] == ["Net", "Net (2)"]


def test_long_names_lose_their_middle_and_are_whole_in_the_tooltip() -> None:
    name = "a" * 60 + "b" * 60
    drawing = lower(named(name))
    for found in (drawing.boxes[0], drawing.clusters[0]):
        assert found.title.startswith("aaaa")
        assert "bbbb" in found.title[-8:]
        assert len(found.title) == 30
        assert name in found.tooltip


def test_caption() -> None:
    assert lower(sample(), caption=True).caption == "SampleNet · depth 2 · 31 params"
    assert lower(collapsed(), caption=True).caption == "Collapsed · depth 1 · 1.2 k params"
    assert lower(sample()).caption == ""


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_a_caption_counts_the_parameters_of_all_blocks_that_were_folded(depth: int) -> None:
    graph = blocks(3)
    whole, folded = (lower(one.collapse(depth=depth), caption=True).caption for one in (graph, graph.fold()))
    assert whole == folded
    assert "param" in whole


def test_inputs_stand_first() -> None:
    drawing = lower(sample())
    assert [drawing.boxes[index].title for index in drawing.first] == ["x"]


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("tensors", "edge", "'edges', 'nodes', 'none'"),
        ("shapes", None, "'changes', 'all', 'none'"),
        ("params", "yes", "None, True, False"),
        ("rankdir", "tb", "'TB', 'LR', 'BT', 'RL'"),
        ("caption", 1, "True, False"),
    ],
)
def test_a_wrong_option_is_answered_with_the_right_ones(option: str, value: Any, allowed: str) -> None:
    options: dict[str, Any] = {option: value}
    with pytest.raises(OptionError, match=f"{option}=.*{allowed}"):
        lower(sample(), **options)


def test_a_style_decides_families_colours_and_titles() -> None:
    red = Paint("#ff0000", "#aa0000")

    def paint(graph: Graph, node: Node) -> Paint | None:
        return red if node.op == "cat" else None

    def label(graph: Graph, node: Node) -> str | None:
        return "joined" if node.op == "cat" else None

    style = Style(
        classify={"ReLU": "attention"},
        colours={"linear": Paint("#00ff00", "#00aa00")},
        colour_by=paint,
        label_node=label,
        theme=replace(LIGHT, background="#eeeeee"),
    )
    drawing = lower(sample(), style=style)
    fill = {box.title: drawing.looks[box.look].fill for box in drawing.boxes}
    assert fill["joined"] == "#ff0000"
    assert fill["linear_1"] == "#00ff00"
    assert fill["my_special_relu"] == LIGHT.families["attention"].fill
    assert drawing.background == "#eeeeee"


def test_any_object_with_its_attributes_is_a_style() -> None:
    class Mine:
        def __getattr__(self, name: str) -> Any:
            return getattr(Style(), name)

    mine: Any = Mine()
    assert lower(marks(), style=mine) == lower(marks())


def test_text_stands_out_from_its_background() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    paints = [*LIGHT.families.values(), *LIGHT.clusters, LIGHT.terminal, LIGHT.state, LIGHT.arithmetic]
    for paint in paints:
        assert contrast(paint.text, paint.fill) >= 4.5
        assert contrast(paint.muted, paint.fill) >= 4.5
    for cluster in LIGHT.clusters:
        assert contrast(LIGHT.label, cluster.fill) >= 4.5
    assert contrast(LIGHT.text, LIGHT.background) >= 4.5


def test_deep_nesting() -> None:
    drawing = lower(deep(2000))
    assert len(drawing.clusters) == 1999


@given(any_graph())
def test_a_drawing_is_whole(graph: Graph) -> None:
    for params in (False, True):
        drawing = lower(graph, params=params, shapes="all")
        drawn = {box.node for box in drawing.boxes}
        for index, node in enumerate(graph.nodes):
            if node.kind in ("param", "buffer"):
                assert (index in drawn) == params
            elif node.kind not in ("op", "output"):
                assert index in drawn
        pairs = [(edge.source, edge.target, edge.stroke) for edge in drawing.edges]
        assert len(pairs) == len(set(pairs))
        for box in drawing.boxes:
            assert -1 <= box.cluster < len(drawing.clusters)
        for index, cluster in enumerate(drawing.clusters):
            assert cluster.parent < index
        placed = [entry for content in drawing.content for entry in content if isinstance(entry, range)]
        assert sorted(box for entry in placed for box in entry) == list(range(len(drawing.boxes)))


@given(any_graph())
def test_with_parameters_every_use_is_on_an_edge(graph: Graph) -> None:
    drawing = lower(graph, params=True, shapes="none")
    carried = {edge.stroke for edge in drawing.edges} - {0, 1}
    joined = {
        (drawing.boxes[edge.source].node, drawing.boxes[edge.target].node)
        for edge in drawing.edges
        if edge.stroke not in carried
    }
    drawn = {box.node for box in drawing.boxes}  # but for results that share a pill with others of their container
    assert joined == {
        (graph.producers[value], index)
        for index, node in enumerate(graph.nodes)
        for value in node.inputs
        if index in drawn
    }


def test_what_only_keeps_the_books_of_a_buffer_is_hidden_with_it() -> None:
    builder = GraphBuilder("Norm")
    root = builder.scope("module", path="", cls="Norm")
    scope = builder.scope("module", path="norm", cls="BatchNorm2d", parent=root)
    type_ = builder.tensor_type((2, 3), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_])
    (count,) = builder.node("buffer", parent=scope, name="norm.count", results=[type_])
    builder.node("op", "add_", parent=scope, inputs=[count], results=[type_])
    (y,) = builder.node("op", "batch_norm", parent=scope, inputs=[x, count], results=[type_])
    builder.node("output", parent=root, inputs=[y])
    graph = builder.build()
    assert [box.title for box in lower(graph).boxes] == ["x", "norm", "output"]
    assert not lower(graph).clusters
    assert len(lower(graph, params=True).boxes) == len(graph.nodes)


def test_results_of_one_step_in_one_container_are_one_pill() -> None:
    builder = GraphBuilder("Cache")
    root = builder.scope("module", path="", cls="Cache")
    type_ = builder.tensor_type((2, 3), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_])
    kept = builder.node("op", "split", parent=root, inputs=[x], results=[type_] * 2)
    (y,) = builder.node("op", "relu", parent=root, inputs=[x], results=[type_])
    builder.node("output", parent=root, name="cache.0.keys", inputs=[kept[0]])
    builder.node("output", parent=root, name="cache.0.values", inputs=[kept[1]])
    builder.node("output", parent=root, name="cache.1.keys", inputs=[y])
    builder.node("output", parent=root, name="logits", inputs=[y])
    drawing = lower(builder.build())
    titles = [(box.title, box.subtitle) for box in drawing.boxes]
    assert titles[3:] == [("cache.0", "2 tensors"), ("cache.1.keys", "2×3"), ("logits", "2×3")]
    assert sum(edge.target == 3 for edge in drawing.edges) == 1


def test_tensors_of_one_container_that_one_step_reads_are_one_pill_and_so_are_those_for_many() -> None:
    builder = GraphBuilder("Cache")
    root = builder.scope("module", path="", cls="Cache")
    type_ = builder.tensor_type((2, 3), "float32")
    names = ("state.cell", "state.hidden", "state.rest", *[f"past.{index}" for index in range(5)])
    cell, hidden, rest, *past = [builder.node("input", parent=root, name=n, results=[type_])[0] for n in names]
    builder.node("op", "cat", parent=root, inputs=[cell, hidden], results=[type_])
    for value in (rest, *past):
        builder.node("op", "relu", parent=root, inputs=[value], results=[type_])
    drawing = lower(builder.build())
    titles = [(box.title, box.subtitle) for box in drawing.boxes if box.node < len(names)]
    assert titles == [("state", "2 tensors"), ("state.rest", "2×3"), ("past", "5 tensors")]
    assert drawing.first == (0, 1, 2)
    assert drawing.boxes[0].tooltip == "state.cell\nstate.hidden"
    assert sum(edge.source == 2 for edge in drawing.edges) == 5


def test_a_renamed_call_has_its_new_name_on_the_picture() -> None:
    whole = blocks(2).rename({"layers.0": "first"})
    assert [row.title for row in lower(whole).clusters] == ["first", "layers.1"]
    assert box(lower(whole.collapse(depth=1)), "first").subtitle == "Block"


def test_calls_that_are_renamed_together_have_titles_as_seen_from_the_calls_around_them() -> None:
    renamed = deep(3).rename(lambda row: row.name.replace("m", "n", 1))
    assert [row.title for row in lower(deep(3)).clusters] == ["m", "m"]
    assert [row.title for row in lower(renamed).clusters] == ["n", "m"]


def test_what_is_in_a_renamed_call_keeps_its_title() -> None:
    assert [row.title for row in lower(deep(3).rename({"m": "outer"})).clusters] == ["outer", "m"]
