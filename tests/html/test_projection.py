"""What the page shows of a graph is what `lower` draws of the graph collapsed to the same depth."""

from __future__ import annotations

import json
import subprocess
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.backends.samples import blocks, every
from tests.backends.test_stages import steps
from tests.distributed.test_merge import Rank, merge
from tests.passes.training import training
from trec.backends.escape import printable
from trec.backends.html.page import content
from trec.backends.html.palette import in_roles
from trec.backends.lower import lower
from trec.backends.stages import columns
from trec.backends.style import Style
from trec.ir.builder import GraphBuilder
from trec.ir.types import TIMES
from trec.passes.union import union

if TYPE_CHECKING:
    from trec.backends.options import PictureOptions
    from trec.ir.graph import Graph

READ = Path(__file__).parents[1] / "node" / "picture.mjs"
VIEWER = files("trec.backends.html") / "viewer"

pytestmark = pytest.mark.node


def shown(cases: list[tuple[Graph, int | None, dict[str, Any]]], folder: Path) -> list[dict[str, Any]]:
    """Return what the page shows of graphs, at a depth, in a view."""
    rows = [
        {"data": content(graph), "depth": depth, "view": {"folded": False, "state": False, "shapes": "changes", **view}}
        for graph, depth, view in cases
    ]
    path = folder / "cases.json"
    path.write_bytes(msgspec.json.encode(rows))
    done = subprocess.run(["node", str(READ), str(VIEWER), str(path)], capture_output=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)
    for row in found:
        row["wires"].sort()
    return found


def drawn(graph: Graph, options: PictureOptions) -> dict[str, Any]:
    """Return what `lower` draws of a graph, in the form of `shown`."""
    in_our_style: PictureOptions = {**options, "style": in_roles(Style())}
    drawing = lower(graph, **in_our_style)
    looks, strokes = drawing.looks, ("plain", "host", "carried", "added", "removed")
    found = {
        "names": [graph.nodes[box.node].name for box in drawing.boxes],
        "boxes": [
            [box.title, box.subtitle, box.detail, looks[box.look].shape, looks[box.look].fill, looks[box.look].line,
             looks[box.look].border == "error", box.repeats, box.cluster]
            for box in drawing.boxes
        ],
        "frames": [[row.title, row.subtitle, row.detail, row.repeats, row.parent] for row in drawing.clusters],
        "wires": [[edge.source, edge.target, edge.label, strokes[edge.stroke]] for edge in drawing.edges],
        "columns": columns(drawing),
    }  # fmt: skip
    plain: dict[str, Any] = json.loads(json.dumps(found))
    plain["wires"].sort()
    return {name: _printable(value) for name, value in plain.items()}


def _printable(value: Any) -> Any:
    if isinstance(value, list):
        return [_printable(part) for part in value]
    return printable(value) if isinstance(value, str) else value


VIEWS: list[tuple[dict[str, Any], PictureOptions]] = [
    ({}, {}),
    ({"state": True}, {"params": True}),
    ({"shapes": "all"}, {"shapes": "all"}),
    ({"shapes": "none", "state": True}, {"shapes": "none", "params": True}),
]


def test_all_that_is_open_is_what_is_drawn(tmp_path: Path) -> None:
    graphs = every()
    for view, options in VIEWS:
        options = {"params": False, **options}
        for graph, found in zip(graphs, shown([(graph, None, view) for graph in graphs], tmp_path), strict=True):
            assert found == drawn(graph, options), f"{graph!r} {view}"


def test_what_is_closed_is_what_a_collapsed_call_is(tmp_path: Path) -> None:
    graphs = [graph for graph in every() if any(scope.kind == "module" for scope in graph.scopes[1:])]
    for depth in (1, 2):
        for graph, found in zip(graphs, shown([(graph, depth, {}) for graph in graphs], tmp_path), strict=True):
            expected = drawn(graph.collapse(depth=depth), {"params": False})
            # An operator that is alone in its call has its own name here, and that of the call once it is collapsed.
            assert {**found, "names": ""} == {**expected, "names": ""}, f"{graph!r} {depth}"


