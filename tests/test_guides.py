"""The pages in `docs` that show how to do something: their code is short and runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.documents import ROOT, blocks, outputs, run

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"
GUIDES = sorted(path.name for path in DOCS.glob("write_*.md"))
RUN = sorted(path.name for path in DOCS.glob("*.md") if blocks(path.read_text(encoding="utf-8")))
LONGEST = 40


def test_there_are_guides() -> None:
    assert GUIDES == ["write_a_backend.md", "write_a_pass.md"]
    assert set(GUIDES) <= set(RUN)


@pytest.mark.torch
@pytest.mark.parametrize("name", RUN)
def test_code_runs_and_prints_what_is_shown(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    run(DOCS / name)


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_has_less_than_forty_lines_of_code(name: str) -> None:
    text = (DOCS / name).read_text(encoding="utf-8")
    lines = [line for block in blocks(text) for line in block.code.splitlines() if line.strip()]
    assert len(lines) < LONGEST
    assert outputs(text) == [block.output for block in blocks(text) if block.output]


@pytest.mark.parametrize("name", GUIDES)
def test_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#]+)", (DOCS / name).read_text(encoding="utf-8"))
    assert [link for link in links if "://" not in link and not (DOCS / link).exists()] == []


@pytest.mark.parametrize("name", GUIDES)
def test_the_readme_leads_to_the_guides(name: str) -> None:
    assert f"(docs/{name})" in (ROOT / "README.md").read_text(encoding="utf-8")
