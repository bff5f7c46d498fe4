from __future__ import annotations

import gzip
import os
import re
import sys
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from tests.backends import readers
from tests.backends.samples import HOSTILE, aten, marks, named, sample
from tests.strategies import any_graph
from trec.backends.lower import lower
from trec.backends.measure import diagram
from trec.backends.svg import to_svg
from trec.backends.svg_page import lines
from trec.errors import DependencyError, OptionError, TrecError
from trec.layout.arrange import arrange

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

NAMESPACE = "{http://www.w3.org/2000/svg}"
ENGINES = [pytest.param("dot", marks=pytest.mark.dot), "own"]


def titles(text: str) -> list[str]:
    return [found.text or "" for found in ElementTree.fromstring(text).iter(f"{NAMESPACE}title")]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("graph", [sample(), marks(), aten()], ids=["sample", "marks", "aten"])
def test_it_is_a_picture_with_tooltips(graph: Graph, engine: Any) -> None:
    text = to_svg(graph, engine=engine)
    root = ElementTree.fromstring(text)
    assert root.tag == f"{NAMESPACE}svg"
    assert (root.get("role"), root.get("aria-label")) == ("img", graph.name)
    drawing = lower(graph)
    expected = [graph.name]
    expected += [cluster.tooltip for cluster in drawing.clusters]
    expected += [box.tooltip for box in drawing.boxes]
    expected += [edge.tooltip for edge in drawing.edges]
    assert sorted(titles(text)) == sorted(expected)
    assert "<!--" not in text
    assert "<!DOCTYPE" not in text
    assert set(re.findall(r'font-family="([^"]*)"', text)) == {"Helvetica, Arial, sans-serif"}
    words = readers.words(text)
    for box in drawing.boxes:
        for word in readers.expected(box, drawing).split():
            assert word in words
    for cluster in drawing.clusters:
        assert cluster.title.split()[0] in words


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", HOSTILE)
def test_any_name_is_drawn(name: str, engine: Any) -> None:
    text = to_svg(named(name), engine=engine)
    words = readers.words(text)
    drawing = lower(named(name))
    for box in drawing.boxes:
        for word in readers.expected(box, drawing).split():
            assert word in words or (engine == "own" and len(word) > 40 and any("…" in shown for shown in words))


@settings(max_examples=20)
@given(any_graph())
def test_any_graph_is_drawn(graph: Graph) -> None:
    ElementTree.fromstring(to_svg(graph, params=True, tensors="nodes"))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rankdir", ["TB", "LR", "BT", "RL"])
def test_the_flow_goes_where_it_is_sent(rankdir: Any, engine: Any) -> None:
    root = ElementTree.fromstring(to_svg(sample(), rankdir=rankdir, engine=engine))
    places = {}
    for text in root.iter(f"{NAMESPACE}text"):
        first, *_ = [*"".join(text.itertext()).split(), ""]
        places[first] = (float(text.get("x", 0)), float(text.get("y", 0)))
    (x, y), (to_x, to_y) = places["x"], places["output0"]
    along = {"TB": to_y - y, "BT": y - to_y, "LR": to_x - x, "RL": x - to_x}
    assert along[rankdir] > 100


@pytest.mark.dot
def test_titles_of_clusters_lie_over_the_edges() -> None:
    text = to_svg(marks(), engine="dot")
    assert text.index('paint-order="stroke"') > text.rindex('class="edge"')


def test_a_path_is_written(tmp_path: Path) -> None:
    text = to_svg(sample(), tmp_path / "net.svg")
    assert (tmp_path / "net.svg").read_text(encoding="utf-8") == text
    to_svg(sample(), tmp_path / "net.svg.gz")
    assert gzip.decompress((tmp_path / "net.svg.gz").read_bytes()).decode() == text


def test_a_wrong_engine_is_answered_with_the_right_ones() -> None:
    wrong: Any = "neato"
    with pytest.raises(OptionError, match="'own', 'dot'"):
        to_svg(sample(), engine=wrong)


@pytest.mark.parametrize("wrap", [-1, float("nan"), float("inf"), "800", None])
def test_a_wrong_length_of_columns_is_refused(wrap: Any) -> None:
    with pytest.raises(OptionError, match="wrap must be the longest column"):
        to_svg(sample(), wrap=wrap)


def test_nothing_is_needed_but_for_dot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert to_svg(sample()).startswith("<svg")
    with pytest.raises(DependencyError, match="needs Graphviz"):
        to_svg(sample(), engine="dot")


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_a_failing_engine_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dot"
    program.write_text(f"#!{sys.executable}\nraise SystemExit('out of ink')\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TrecError, match="out of ink"):
        to_svg(sample(), engine="dot")


def test_what_stands_for_several_is_a_stack() -> None:
    drawing = lower(marks())
    faces = [replace(face, repeats=32 if face.title == "drop" else 1) for face in drawing.boxes.faces]
    boxes = replace(drawing.boxes, faces=faces)
    clusters = tuple(replace(cluster, repeats=4 if cluster.title == "layers" else 1) for cluster in drawing.clusters)
    stacked = replace(drawing, boxes=boxes, clusters=clusters)
    measured = diagram(drawing)
    plain, stack = ("\n".join(lines(one, measured, arrange(measured))) for one in (drawing, stacked))
    assert stack.count("<rect") == plain.count("<rect") + 2
