"""A page in a real browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.node import FOLDER
from tests.conftest import PROGRAMS

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph


def play(page: str | Graph, script: str, folder: Path, *, size: tuple[int, int] = (1200, 800), **media: Any) -> Any:
    """Return what a script finds on a page, which must ask the network for nothing and say nothing on the console.

    Args:
        page: the page, or the graph to show on one.
        script: body of a function of `page`, as Playwright has it; `trec` is the application there.
        folder: where the page is written to.
        size: width and height of the window.
        **media: what the reader prefers, such as `colorScheme`.
    """
    if not (FOLDER / "node_modules" / "playwright-core").is_dir():
        reason = "playwright-core is not installed: npm install --prefix tests/node"
        if "node" in os.environ.get("TREC_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    path = folder / "page.html"
    path.write_text(page if isinstance(page, str) else page.to_html(), encoding="utf-8")
    wanted = {
        "file": str(path),
        "script": script,
        "size": {"width": size[0], "height": size[1]},
        "media": media,
    }
    browser = next(filter(None, map(shutil.which, PROGRAMS["browser"])))
    command = ["node", str(FOLDER / "page.mjs"), browser]
    done = subprocess.run(command, input=json.dumps(wanted).encode(), capture_output=True, check=True, timeout=180)
    found = json.loads(done.stdout)
    assert not found.get("failed"), (found["result"], found["messages"])
    assert (found["messages"], found["requests"]) == ([], []), found
    return found["result"]
