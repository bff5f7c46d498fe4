"""What a page says of itself in a real browser: its title, once its scripts have run."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

from tests.conftest import LONGEST, PROGRAMS

if TYPE_CHECKING:
    from pathlib import Path


def title(page: Path, *options: str) -> str:
    """Return the title of a page; what the browser keeps lies beside it."""
    browser = next(filter(None, map(shutil.which, PROGRAMS["browser"])))
    profile = f"--user-data-dir={page.with_name('profile')}"
    # shared memory is small in containers
    always = ["--headless", "--no-sandbox", "--disable-dev-shm-usage", "--dump-dom", profile]
    command = [browser, *always, *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, check=True, timeout=LONGEST)
    found = re.search("<title>(.*?)</title>", done.stdout.decode())
    assert found is not None, done.stderr.decode()
    return found[1]
