"""The pages in `docs`: their code runs and prints what is shown, their links lead somewhere, and each can be found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.documents import ROOT, blocks, commands, outputs, run

if TYPE_CHECKING:
    from pathlib import Path

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
TEXTS = {name: (DOCS / name).read_text(encoding="utf-8") for name in PAGES}
# the gallery writes its pictures, and has a test of its own; the reference of commands is made by the program
RUN = [
    name
    for name in PAGES
    if name not in {"gallery/index.md", "cli.md"} and (blocks(TEXTS[name]) or commands(TEXTS[name]))
]
WRITTEN = ["write_a_backend.md", "write_a_pass.md"]
LONGEST = 40


def test_there_are_guides() -> None:
    assert set(WRITTEN) <= set(RUN)
    assert len(RUN) > 10


@pytest.mark.torch
@pytest.mark.parametrize("name", RUN)
def test_code_runs_and_prints_what_is_shown(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    run(DOCS / name)


@pytest.mark.parametrize("name", RUN)
def test_every_output_belongs_to_a_block_of_code(name: str) -> None:
    assert outputs(TEXTS[name]) == [block.output for block in blocks(TEXTS[name]) if block.output]


@pytest.mark.parametrize("name", WRITTEN)
def test_a_guide_has_less_than_forty_lines_of_code(name: str) -> None:
    lines = [line for block in blocks(TEXTS[name]) for line in block.code.splitlines() if line.strip()]
    assert len(lines) < LONGEST


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", TEXTS[name], flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r'src="([^"]+)"', text)
    there = (ROOT / "trec").is_dir()  # not where the wheel is tested
    local = [link for link in links if "://" not in link and (there or "../trec/" not in link)]
    assert [link for link in local if not ((DOCS / name).parent / link).exists()] == []


def test_every_page_can_be_found_in_the_site() -> None:
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"- (?:[^:\n]+: )?(\S+\.md)$", nav, re.MULTILINE)
    assert sorted(listed) == PAGES


@pytest.mark.parametrize("name", WRITTEN)
def test_the_readme_leads_to_the_guides(name: str) -> None:
    assert f"(docs/{name})" in (ROOT / "README.md").read_text(encoding="utf-8")
