from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import graphviz
import pytest
from hypothesis import given, settings

from tests.backends import readers
from tests.backends.samples import HOSTILE, aten, marks, named, sample
from tests.strategies import any_graph
from trec.backends.graphviz import to_graphviz
from trec.backends.lower import lower
from trec.errors import DependencyError

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph


def test_it_is_a_digraph_of_the_library() -> None:
    digraph: Any = to_graphviz(marks(), caption=True)
    assert type(digraph) is graphviz.Digraph
    assert digraph.name == "Marks"
    assert digraph.graph_attr["label"] == "Marks · depth 3"
    assert "subgraph cluster_1 {" in digraph.source
    assert digraph.source.index("subgraph cluster_1 {") < digraph.source.index("n2 [")


def test_its_attributes_may_be_changed() -> None:
    digraph: Any = to_graphviz(sample())
    digraph.graph_attr["dpi"] = "200"
    digraph.node_attr.update(fontname="Courier")
    digraph.node("mine", "my own")
    assert "dpi=200" in digraph.source
    assert "fontname=Courier" in digraph.source
    assert "mine" in digraph.source


@pytest.mark.dot
@pytest.mark.parametrize("graph", [sample(), marks(), aten()], ids=["sample", "marks", "aten"])
def test_it_renders(graph: Graph, tmp_path: Path) -> None:
    digraph: Any = to_graphviz(graph)
    path = digraph.render(directory=tmp_path, format="png")
    with open(path, "rb") as file:
        assert file.read(8) == b"\x89PNG\r\n\x1a\n"


@pytest.mark.dot
@pytest.mark.parametrize("name", [*HOSTILE, "a/b", "../x", "."])
def test_any_name_is_read_and_rendered(name: str, tmp_path: Path) -> None:
    graph = named(name)
    digraph: Any = to_graphviz(graph)
    found = readers.by_dot(digraph.source)
    assert sum(row["name"].startswith("n") for row in found["objects"]) == len(lower(graph).boxes)
    assert digraph.render(directory=tmp_path, format="svg").startswith(str(tmp_path))


@settings(max_examples=40)
@given(any_graph())
def test_pydot_reads_its_source(graph: Graph) -> None:
    drawing = lower(graph, params=True)
    digraph: Any = to_graphviz(graph, params=True)
    nodes, edges, _ = readers.everything(readers.by_pydot(digraph.source))
    assert len(edges) == len(drawing.edges)
    assert {name: readers.visible(readers.label(node)) for name, node in nodes.items()} == {
        f"n{index}": readers.expected(box, drawing) for index, box in enumerate(drawing.boxes)
    }


def test_without_the_library_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(DependencyError, match="pip install graphviz"):
        to_graphviz(sample())
