"""Graphs of unusual shapes, in every format: nothing, one node, very wide, very deep, long names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conftest import empty
from trec.errors import OptionError
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

_TEXTS = ("dot", "svg", "html", "mermaid", "tikz", "gexf", "graphml")
_OBJECTS = ("sigma", "cytoscape", "model_explorer", "table")
_IMAGES = ("png", "pdf")


def lone() -> Graph:
    builder = GraphBuilder("Lone")
    root = builder.scope("module", path="", cls="Lone")
    builder.node("op", "arange", parent=root, results=[builder.tensor_type((3,), "int64")])
    return builder.build()


def deep(scopes: int = 200) -> Graph:
    builder = GraphBuilder("Deep")
    scope, type_, path = builder.scope("module", path="", cls="Deep"), builder.tensor_type((3,), "float32"), "inner"
    (x,) = builder.node("input", parent=scope, name="x", results=[type_])
    for _ in range(scopes):
        scope = builder.scope("module", path=path, cls="Inner", parent=scope)
        (x,) = builder.node("op", "relu", parent=scope, inputs=[x], results=[type_])
        path += ".inner"
    builder.node("output", parent=0, name="y", inputs=[x])
    return builder.build()


def wide(branches: int = 1500) -> Graph:
    builder = GraphBuilder("Wide")
    root, type_ = builder.scope("module", path="", cls="Wide"), builder.tensor_type((3,), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_])
    inner = [builder.node("op", "relu", parent=root, inputs=[x], results=[type_])[0] for _ in range(branches)]
    (x,) = builder.node("op", "cat", parent=root, inputs=inner, results=[type_])
    builder.node("output", parent=root, name="y", inputs=[x])
    return builder.build()


def long(length: int = 100_000) -> Graph:
    builder = GraphBuilder("n" * length)
    root, type_ = builder.scope("module", path="", cls="C" * length), builder.tensor_type((3,), "float32")
    (x,) = builder.node("input", parent=root, name="x" * length, results=[type_])
    inner = builder.scope("module", path="p" * length, cls="C" * length, parent=root)
    builder.node("op", "o" * length, parent=inner, inputs=[x], results=[type_], attrs=(("a" * length, "v" * length),))
    return builder.build()


def misnamed() -> Graph:
    """Attributes by the names that trec itself gives some, of another form."""
    names = ("runs", "read_in", "made_in", "read_now", "read_before", "diff", "rank", "saved", "params", "layers")
    builder = GraphBuilder("Misnamed", tuple([(name, "x") for name in names]))
    root, type_ = builder.scope("module", path="", cls="Misnamed"), builder.tensor_type((3,), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[type_])
    for value in ("x", ("x",), (("x", ("x",)),), (9, -9), None, 2.5):
        row = tuple([(name, value) for name in names])
        scope = builder.scope("region", path="", cls="repeat", parent=root, attrs=row)
        (x,) = builder.node("op", "relu", parent=scope, inputs=[x], results=[type_], attrs=row)
        facts = (("collective", "all_reduce"), ("group", value), ("sequence", value))
        (x,) = builder.node("op", "all_reduce", parent=scope, inputs=[x], results=[type_], attrs=facts)
    builder.node("output", parent=root, name="y", inputs=[x])
    return builder.build().verify()


@pytest.mark.parametrize("make", [empty, lone, deep, wide, long, misnamed], ids=lambda make: make.__name__)
@pytest.mark.parametrize("form", [*_TEXTS, *_OBJECTS])
def test_every_format_takes_it(form: str, make: object) -> None:
    assert callable(make)
    graph = make()
    if form == "tikz" and make in (deep, wide):
        with pytest.raises(OptionError, match="TeX counts to"):
            graph.to(form)
    else:
        assert graph.to(form) is not None


@pytest.mark.parametrize("make", [empty, lone, long], ids=lambda make: make.__name__)
@pytest.mark.parametrize("form", _IMAGES)
def test_images_of_it(form: str, make: object) -> None:
    assert callable(make)
    assert len(make().to(form)) > 100


@pytest.mark.parametrize("form", _IMAGES)
def test_images_are_not_compressed_once_more(form: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="compressed already"):
        lone().to(form, path=tmp_path / f"net.{form}.gz")
    assert list(tmp_path.iterdir()) == []


def test_attributes_that_only_have_the_names_of_facts_tell_nothing() -> None:
    graph = misnamed()
    assert not graph.communication().traffic
    assert graph.fold().verify().collapse(depth=0).verify().name == "Misnamed"
    assert not graph.diff(graph)
    assert str(graph.stats())


def test_a_name_of_any_length_makes_no_wide_box() -> None:
    width = float(long().to_svg().split('width="', 1)[1].split("pt", 1)[0])
    assert width < 700
