"""What the README says is true: its code runs, prints what it shows, and its links lead somewhere."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block, where it stands, and the `text` block that directly follows a block of Python."""

    line: int
    code: str
    output: str


def blocks() -> list[Block]:
    fences = list(FENCE.finditer(README))
    found = []
    for fence, following in zip(fences, [*fences[1:], None], strict=True):
        if fence[1] != "python":
            continue
        shown = following is not None and following[1] == "text" and README[fence.end() : following.start()].isspace()
        output = following[2] if following is not None and shown else ""
        found.append(Block(README.count("\n", 0, fence.start()) + 2, fence[2], output))
    return found


@pytest.mark.torch
def test_code_runs_and_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(ROOT))
    namespace: dict[str, Any] = {"__name__": "readme"}
    for block in blocks():
        printed = io.StringIO()
        code = compile("\n" * (block.line - 1) + block.code, str(ROOT / "README.md"), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, namespace)
        assert printed.getvalue() == block.output, f"README.md, line {block.line}"


def test_every_output_belongs_to_a_block_of_code() -> None:
    shown = [fence[2] for fence in FENCE.finditer(README) if fence[1] == "text"]
    assert shown == [block.output for block in blocks() if block.output]


def test_links_and_pictures_exist() -> None:
    links = re.findall(r"\]\(([^)#]+)", README) + re.findall(r'src="([^"]+)"', README)
    local = [link for link in links if "://" not in link]
    assert len(local) > 5
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_every_committed_picture_is_shown() -> None:
    shown = set(re.findall(r"docs/pictures/[\w-]+\.svg", README))
    assert shown == {str(path.relative_to(ROOT).as_posix()) for path in (ROOT / "docs" / "pictures").iterdir()}
