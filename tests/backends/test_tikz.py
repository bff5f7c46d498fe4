from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backends.samples import HOSTILE, aten, blocks, deep, marks, named, sample
from tests.conftest import LONGEST, TINY
from tests.strategies import any_graph, names
from trec.backends.lower import lower
from trec.backends.style import DARK, Style
from trec.backends.tikz import to_tikz
from trec.backends.tikz_text import escape
from trec.errors import OptionError

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

_DOCUMENT = re.compile(r"(.*?)\\begin\{document\}\n(.*)\\end\{document\}\n", re.DOTALL)


def compile(text: str, folder: Path) -> bytes:
    """Return the PDF that LaTeX makes, with no more than one run."""
    (folder / "net.tex").write_text(text, encoding="utf-8")
    program = shutil.which("pdflatex") or shutil.which("lualatex") or ""
    done = subprocess.run(
        [program, "-interaction=nonstopmode", "-halt-on-error", "net.tex"],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=LONGEST,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
    assert "Missing character" not in (folder / "net.log").read_text(encoding="utf-8", errors="replace")
    return (folder / "net.pdf").read_bytes()


@given(st.one_of(st.text(), names))
def test_an_escaped_text_is_balanced_and_plain(text: str) -> None:
    found = escape(text)
    assert found.isascii()
    assert found.isprintable()
    plain = re.sub(r"\\[#$%&_{}]", "", found)
    assert plain.count("{") == plain.count("}")
    assert not re.search(r"[#$%&_]|\^(?![2{])", plain.replace("\\ensuremath{^2}", ""))


@given(any_graph())
def test_any_graph_has_a_mark_for_each_box_and_edge(graph: Graph) -> None:
    text = to_tikz(graph, params=True, standalone=False)
    drawing = lower(graph, params=True)
    assert text.count("\\draw[flow") == len(drawing.edges)
    frames = sum(map(bool, drawing.content[:-1]))
    repeats = sum(row.repeats > 1 for rows in (drawing.boxes, drawing.clusters) for row in rows)
    outlines = text.count(" rectangle ") + text.count("circle[radius")
    assert len(drawing.boxes) + frames <= outlines <= len(drawing.boxes) + frames + repeats
    assert text.count("\\begin{") == text.count("\\end{") == 1


def test_a_picture_may_stand_in_another_document() -> None:
    text = to_tikz(sample(), standalone=False)
    assert "\\documentclass" not in text
    found = _DOCUMENT.fullmatch(to_tikz(sample()))
    assert found is not None
    assert text in found[2]


def test_too_large_a_picture_says_what_to_do() -> None:
    with pytest.raises(OptionError, match="wrap="):
        to_tikz(blocks(200))
    assert to_tikz(blocks(200), wrap=2000)


@pytest.mark.latex
@pytest.mark.parametrize(
    "graph", [sample(), marks(), aten(), deep(6), blocks(3).fold(), *[make() for make in TINY.values()]],
    ids=lambda graph: ascii(graph.name)[:20],
)  # fmt: skip
def test_latex_compiles_it(graph: Graph, tmp_path: Path) -> None:
    text = to_tikz(graph, params=True, title=graph.name, caption=True, links="https://a/{file}#L{line}", legend=True)
    assert compile(text, tmp_path).startswith(b"%PDF")


@pytest.mark.latex
def test_latex_compiles_hostile_names_in_one_document(tmp_path: Path) -> None:
    pictures = [to_tikz(named(name), standalone=False, rankdir="LR", style=Style(theme=DARK)) for name in HOSTILE]
    start = "\\documentclass{article}\\usepackage{tikz}\\usetikzlibrary{arrows.meta}\\begin{document}\n"
    compile(start + "\\newpage\n".join(pictures) + "\\end{document}\n", tmp_path)


@pytest.mark.latex
def test_the_page_is_as_large_as_the_picture(tmp_path: Path) -> None:
    pdf = compile(to_tikz(sample()), tmp_path)
    found = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", pdf)
    if found is not None:  # it may lie in a compressed object
        assert float(found[1]) < 500
