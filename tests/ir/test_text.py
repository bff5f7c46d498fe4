from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from msgspec.structs import replace

from tests.strategies import any_graph
from trec.ir.builder import GraphBuilder
from trec.ir.text import lines, window

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from trec.ir.graph import Graph


def test_golden(tiny: Graph, request: pytest.FixtureRequest, golden: Callable[[str, str], None]) -> None:
    golden(f"{request.node.callspec.params['tiny']}.txt", f"{tiny}\n")


@given(any_graph())
def test_one_line_for_each_row(graph: Graph) -> None:
    text = str(graph)
    assert text.isprintable() or text.replace("\n", "").isprintable()
    assert len(text.splitlines()) == 1 + len(graph.nodes) + len(graph.carried) + len(graph.notes)
    assert list(lines(graph)) == text.split("\n")


def test_a_window_marks_its_node(skip: Graph) -> None:
    shown = window(skip, 2, radius=1).splitlines()
    assert [line[0] for line in shown] == [" ", ">", " "]
    assert shown[1].split(maxsplit=1)[1] == "2  %2: f32[2,3] = linear(%x, %fc.weight)  # fc"


def test_a_window_is_cut_at_the_ends(skip: Graph) -> None:
    assert len(window(skip, 0).splitlines()) == 4
    assert len(window(skip, len(skip.nodes) - 1).splitlines()) == 4
    assert window(skip, 99) == ""


@given(any_graph())
def test_a_window_of_a_graph_without_tables_is_printed(graph: Graph) -> None:
    broken = replace(graph, values=(), types=(), attrs=(), sources=())
    for index in range(len(graph.nodes)):
        assert len(window(broken, index, radius=0).splitlines()) == 1
        assert len(window(replace(broken, scopes=()), index, radius=0).splitlines()) == 1


def test_a_window_of_rows_of_any_type_is_printed(skip: Graph) -> None:
    for row in (None, 3, replace(skip.nodes[2], inputs=None), replace(skip.nodes[2], parent="x"), "\n"):
        broken = replace(skip, nodes=(*skip.nodes[:2], row))
        assert len(window(broken, 1).splitlines()) == 3


def test_many_uses_of_one_value_are_counted() -> None:
    builder = GraphBuilder("Net")
    root, type_ = builder.scope("module", path="", cls="Net"), builder.tensor_type((2,), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_])
    (y,) = builder.node("op", "exp", parent=root, inputs=[x], results=[type_])
    builder.node("op", "stack", parent=root, inputs=[x, *[y] * 1000, x, y, y])
    assert str(builder.build()).splitlines()[-1] == "  stack(%x, %1 x1000, %x, %1, %1)"


def test_a_window_shows_the_ends_of_a_long_line(skip: Graph) -> None:
    nodes = (replace(skip.nodes[0], name="n" * 100_000), *skip.nodes[1:])
    shown = window(replace(skip, nodes=nodes), 0)
    assert "characters) ..." in shown
    assert len(shown) < 5000
