"""Pages in a real browser."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

from tests.backends.node import FOLDER, packages
from tests.conftest import PROGRAMS

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph


def browse(page: Path, script: str, **options: Any) -> Any:
    """Return what a script returns that runs when a page is open; see `tests/node/browse.mjs`.

    The page must complain of nothing, and ask for nothing but itself.

    Args:
        page: the file.
        script: body of a function of `page`.
        options: `hash`, `media` (what is emulated), or of a context of playwright.
    """
    packages()
    browser = next(filter(None, map(shutil.which, PROGRAMS["browser"])))
    command = ["node", str(FOLDER / "browse.mjs"), browser, str(page), json.dumps(options), script]
    done = subprocess.run(command, capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert found["messages"] == [], found
    assert [url for url in found["requests"] if not url.startswith(("blob:", "data:"))] == [], found
    return found["value"]


def play(page: str | Graph, script: str, folder: Path, **options: Any) -> Any:
    """Return what a script returns that runs when a page, or that of a graph, is open; see `browse`."""
    path = folder / "page.html"
    path.write_text(page if isinstance(page, str) else page.to_html(), encoding="utf-8")
    return browse(path, script, **{"viewport": {"width": 1200, "height": 800}, **options})