def test_phases_and_ranks_stand_where_they_are_drawn(tmp_path: Path) -> None:
    graphs = [steps(2), merge(*[Rank(rank).op("relu").together("all_reduce") for rank in (0, 1)], fold=False)]
    for graph, found in zip(graphs, shown([(graph, None, {}) for graph in graphs], tmp_path), strict=True):
        assert found == drawn(graph, {"params": False})
        assert len(found["columns"][0]) > 1


def branches(way: int) -> Graph:
    """Return one of three ways through a net: each goes one module farther than the one before."""
    builder = GraphBuilder("Branches", (("level", "function"),))
    root = builder.scope("module", path="", cls="Branches")
    kind = builder.tensor_type((2, 8), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    for index, op in enumerate(("linear", "relu", "linear")[: way + 1]):
        block = builder.scope("module", path=f"block{index}", cls="Block", parent=root)
        (y,) = builder.node("op", op, parent=block, inputs=[x], results=[kind])
        if index != 1:
            (y,) = builder.node("op", "__add__", parent=block, inputs=[x, y], results=[kind])
        x = y
    builder.node("output", parent=root, name="y", inputs=[x])
    return builder.build()


def test_what_did_not_run_in_all_runs_is_drawn_so(tmp_path: Path) -> None:
    graph = union([branches(way) for way in range(3)])
    (found, closed) = shown([(graph, None, {}), (graph, 1, {})], tmp_path)
    assert found == drawn(graph, {"params": False})
    assert " of 3" in str(found["boxes"])
    assert "host" in [stroke for *_, stroke in found["wires"]]
    expected = drawn(graph.collapse(depth=1), {"params": False})
    words, wanted = ([[*box[:4], *box[5:]] for box in row["boxes"]] for row in (closed, expected))
    assert sorted(words) == sorted(wanted)
    assert sorted(stroke for *_, stroke in closed["wires"]) == sorted(stroke for *_, stroke in expected["wires"])


def cached(layers: int) -> Graph:
    """Return equal layers, each of which keeps two tensors in one container that the net returns; so does none."""
    builder = GraphBuilder("Cached", (("level", "function"),))
    root = builder.scope("module", path="", cls="Cached")
    kind = builder.tensor_type((2, 8), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    (weight,) = builder.node("param", parent=root, name="weight", results=[kind])
    stack = builder.scope("module", path="layers", cls="Layers", parent=root)
    kept: list[int] = []
    for index in range(layers):
        layer = builder.scope("module", path=f"layers.{index}", cls="Layer", parent=stack)
        keys, values = builder.node("op", "chunk", parent=layer, inputs=[x], results=[kind, kind])
        kept += [keys, values]
        (x,) = builder.node("op", "__add__", parent=layer, inputs=[keys, values], results=[kind])
    for index, value in enumerate(kept):
        builder.node(
            "output", parent=root, name=f"cache.{index // 2}.{'keys' if index % 2 else 'values'}", inputs=[value]
        )
    for name, value in (("cache.first", x), ("tied.0", weight), ("tied.1", weight), ("y", x)):
        builder.node("output", parent=root, name=name, inputs=[value])
    return builder.build()


def test_outputs_of_one_container_share_a_box_where_they_hang_on_one(tmp_path: Path) -> None:
    graph = cached(3)
    pills: list[list[str]] = []
    for depth, folded in ((1, False), (2, False), (None, False), (None, True)):
        (found,) = shown([(graph, depth, {"folded": folded})], tmp_path)
        passed = graph.fold() if folded else graph
        assert found == drawn(passed if depth is None else passed.collapse(depth=depth), {"params": False}), depth
        pills.append([f"{title} {subtitle}" for title, subtitle, _, shape, *_ in found["boxes"] if shape == "pill"])
    assert pills[0] == ["x 2×8", "cache 7 tensors", "tied 2 tensors", "y 2×8"]
    assert [len(row) for row in pills[1:3]] == [6, 7]
    assert "cache 6 tensors" in pills[3]


def fed(layers: int) -> Graph:
    """Return layers that read two tensors each of one container, and a net of all that reads one of another one."""
    builder = GraphBuilder("Fed", (("level", "function"),))
    root = builder.scope("module", path="", cls="Fed")
    kind = builder.tensor_type((2, 8), "float32")

    def given(name: str, scope: int = root) -> int:
        return builder.node("input", parent=scope, name=name, results=[kind])[0]

    x = given("x")
    kept = [given(f"past.{index}.{name}") for index in range(layers) for name in ("keys", "values")]
    kept += [given("state.cell"), given("state.hidden"), given("state.unread.0"), given("state.unread.1")]
    stack = builder.scope("module", path="layers", cls="Layers", parent=root)
    for index in range(layers):
        layer = builder.scope("module", path=f"layers.{index}", cls="Layer", parent=stack)
        for value in kept[2 * index : 2 * index + 2]:
            (viewed,) = builder.node("op", "view", parent=layer, inputs=[value], results=[kind])
            (x,) = builder.node("op", "__add__", parent=layer, inputs=[x, viewed], results=[kind])
    (x,) = builder.node("op", "stack", parent=root, inputs=[x, *kept[2 * layers :][:2]], results=[kind])
    rank = builder.scope("region", path="", cls="rank", parent=root, name="rank 0")
    other = [given(name, rank) for name in ("rank 0.y", "rank 0.z")]
    builder.node("op", "stack", parent=rank, inputs=[x, *other], results=[kind])
    return builder.build()


def test_inputs_of_one_container_share_a_box_where_one_reads_them_or_many(tmp_path: Path) -> None:
    few, many = fed(2), fed(6)
    pills: list[list[str]] = []
    for graph, depth in ((few, None), (few, 1), (few, 2), (many, 1), (many, 2)):
        (found,) = shown([(graph, depth, {})], tmp_path)
        assert found == drawn(graph if depth is None else graph.collapse(depth=depth), {"params": False}), depth
        pills.append([f"{title} {subtitle}" for title, subtitle, _, shape, *_ in found["boxes"] if shape == "pill"])
    others = ["state 2 tensors", "state.unread 2 tensors", "rank 0.y 2×8", "rank 0.z 2×8"]
    single = [f"past.{index}.{name} 2×8" for index in range(2) for name in ("keys", "values")]
    assert pills[0] == ["x 2×8", *single, *others]
    assert pills[1] == ["x 2×8", "past 4 tensors", *others]
    assert pills[2] == ["x 2×8", "past.0 2 tensors", "past.1 2 tensors", *others]
    assert pills[3] == pills[4] == ["x 2×8", "past 12 tensors", *others]


def test_inputs_that_one_reads_through_what_is_hidden_share_a_box(tmp_path: Path) -> None:
    (found,) = shown([(fed(2), 2, {"views": False})], tmp_path)
    assert "past.0" in [title for title, *_ in found["boxes"]]
    (found,) = shown([(fed(2), None, {"views": False})], tmp_path)
    assert "past.0.keys" in [title for title, *_ in found["boxes"]]


def test_a_parameter_that_stands_for_several_is_a_stack(tmp_path: Path) -> None:
    builder = GraphBuilder("Shared", (("level", "function"),))
    root = builder.scope("module", path="", cls="Shared")
    kind = builder.tensor_type((8,), "float32")
    weight = builder.node("param", parent=root, name="weight", results=[kind], attrs=((TIMES, 4),))
    y = builder.node("op", "relu", parent=root, inputs=weight, results=[kind])
    builder.node("output", parent=root, name="y", inputs=y)
    graph = builder.build()
    (found,) = shown([(graph, None, {"state": True})], tmp_path)
    assert found == drawn(graph, {"params": True})
    assert found["boxes"][0][:2] == ["weight", "8 ×4"]
    assert [box[-2] for box in found["boxes"]] == [4, 1, 1]


def test_what_is_folded_is_what_fold_leaves(tmp_path: Path) -> None:
    graph = blocks(4)
    for depth in (None, 1):
        (found,) = shown([(graph, depth, {"folded": True})], tmp_path)
        folded = graph.fold()
        assert found == drawn(folded if depth is None else folded.collapse(depth=depth), {"params": False})


@pytest.mark.parametrize("change", ["", "other"])
def test_blocks_of_both_directions_are_folded_as_fold_does(change: str, tmp_path: Path) -> None:
    graph = training(7, change, at=3, optimizer=False)
    for depth in (None, 1):
        (found,) = shown([(graph, depth, {"folded": True})], tmp_path)
        folded = graph.fold()
        assert found == drawn(folded if depth is None else folded.collapse(depth=depth), {"params": False})
