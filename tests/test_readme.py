"""What the README says is true: its code runs, prints what it shows, and its links lead somewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.documents import ROOT, blocks, outputs, run

if TYPE_CHECKING:
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.torch
def test_code_runs_and_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    run(ROOT / "README.md")


def test_every_output_belongs_to_a_block_of_code() -> None:
    assert outputs(README) == [block.output for block in blocks(README) if block.output]


def test_links_and_pictures_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)", README) + re.findall(r'src="([^"]+)"', README)
    local = [link for link in links if "://" not in link]
    assert len(local) > 5
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_every_committed_picture_is_shown() -> None:
    pages = [README, *(path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md"))]
    shown = {name for page in pages for name in re.findall(r"pictures/([\w-]+\.svg)", page)}
    assert shown == {path.name for path in (ROOT / "docs" / "pictures").iterdir()}


def test_it_is_short() -> None:
    assert len(README.splitlines()) <= 250
