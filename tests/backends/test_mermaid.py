from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from tests.backends import node
from tests.backends.samples import HOSTILE, blocks, every, marks, named, sample
from tests.strategies import any_graph
from trec.backends.lower import lower
from trec.backends.mermaid import escape, lines, to_mermaid

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trec.backends.drawing import Box, Cluster
    from trec.ir.graph import Graph

LINE = re.compile(
    r"""flowchart\ (TB|LR|BT|RL)
    |\ +n\d+(\(|\(\[|\(\()"[^"]*"(\)|\]\)|\)\)):::k\d+
    |\ +l\d+\["[^"]*"\]:::k\d+
    |\ +subgraph\ (c\d+|legend)\ \["[^"]*"\]
    |\ +end
    |\ \ n\d+\ (-->|-\.->)(\|"[^"]*"\|)?\ n\d+
    |\ \ linkStyle\ [\d,]+\ stroke:\#\w+
    |\ \ classDef\ k\d+\ [-#\w:,.\ ]+
    |\ \ style\ legend\ fill:none,stroke:\#\w+
    |\ \ class\ c\d+\ k\d+
    |\ \ click\ n\d+\ href\ "[^"\s]*"
    |---\ntitle:\ ".*"\n---""",
    re.VERBOSE,
)
CODE = re.compile(r"(?:#|ﬂ°°)(\d+)(?:;|¶ß)")


def decoded(text: str) -> str:
    """Return a label as Mermaid shows it: an entity is a sign, in the spelling of the text or of the parser."""
    return CODE.sub(lambda found: chr(int(found[1])), text.replace("<br>", "<br/>"))


def shown(row: Box | Cluster) -> str:
    text = "<br/>".join(filter(None, (" ".join(filter(None, (row.title, row.subtitle))), row.detail)))
    return re.sub("[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]", "\ufffd", text)


@given(any_graph())
def test_every_line_is_a_statement(graph: Graph) -> None:
    for line in lines(lower(graph, params=True, tensors="nodes", title=graph.name, links="https://a/{file}#L{line}")):
        assert LINE.fullmatch(line), line


def test_the_text_of_a_sample(golden: Callable[[str, str], None]) -> None:
    golden("sample.mmd", to_mermaid(sample()))


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_an_escaped_text_has_no_sign_that_means_anything(text: str) -> None:
    assert not re.search(r"""["`<>&\[\](){}|:'\\/\n\r\t]|#(?!\d+;)""", escape(text))
    assert "%%" not in escape(text)


def test_titles_legends_and_repeats() -> None:
    assert "%" not in to_mermaid(sample(), title="%%{init: {}}%%").partition("flowchart")[0]
    text = to_mermaid(blocks(3).fold(), title='a "b"\nc', legend=True, caption=True)
    assert text.startswith('---\ntitle: "a \\"b\\"\\nc \\u00b7 Blocks')
    assert "subgraph legend" in text
    assert "3" in next(line for line in text.splitlines() if "subgraph c0" in line)


@pytest.mark.node
def test_mermaid_reads_the_same(tmp_path: Path) -> None:
    graphs = [
        *every(),
        *map(named, ("end", "style:#a;", "classDef x:y#z;", "%%{init}%%", "`md`", "subgraph", "click")),
    ]
    files = [tmp_path / f"{index}.mmd" for index in range(len(graphs))]
    for graph, path in zip(graphs, files, strict=True):
        graph.write(path, params=True, title=graph.name)
    for graph, found in zip(graphs, node.read("mermaid", files), strict=True):
        drawing = lower(graph, params=True)
        labels = {key: decoded(text or "").strip() for key, text in found["nodes"]}
        for index, box in enumerate(drawing.boxes):
            wanted = "" if drawing.looks[box.look].shape == "point" else shown(box)
            assert labels[f"n{index}"] == wanted.strip()
        edges = sorted((source, target, decoded(text)) for source, target, text in found["edges"])
        assert edges == sorted((f"n{edge.source}", f"n{edge.target}", edge.label) for edge in drawing.edges)
        subgraphs = {key: decoded(title).strip() for key, title, _ in found["subgraphs"]}
        content = {key: set(inner) for key, _, inner in found["subgraphs"]}
        for index, cluster in enumerate(drawing.clusters):
            held = drawing.content[index]
            if held:
                assert subgraphs[f"c{index}"] == shown(cluster).strip()
                inner = {f"c{item}" for item in held if isinstance(item, int)}
                inner |= {f"n{box}" for item in held if isinstance(item, range) for box in item}
                assert content[f"c{index}"] == inner


def test_what_is_written_is_the_text(tmp_path: Path) -> None:
    marks().write(tmp_path / "net.mmd", rankdir="LR")
    assert (tmp_path / "net.mmd").read_text(encoding="utf-8") == to_mermaid(marks(), rankdir="LR")
