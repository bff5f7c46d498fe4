from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.mark.dot
def test_one(): pass

@pytest.mark.dot
@pytest.mark.latex
def test_two(): pass

def test_three(): pass
"""


@pytest.mark.parametrize(
    ("required", "outcome"),
    [("", "1 passed, 2 skipped"), ("node,browser", "1 passed, 2 skipped"), ("latex, dot", "1 passed, 2 errors")],
)
def test_a_missing_program_skips_a_test_or_fails_it(required: str, outcome: str, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    dot\n    latex\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        env={"PATH": "", "PYTHONPATH": str(Path(__file__).parents[1]), "TREC_REQUIRE": required},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome in run.stdout
    assert "tests whose program is not installed: 2 marked dot" in run.stdout
    if "errors" in outcome:
        assert "dot is not installed, and TREC_REQUIRE names dot" in run.stdout
