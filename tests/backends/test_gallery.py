"""The gallery shows what its code draws."""

from __future__ import annotations

import gzip
import re
import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING, Any

import pytest

from tests.documents import ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = ROOT / "docs" / "gallery"
PAGE, SCREENSHOTS = (FOLDER / "index.md").read_text(encoding="utf-8").split("\n## The page\n")
_OTHERS = ("torchvision", "transformers", "llama", "t5")


def drawn(text: str) -> set[str]:
    """Return the files that the code on a page writes."""
    return {name for block in blocks(text) for name in re.findall(r'"([\w.-]+\.(?:svg|svg\.gz|png))"', block.code)}


def test_every_picture_is_shown_and_made_by_the_code_on_the_page() -> None:
    shown = set(re.findall(r"\]\(([^)]+)\)", PAGE))
    assert shown == drawn(PAGE)
    assert {path.name for path in FOLDER.iterdir()} == shown | {"index.md", "page"}


def test_every_screenshot_is_shown_and_taken_by_the_script() -> None:
    texts = SCREENSHOTS + (ROOT / "docs" / "page.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"page/([\w-]+)\.png\)", texts))
    assert shown == {path.stem for path in (FOLDER / "page").iterdir()}
    script = (ROOT / "docs" / "make_page_pictures.py").read_text(encoding="utf-8")
    assert [name for name in sorted(shown) if f'"{name}": ' not in script] == []


def test_no_picture_is_large() -> None:
    assert [path.name for path in FOLDER.rglob("*.*") if path.stat().st_size > 300_000] == []


def test_drawings_are_valid_xml() -> None:
    for path in FOLDER.iterdir():
        if ".svg" in path.suffixes:
            raw = path.read_bytes()
            ElementTree.fromstring(gzip.decompress(raw) if path.suffix == ".gz" else raw)


@pytest.mark.torch
def test_sections_without_large_models_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    sections = [text for text in PAGE.split("\n## ")[1:] if not any(name in text for name in _OTHERS)]
    assert len(sections) == 3
    for text in sections:
        namespace: dict[str, Any] = {"__name__": "gallery"}
        for block in blocks(text):
            exec(compile(block.code, str(FOLDER / "index.md"), "exec"), namespace)
        assert {path.name for path in tmp_path.iterdir()} >= drawn(text)
