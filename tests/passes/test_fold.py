from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

import trec
from tests.passes import samples
from tests.passes.samples import ended, param, started
from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trec.ir.graph import Graph

GOLDEN: dict[str, tuple[Callable[[], Graph], dict[str, Any]]] = {
    "blocks": (samples.blocks, {}),
    "stages": (samples.stages, {}),
    "recurrent": (samples.recurrent, {}),
    "experts": (samples.experts, {}),
    "collapsed": (lambda: samples.stages().collapse(depth=2), {}),
    "mutual": (samples.mutual, {}),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    make, options = GOLDEN[name]
    before = make()
    golden(f"fold-{name}.txt", f"{before}\n---\n{before.fold(**options).verify()}\n")


def test_rolling_takes_only_what_has_the_same_weights(golden: Callable[[str, str], None]) -> None:
    for make in (samples.stages, samples.experts, samples.functions):
        assert make().roll() == make()
    assert samples.recurrent().roll() == samples.recurrent().fold()


def repeats(graph: Graph) -> dict[str, int]:
    return {scope.name: 1 + len(scope.repeats) for scope in graph.verify().scopes if scope.repeats}


def layers(change: str = "", at: int = 2, count: int = 5) -> Graph:
    """Equal layers with a norm and a skip, one of which is changed."""
    builder, type_, x = started("Net")
    shared = param(builder, 0, "shared", (3,))
    other = builder.tensor_type((2, 3), "float16")
    for number in range(count):
        here = change if number == at else ""
        path = f"layers.{number}"
        cls = "Other" if here == "class" else "Layer"
        layer = builder.scope("module", path=path, cls=cls, parent=0, attrs=(("width", 3 + (here == "argument")),))
        inner = builder.scope("module", path=f"{path}.{'fc' if here != 'name' else 'gate'}", cls="Linear", parent=layer)
        weight = (
            shared if here == "shared" else param(builder, inner, f"{path}.weight", (3, 4 if here == "shape" else 3))
        )
        attrs = (("bias", 1 if here == "attribute" else True),)
        (h,) = builder.node("op", "linear", parent=inner, inputs=[x, weight], results=[type_], attrs=attrs)
        result = other if here == "dtype" else type_
        (h,) = builder.node("op", "exp" if here == "op" else "relu", parent=layer, inputs=[h], results=[result])
        inputs = [h, h] if here == "wiring" else [h, x]
        if here == "more":
            (h,) = builder.node("op", "relu", parent=layer, inputs=[h], results=[type_])
        (y,) = builder.node("op", "add", parent=layer, inputs=inputs, results=[type_])
        x = y
        if here == "between":
            (x,) = builder.node("op", "neg", parent=0, inputs=[x], results=[type_])
    (x,) = builder.node("op", "mul", parent=0, inputs=[x, shared], results=[type_])
    return ended(builder, x)


def test_equal_layers_are_one() -> None:
    graph = layers().fold()
    assert repeats(graph) == {"layers.0": 5}
    assert graph.scopes[1].repeats == ("layers.1", "layers.2", "layers.3", "layers.4")
    assert len(graph.nodes) == 8
    assert graph.origin("layers.0.relu") == tuple(f"layers.{number}.relu" for number in range(5))
    assert graph.origin("layers.0.weight") == tuple(f"layers.{number}.weight" for number in range(5))


@pytest.mark.parametrize(
    "change", ["class", "argument", "name", "shared", "shape", "attribute", "dtype", "op", "wiring", "more"]
)
def test_a_layer_that_differs_ends_the_run(change: str) -> None:
    assert repeats(layers(change).fold()) == {"layers.0": 2, "layers.3": 2}


def two_runs(*picks: tuple[int, int]) -> Graph:
    """Four layers, and as many others as there are pairs, each of which reads two of the first ones by number."""
    builder, type_, start = started("Net")
    made, x = [], start
    for number in range(4):
        scope = builder.scope("module", path=f"first.{number}", cls="First", parent=0)
        (x,) = builder.node("op", "tanh", parent=scope, inputs=[x], results=[type_])
        made.append(x)
    x = start
    for number, (one, other) in enumerate(picks):
        scope = builder.scope("module", path=f"second.{number}", cls="Second", parent=0)
        (x,) = builder.node("op", "lerp", parent=scope, inputs=[x, made[one], made[other]], results=[type_])
    return ended(builder, x)


def test_blocks_that_read_an_earlier_run_in_no_common_order_stay() -> None:
    assert repeats(two_runs((0, 0), (1, 1), (2, 2), (3, 3)).fold()) == {"first.0": 4, "second.0": 4}
    assert repeats(two_runs((3, 0), (2, 0), (1, 0)).fold()) == {"first.0": 4, "second.0": 3}
    assert repeats(two_runs((0, 3), (1, 2), (2, 1), (3, 0)).fold()) == {"first.0": 4}
    assert repeats(two_runs((0, 1), (1, 3), (3, 2), (2, 0)).fold()) == {"first.0": 4}


def test_nothing_tells_which_iteration_of_a_folded_run_is_read() -> None:
    folded = two_runs((0, 3), (1, 2), (2, 1), (3, 0)).fold()
    assert folded.fold() == folded
    closed = folded.collapse(depth=1)
    assert closed.fold() == closed


def test_a_step_between_ends_the_run() -> None:
    assert repeats(layers("between").fold()) == {"layers.0": 3, "layers.3": 2}


def test_sizes_can_be_left_aside() -> None:
    assert repeats(layers("shape").fold(shapes=False)) == {"layers.0": 5}


def test_arguments_can_be_ignored() -> None:
    assert repeats(layers("argument").fold(ignore="width")) == {"layers.0": 5}
    assert repeats(layers("attribute").fold(ignore=["bias"])) == {"layers.0": 5}


def sums(graph: Graph, name: str) -> dict[str, Any]:
    return graph.attrs_of(graph.nodes[graph.index_of[name]])


@pytest.mark.parametrize("wrong", [3, None, [3]])
def test_what_is_no_name_cannot_be_ignored(wrong: Any) -> None:
    for find in (layers("argument").fold, layers("argument").repeats):
        with pytest.raises(OptionError, match="expected"):
            find(ignore=wrong)


def test_collapsing_a_folded_graph_counts_every_block() -> None:
    graph, folded = samples.experts(), samples.experts().fold()
    assert sums(graph.collapse(depth=0), "Experts") == sums(folded.collapse(depth=0), "Experts")
    one = {"ops": 2 + 3 * 4, "params": 27, "param_bytes": 108}
    assert sums(folded.collapse(depth=1).verify(), "layers.0") == sums(graph.collapse(depth=1), "layers.0") == one


def test_collapsing_adds_up_floating_point_operations_of_every_repeat() -> None:
    graph = samples.experts()
    rows = [*graph.attrs, (("flops", 10),)]
    counted = len(rows) - 1
    nodes = [replace(node, attrs=counted) if node.op == "linear" else node for node in graph.nodes]
    meta = (*graph.meta, ("costs", True))
    graph = replace(graph, nodes=tuple(nodes), attrs=tuple(rows), meta=meta).verify()
    for whole in (graph, graph.fold(), graph.collapse(depth=2), graph.fold().collapse(depth=1)):
        assert sums(whole.collapse(depth=0), "Experts")["flops"] == whole.stats().flops == 60


def test_a_block_can_be_opened_again() -> None:
    folded = samples.stages().fold()
    assert repeats(folded) == {"stages.0.0": 3, "stages.1.0": 2}
    assert repeats(folded.expand("stages.0.0.conv")) == {"stages.1.0": 2}
    assert folded.expand("stages.0.0.conv").expand("stages.1.0.conv") == samples.stages()
    assert folded.collapse(depth=1).expand("stages.0") == folded.collapse(only="stages.1")


def test_outputs_of_every_block_can_be_read() -> None:
    graph = samples.recurrent().fold().verify()
    stack = graph.nodes[graph.index_of["stack"]]
    assert len(set(stack.inputs)) == 1
    assert len(stack.inputs) == 4


def test_what_folding_gives_can_be_saved(tmp_path: Path) -> None:
    graph = samples.recurrent().fold()
    graph.save(tmp_path / "graph.trec")
    assert trec.load(tmp_path / "graph.trec") == graph


def test_a_hundred_thousand_steps_of_a_loop() -> None:
    assert len(samples.recurrent(25_000).roll().verify().nodes) == 10
