from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.passes import samples
from tests.passes.samples import ended, param, started
from trec import OptionError
from trec.ir.types import Carried

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

GOLDEN: dict[str, tuple[Callable[[], Graph], str]] = {
    "blocks-params": (samples.blocks, "kind:param"),
    "blocks-linears": (samples.blocks, "op:linear"),
    "blocks-one": (samples.blocks, "layers.0"),
    "functions-views": (samples.functions, "is:view or kind:constant"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    make, what = GOLDEN[name]
    before = make()
    golden(f"hide-{name}.txt", f"{before}\n---\n{before.hide(what).verify()}\n")


def names(graph: Graph) -> list[str]:
    return [node.name for node in graph.verify().nodes]


def test_an_output_keeps_the_view_that_gives_it_its_shape() -> None:
    builder, type_, x = started("Net")
    flat = builder.tensor_type((6,), "float32")
    (y,) = builder.node("op", "relu", parent=0, inputs=[x], results=[type_])
    (z,) = builder.node("op", "view", parent=0, inputs=[y], results=[flat])
    (w,) = builder.node("op", "view", parent=0, inputs=[z], results=[type_])
    graph = ended(builder, w)
    assert names(graph.hide("is:view")) == ["x", "relu", "output0"]
    graph = ended(builder, z)
    assert graph.hide("is:view") == graph


def test_an_output_of_several_values_or_none_keeps_what_makes_it() -> None:
    builder, type_, x = started("Net")
    (y,) = builder.node("op", "rand", parent=0, results=[type_])
    (z,) = builder.node("op", "add", parent=0, inputs=[x, y], results=[type_])
    graph = ended(builder, z, y)
    assert graph.hide("kind:op") == graph
    assert names(graph.hide("op:rand")) == ["x", "rand", "add", "output0", "output1"]


def test_readers_of_what_read_several_values_read_them_all() -> None:
    builder, type_, x = started("Net")
    weight = param(builder, 0, "w", (3,))
    (y,) = builder.node("op", "add", parent=0, inputs=[x, weight, x], results=[type_])
    (z,) = builder.node("op", "mul", parent=0, inputs=[y, y, weight], results=[type_])
    node = ended(builder, z).hide("op:add").verify().nodes[2]
    assert node.inputs == (0, 1, 0, 1, 1)


def test_what_a_loop_carries_goes_past_hidden_nodes() -> None:
    builder, type_, x = started("Net")
    (y,) = builder.node("op", "view", parent=0, inputs=[x], results=[type_])
    (z,) = builder.node("op", "cell", parent=0, inputs=[x, y], results=[type_])
    (w,) = builder.node("op", "view", parent=0, inputs=[z], results=[type_])
    graph = replace(ended(builder, w), carried=(Carried(w, 1, 0), Carried(x, 2, 0))).verify()
    assert graph.hide("is:view").verify().carried == (Carried(0, 1, 0), Carried(1, 1, 1))


def test_calls_that_hold_nothing_any_more_are_gone() -> None:
    graph = samples.blocks().hide("layers.0.fc")
    assert "layers.0.fc" not in [scope.name for scope in graph.scopes]


def test_dropout_is_hidden_only_where_it_is_off() -> None:
    builder, type_, x = started("Net")
    for training in (True, False):
        attrs = (("p", 0.1), ("training", training))
        (x,) = builder.node("op", "dropout", parent=0, inputs=[x], results=[type_], attrs=attrs)
    assert names(ended(builder, x).hide("is:dropout")) == ["x", "dropout", "output0"]


def test_what_is_not_there_is_named_or_allowed() -> None:
    graph = samples.blocks()
    with pytest.raises(OptionError, match="did you mean 'linear'"):
        graph.hide("op:liner")
    assert graph.hide("op:liner", missing_ok=True) is graph.hide("is:cast") is graph


def test_a_long_chain_of_views() -> None:
    builder, type_, x = started("Net")
    for number in range(20_000):
        (x,) = builder.node("op", "view" if number % 2 else "relu", parent=0, inputs=[x], results=[type_])
    assert len(ended(builder, x).hide("is:view").verify().nodes) == 10_002
