"""Graphs of unusual shapes, in every format: nothing, one node, very wide, very deep, long names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trec.errors import OptionError
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

_TEXTS = ("dot", "svg", "mermaid", "tikz", "gexf", "graphml")
_OBJECTS = ("sigma", "cytoscape", "model_explorer", "table")
_IMAGES = ("png", "pdf")


def empty() -> Graph:
    return GraphBuilder("Empty").build()


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


@pytest.mark.parametrize("make", [empty, lone, deep, wide, long], ids=lambda make: make.__name__)
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


def test_a_name_of_any_length_makes_no_wide_box() -> None:
    width = float(long().to_svg().split('width="', 1)[1].split("pt", 1)[0])
    assert width < 700
