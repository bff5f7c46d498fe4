from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest

from tests.passes import samples
from tests.passes.samples import ended, param, started
from trec import OptionError
from trec.ir.types import Carried

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

GOLDEN: dict[str, tuple[Callable[[], Graph], dict[str, Any]]] = {
    "blocks-depth-0": (samples.blocks, {"depth": 0}),
    "blocks-depth-1": (samples.blocks, {"depth": 1}),
    "blocks-depth-2": (samples.blocks, {"depth": 2}),
    "blocks-only-path": (samples.blocks, {"only": "layers.*.fc"}),
    "blocks-only-class": (samples.blocks, {"only": ["Block"], "keep": "layers.0"}),
    "blocks-keep": (samples.blocks, {"depth": 0, "keep": "layers.1.fc"}),
    "interleaved": (samples.interleaved, {"depth": 1}),
    "mutual": (samples.mutual, {"depth": 1}),
    "functions-depth-1": (samples.functions, {"depth": 1}),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    make, options = GOLDEN[name]
    before = make()
    golden(f"collapse-{name}.txt", f"{before}\n---\n{before.collapse(**options).verify()}\n")


def sums(graph: Graph, name: str) -> dict[str, Any]:
    return graph.attrs_of(graph.nodes[graph.index_of[name]])


def test_a_shared_parameter_stays_outside_and_is_counted_once() -> None:
    graph = samples.blocks()
    one = {"ops": 3, "params": 9 + 3 + 9 + 3, "param_bytes": 36 + 12 + 18 + 12}
    collapsed = graph.collapse(depth=1)
    assert "shared.weight" in collapsed.index_of
    assert sums(collapsed, "layers.0") == sums(collapsed, "layers.1") == one
    whole = {"ops": 6, "params": 9 + 2 * (9 + 3 + 3), "param_bytes": 18 + 2 * (36 + 12 + 12)}
    for twice in (graph, collapsed, graph.collapse(depth=2), graph.collapse(only="Linear").collapse(only="Block")):
        root = twice.collapse(depth=0)
        assert [node.kind for node in root.nodes] == ["input", "module", "output"]
        assert sums(root, "Blocks") == whole


def test_the_collapsed_root_holds_itself() -> None:
    root = samples.blocks().collapse(depth=0)
    node = root.nodes[1]
    assert (node.parent, node.scope, node.depth, node.op) == (0, 0, 0, "Blocks")
    assert len(root.scopes) == 1
    assert root.collapse(depth=0) == root.collapse(depth=3) == root


def test_a_collapsed_node_is_named_placed_and_typed_as_its_call() -> None:
    graph = samples.blocks().collapse(depth=1)
    node = graph.nodes[graph.index_of["layers.1"]]
    assert (node.kind, node.op, node.depth, node.parent) == ("module", "Block", 1, 0)
    scope = graph.scopes[node.scope]
    assert (scope.name, scope.cls, scope.source) == ("layers.1", "Block", node.source)
    assert graph.source_of(node) is not None
    assert [scope.name for scope in graph.scopes] == ["Blocks", "layers.0", "layers.1"]


def test_each_use_from_outside_is_one_input() -> None:
    builder, type_, x = started("Net")
    inner = builder.scope("module", path="inner", cls="Inner", parent=0)
    (y,) = builder.node("op", "mul", parent=inner, inputs=[x, x], results=[type_])
    (y,) = builder.node("op", "add", parent=inner, inputs=[y, x], results=[type_])
    node = ended(builder, y, y).collapse(depth=1).nodes[1]
    assert (node.inputs, node.outputs) == ((0, 0, 0), (1,))


def test_what_a_call_makes_and_nothing_reads_is_gone() -> None:
    builder, type_, x = started("Net")
    inner = builder.scope("module", path="inner", cls="Norm", parent=0)
    y, _, stale = builder.node("op", "batch_norm", parent=inner, inputs=[x], results=[type_] * 3)
    (z,) = builder.node("op", "add", parent=0, inputs=[stale, x], results=[type_])
    graph = ended(builder, y, z).collapse(depth=1)
    assert [value.name for value in graph.values] == ["x", "inner.batch_norm:0", "inner.batch_norm:2", "add"]


def test_a_source_in_the_middle_of_a_call_does_not_split_it() -> None:
    builder, type_, x = started("Net")
    inner = builder.scope("module", path="inner", cls="Inner", parent=0)
    (y,) = builder.node("op", "relu", parent=inner, inputs=[x], results=[type_])
    weight = param(builder, 0, "weight", (3,))
    builder.node("output", parent=0, name="early", inputs=[y], attrs=(("index", 0),))
    (y,) = builder.node("op", "mul", parent=inner, inputs=[y, weight], results=[type_])
    (z,) = builder.node("op", "add", parent=0, inputs=[y, weight], results=[type_])
    graph = ended(builder, z).collapse(depth=1).verify()
    assert [node.name for node in graph.nodes] == ["x", "weight", "inner", "early", "add", "output0"]


def test_a_generator_that_is_drained_at_once_is_one_node() -> None:
    builder, type_, x = started("Net")
    steps = builder.scope("module", path="steps", cls="Steps", parent=0)
    values = [builder.node("op", "relu", parent=steps, inputs=[x], results=[type_])[0] for _ in range(3)]
    (y,) = builder.node("op", "stack", parent=0, inputs=values, results=[type_])
    graph = ended(builder, y).collapse(depth=1)
    assert [node.name for node in graph.nodes] == ["x", "steps", "stack", "output0"]
    assert graph.nodes[1].outputs == (1, 2, 3)


def test_a_module_inside_itself_collapses_at_its_own_depth() -> None:
    builder, type_, x = started("Net")
    scope = 0
    for call in range(3):
        scope = builder.scope("module", path="tree", cls="Tree", parent=scope, call=call)
        (x,) = builder.node("op", "relu", parent=scope, inputs=[x], results=[type_])
    graph = ended(builder, x)
    assert [node.name for node in graph.collapse(depth=2).nodes] == ["x", "tree.relu", "tree#2", "output0"]
    assert [node.name for node in graph.collapse(only="tree#3").nodes][2:4] == ["tree#2.relu", "tree#3"]


def test_a_thousand_scopes_inside_one_another() -> None:
    builder, type_, x = started("Net")
    scope = 0
    for number in range(1000):
        scope = builder.scope("module", path=f"m{number}", cls="M", parent=scope)
        (x,) = builder.node("op", "relu", parent=scope, inputs=[x], results=[type_])
    graph = ended(builder, x)
    for depth in (0, 1, 500, 999, 1000):
        assert len(graph.collapse(depth=depth).verify().nodes) == depth + 2 + (depth < 1001) - (depth > 0)
    assert graph.collapse(depth=700).collapse(depth=3) == graph.collapse(depth=3)


def test_a_hundred_thousand_nodes() -> None:
    builder, type_, x = started("Net")
    for number in range(10_000):
        layer = builder.scope("module", path=f"layers.{number}", cls="Layer", parent=0)
        for _ in range(9):
            (x,) = builder.node("op", "relu", parent=layer, inputs=[x], results=[type_])
        (x,) = builder.node("op", "relu", parent=0, inputs=[x], results=[type_])
    graph = ended(builder, x)
    assert len(graph.nodes) == 100_002
    assert len(graph.collapse(depth=1).verify().nodes) == 20_002
    assert sums(graph.collapse(depth=0), "Net")["ops"] == 100_000


@pytest.mark.parametrize("depth", [-1, 1.0, True, "1"])
def test_a_depth_that_is_no_natural_number_is_refused(depth: Any) -> None:
    with pytest.raises(OptionError, match="depth must be a natural number"):
        samples.blocks().collapse(depth=depth)


@pytest.mark.parametrize("options", [{}, {"keep": "layers.0"}, {"only": []}])
def test_something_must_be_asked_for(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="needs depth="):
        samples.blocks().collapse(**options)


def test_a_pattern_that_matches_nothing_is_answered_with_what_it_could_have_been() -> None:
    with pytest.raises(OptionError, match=r"only='layer\.0'.*did you mean 'layers\.0'"):
        samples.blocks().collapse(only="layer.0")
    with pytest.raises(OptionError, match=r"keep='linear'.*did you mean 'Linear'"):
        samples.blocks().collapse(depth=1, keep=["Block", "linear"])


@pytest.mark.parametrize("enabled", [True, False])
def test_the_garbage_collector_is_left_as_it_was(enabled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        samples.blocks().collapse(depth=1)
        assert gc.isenabled() == enabled
        monkeypatch.setattr("trec.passes.collapse.segments", None)
        with pytest.raises(TypeError):
            samples.blocks().collapse(depth=1)
        assert gc.isenabled() == enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_a_parameter_made_inside_is_counted_and_never_taken_for_a_source() -> None:
    builder, type_, x = started("Net")
    outer = builder.scope("module", path="outer", cls="Outer", parent=0)
    inner = builder.scope("module", path="outer.inner", cls="Inner", parent=outer)
    (raw,) = builder.node("op", "uniform_", parent=inner, results=[type_])
    (made,) = builder.node("param", parent=outer, name="outer.weight", inputs=[raw], results=[type_])
    (y,) = builder.node("op", "mul", parent=inner, inputs=[x, made], results=[type_])
    (y,) = builder.node("op", "add", parent=outer, inputs=[y, made], results=[type_])
    graph = ended(builder, y)
    assert [node.name for node in graph.collapse(depth=2).verify().nodes][1:4] == [
        "outer.inner",
        "outer.weight",
        "outer.inner_1",
    ]
    for whole in (graph.collapse(depth=1), graph.collapse(depth=2).collapse(depth=1)):
        assert sums(whole, "outer") == {"ops": 3, "params": 6, "param_bytes": 24}


def test_a_source_of_a_module_inside_a_function_moves_to_the_module_around() -> None:
    builder, type_, x = started("Net", "aten")
    call = builder.scope("function", path="", cls="checkpoint", parent=0, name="checkpoint")
    inner = builder.scope("module", path="inner", cls="Inner", parent=call)
    weight = param(builder, inner, "inner.weight", (3,))
    (y,) = builder.node("op", "aten.mul.Tensor", parent=inner, inputs=[x, weight], results=[type_])
    (y,) = builder.node("op", "aten.neg.default", parent=call, inputs=[y], results=[type_])
    (y,) = builder.node("op", "aten.mul.Tensor", parent=inner, inputs=[y, weight], results=[type_])
    graph = ended(builder, y).collapse(depth=1).verify()
    node = graph.nodes[graph.index_of["inner.weight"]]
    assert (node.parent, node.depth) == (0, 1)


def test_what_two_loops_carry_alike_is_one_row_when_both_are_gone() -> None:
    builder, _, x = started("Loops")
    loop = builder.scope("module", path="loop", cls="Loop", parent=0)
    builder.carried += [Carried(x, 1, 0), Carried(x, 1, 0, loop)]
    once = ended(builder, x).collapse(depth=0)
    assert once.carried == (Carried(x, 1, 0),)
    assert once.collapse(depth=0) == once
