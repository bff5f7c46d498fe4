"""A test that keeps what a model does in a golden file.

Run: python examples/golden_test.py, or in a project with trec installed: pytest golden_test.py

With --trec-update pytest writes the file anew.
"""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from models import UNet

import trec
from trec.testing import assert_matches, assert_no

if TYPE_CHECKING:
    from trec import Graph


@pytest.fixture(scope="module")
def graph() -> Graph:
    """Return the model as it is now."""
    return trec.capture(UNet().eval(), (1, 3, 64, 64))


def test_the_model_does_what_it_did(graph: Graph) -> None:
    """Compare with the file beside this test."""
    assert_matches(graph.collapse(depth=1), "output/golden-unet.json")


def test_it_computes_in_one_type_and_without_dropout(graph: Graph) -> None:
    """Look for what must not be there."""
    assert_no(graph, "dtype:float64 or op:dropout")


if __name__ == "__main__":
    plugin = ["-p", "no:trec", "-p", "trec.testing.plugin"]  # under one name, whether trec is installed or only there
    options = ["-q", "--import-mode=prepend", *plugin, "-p", "no:cacheprovider", "--no-header"]
    command = [sys.executable, "-m", "pytest", *options, __file__, *sys.argv[2:]]
    sys.exit(subprocess.run(command, check=False).returncode)
