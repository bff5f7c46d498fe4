from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pydot
import pytest
from hypothesis import given, settings

from tests.backends import readers
from tests.backends.samples import HOSTILE, marks, named, sample
from tests.strategies import any_graph
from trec.backends.lower import lower
from trec.backends.pydot import to_pydot
from trec.errors import DependencyError

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def test_it_is_a_dot_of_the_library() -> None:
    dot = to_pydot(marks(), caption=True)
    assert type(dot) is pydot.Dot
    nodes, edges, clusters = readers.everything(dot)
    drawing = lower(marks())
    assert len(nodes) == len(drawing.boxes)
    assert len(edges) == len(drawing.edges)
    assert sorted(str(cluster.get_name()) for cluster in clusters) == [f"cluster_{index}" for index in range(4)]


@pytest.mark.dot
@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_drawn(name: str) -> None:
    dot = to_pydot(named(name))
    drawing = lower(named(name))
    words = readers.words(readers.svg_by_dot(dot.to_string()))
    for box in drawing.boxes:
        for word in readers.expected(box, drawing).split():
            assert word in words


@settings(max_examples=40)
@given(any_graph())
def test_its_text_is_read_back(graph: Graph) -> None:
    drawing = lower(graph, params=True)
    nodes, edges, _ = readers.everything(readers.by_pydot(to_pydot(graph, params=True).to_string()))
    assert len(edges) == len(drawing.edges)
    assert {name: readers.visible(readers.label(node)) for name, node in nodes.items()} == {
        f"n{index}": readers.expected(box, drawing) for index, box in enumerate(drawing.boxes)
    }


def test_without_the_library_the_error_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydot", None)
    with pytest.raises(DependencyError, match="pip install pydot"):
        to_pydot(sample())
