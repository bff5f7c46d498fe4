"""Pages in a real browser."""

from __future__ import annotations

import atexit
import json
import shutil
import subprocess
from functools import cache
from typing import TYPE_CHECKING, Any

from tests.backends.node import FOLDER, packages
from tests.conftest import PROGRAMS

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph


@cache
def _server() -> subprocess.Popen[str]:
    """Return a browser that stays open until all tests have run."""
    browser = next(filter(None, map(shutil.which, PROGRAMS["browser"])))
    command = ["node", str(FOLDER / "browse.mjs"), browser]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
    atexit.register(_stop, server)
    return server


def _stop(server: subprocess.Popen[str]) -> None:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.close()
    server.wait(30)
    server.stdout.close()


def browse(page: Path, script: str, **options: Any) -> Any:
    """Return what a script returns that runs when a page is open; see `tests/node/browse.mjs`.

    The page must complain of nothing, and ask for nothing but itself.

    Args:
        page: the file.
        script: body of a function of `page`.
        options: `hash`, `media` (what is emulated), or of a context of playwright.
    """
    packages()
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{json.dumps([str(page), options, script])}\n")
    server.stdin.flush()
    answer = server.stdout.readline()
    if not answer:
        _server.cache_clear()
        raise AssertionError("the browser has stopped, or took too long")
    found = json.loads(answer)
    assert "error" not in found, f"{found['error']}\n{found['messages']}"
    assert found["messages"] == [], found
    assert [url for url in found["requests"] if not url.startswith(("blob:", "data:"))] == [], found
    return found["value"]


def play(page: str | Graph, script: str, folder: Path, **options: Any) -> Any:
    """Return what a script returns that runs when a page, or that of a graph, is open; see `browse`."""
    path = folder / "page.html"
    path.write_text(page if isinstance(page, str) else page.to_html(), encoding="utf-8")
    return browse(path, script, **{"viewport": {"width": 1200, "height": 800}, **options})
