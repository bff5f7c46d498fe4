"""What the libraries for JavaScript make of files, in Node.js."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import LONGEST

if TYPE_CHECKING:
    from collections.abc import Sequence

FOLDER = Path(__file__).parents[1] / "node"


def packages() -> Path:
    """Return the folder of the libraries; where they are not installed, the test is skipped, or fails if required."""
    folder = FOLDER / "node_modules"
    if not folder.is_dir():
        reason = "the packages of tests/node are not installed: npm install --prefix tests/node"
        if "node" in os.environ.get("TREC_REQUIRE", "").replace(",", " ").split():
            pytest.fail(reason, pytrace=False)
        pytest.skip(reason)
    return folder


def read(format: str, files: Sequence[Path]) -> list[dict[str, Any]]:
    """Return what the library of a format finds in each file."""
    packages()
    done = subprocess.run(
        ["node", str(FOLDER / "read.mjs"), format, *map(str, files)], capture_output=True, check=False, timeout=LONGEST
    )
    assert done.returncode == 0, done.stderr.decode()
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found
