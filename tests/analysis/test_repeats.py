from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.passes import samples
from tests.passes.samples import ended, started
from tests.passes.training import training

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def windows(count: int = 4, drop: float | None = None) -> Graph:
    """Blocks whose windows are shifted in every second one, and each of which drops more of its paths."""
    builder, type_, x = started("Windows")
    for number in range(count):
        shift = 2 * (number % 2)
        attrs = (("layer_idx", number), ("shift_size", shift), ("dim", 3))
        path = f"blocks.{number}"
        block = builder.scope("module", path=path, cls="Block", parent=0, attrs=attrs)
        if shift:
            (x,) = builder.node("op", "roll", parent=block, inputs=[x], results=[type_], attrs=(("shifts", shift),))
        (y,) = builder.node("op", "attend", parent=block, inputs=[x], results=[type_])
        rate = (("p", 0.1 * number if drop is None else drop),)
        dropping = builder.scope("module", path=f"{path}.drop_path", cls="DropPath", parent=block, attrs=rate)
        (y,) = builder.node("op", "mul", parent=dropping, inputs=[y], results=[type_])
        (x,) = builder.node("op", "add", parent=block, inputs=[x, y], results=[type_])
    return ended(builder, x)


def sized(*sizes: int) -> Graph:
    """Calls that are given different numbers of tokens."""
    builder, type_, x = started("Sized")
    for number, size in enumerate(sizes):
        given = builder.tensor_type((size, 3), "float32")
        (part,) = builder.node("op", "take", parent=0, inputs=[x], results=[given])
        expert = builder.scope("module", path=f"experts.{number}", cls="Expert", parent=0)
        (y,) = builder.node("op", "relu", parent=expert, inputs=[part], results=[given])
        (x,) = builder.node("op", "put", parent=0, inputs=[x, y], results=[type_])
    return ended(builder, x)


def found(graph: Graph, **options: Any) -> list[tuple[str, str, int, int]]:
    return [(item.first, item.last, item.count, item.times) for item in graph.repeats(**options).repeats]


def test_arguments_that_forbid_to_fold_come_before_those_that_come_again() -> None:
    first, *_ = windows().repeats().differences
    assert first.what.split("; ") == [
        "blocks.0.drop_path has p 0.0, then 0.1",
        "blocks.0.attend is attend, then roll",
        "blocks.0 has shift_size 0, then 2",
    ]
    assert first.arguments == ("p", "shift_size")


def test_what_is_named_first_can_be_ignored() -> None:
    graph = windows(6)
    assert found(graph) == []
    (name, *_) = graph.repeats().differences[0].arguments
    assert found(graph, ignore=name) == [("blocks.0", "blocks.4", 3, 1)]
    assert found(graph, ignore=[name]) == found(windows(6, drop=0.5))
    assert len(graph.fold(ignore=name).nodes) < len(graph.nodes)
    assert not any("p" in item.arguments for item in graph.repeats(ignore=name).differences)


def test_an_argument_that_tells_a_position_is_no_difference() -> None:
    assert not any("layer_idx" in item.arguments for item in windows().repeats().differences)


def test_sizes_can_be_left_aside() -> None:
    graph = sized(2, 3, 4)
    assert found(graph) == []
    assert graph.repeats().differences[0].what == "experts.0.relu reads f32[2,3], then f32[3,3]"
    assert found(graph, shapes=False) == [("take", "take_2", 3, 1)]
    assert graph.repeats(shapes=False).differences == ()


def test_only_some_of_many_arguments_are_written_out() -> None:
    builder, type_, x = started("Net")
    for number in range(2):
        attrs = tuple([(f"a{position}", number) for position in range(6)])
        block = builder.scope("module", path=f"blocks.{number}", cls="Block", parent=0, attrs=attrs)
        (x,) = builder.node("op", "relu", parent=block, inputs=[x], results=[type_])
    (item,) = ended(builder, x).repeats().differences
    assert item.what.endswith("blocks.0 has a3 0, then 1; and 2 more")
    assert item.arguments == ("a0", "a1", "a2", "a3", "a4", "a5")


def test_arguments_of_modules_come_before_those_of_steps() -> None:
    builder, type_, x = started("Net")
    for number in range(2):
        block = builder.scope("module", path=f"blocks.{number}", cls="Block", parent=0)
        (x,) = builder.node("op", "view", parent=block, inputs=[x], results=[type_], attrs=(("size", number),))
        inner = builder.scope("module", path=f"blocks.{number}.fc", cls="Fc", parent=block, attrs=(("dim", number),))
        (x,) = builder.node("op", "relu", parent=inner, inputs=[x], results=[type_])
    (item,) = ended(builder, x).repeats().differences
    assert item.arguments == ("dim", "size")


def test_repeats_inside_repeats_run_as_often_as_these() -> None:
    assert found(samples.experts()) == [
        ("layers.0", "layers.1", 2, 1), ("layers.0.__getitem__", "layers.0.__getitem___2", 3, 2),
    ]  # fmt: skip


@pytest.mark.parametrize("layers", [2, 5])
def test_backward_blocks_are_repeats_like_those_that_they_read(layers: int) -> None:
    last = layers - 1
    assert found(training(layers)) == [
        ("layers.0", f"layers.{last}", layers, 1),
        (f"layers.{last}.backward", "layers.0.backward", layers, 1),
        *[("SGD.mul", f"SGD.mul_{last}", layers, 1)],
    ]
