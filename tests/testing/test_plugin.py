"""The plugin in runs of pytest of their own, as users start them."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

from trec.testing import plugin
from trec.testing.goldens import current

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

TEST = """
from trec.ir.builder import GraphBuilder
from trec.testing import assert_matches

def test_golden():
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net")
    builder.node("op", "relu", parent=root)
    assert_matches(builder.build(), "golden/net.json")
"""


def run(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests in a folder with the plugin, whether it is installed or not."""
    command = [sys.executable, "-m", "pytest", "-p", "no:trec", "-p", "trec.testing.plugin", "-p", "no:cacheprovider"]
    return subprocess.run(
        [*command, *options],
        cwd=folder,
        env={"PATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project whose strict pytest runs one test in a folder below."""
    (tmp_path / "pytest.ini").write_text(
        "[pytest]\naddopts = --strict-config --strict-markers\nfilterwarnings = error\n"
    )
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "test_it.py").write_text(TEST)
    return tmp_path


def test_a_golden_is_made_beside_its_test_then_compared_then_made_anew(project: Path) -> None:
    golden = project / "checks" / "golden" / "net.json"
    missing = run(project)
    assert missing.returncode == 1
    assert f"there is no golden graph {golden}" in missing.stdout
    assert "trec/testing/assertions.py" not in missing.stdout.replace("\\", "/")  # only the test's own line is shown
    written = run(project, "--trec-update")
    assert written.returncode == 0, written.stdout
    assert f"golden graph written: {golden}" in written.stdout
    before = golden.read_bytes()
    assert "1 passed" in run(project).stdout

    (project / "checks" / "test_it.py").write_text(TEST.replace("relu", "gelu"))
    failed = run(project)
    assert failed.returncode == 1
    assert "~ gelu: relu, then gelu" in failed.stdout
    assert golden.read_bytes() == before
    assert run(project, "--trec-update").returncode == 0
    assert golden.read_bytes() == before.replace(b"relu", b"gelu")


def test_a_golden_that_matches_is_not_written_anew(project: Path) -> None:
    run(project, "--trec-update")
    again = run(project, "--trec-update")
    assert "1 passed" in again.stdout
    assert "written" not in again.stdout


def test_a_golden_that_cannot_be_read_is_written_anew(project: Path) -> None:
    golden = project / "checks" / "golden" / "net.json"
    golden.parent.mkdir()
    golden.write_text("<<<<<<< ours\n")
    failed = run(project)
    assert failed.returncode == 1
    assert "cannot be loaded" in failed.stdout
    assert "to write it anew: `pytest --trec-update`" in failed.stdout
    assert "golden graph written" in run(project, "--trec-update").stdout
    assert "1 passed" in run(project).stdout


def test_what_other_processes_wrote_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current, "written", [Path("a.json")])
    worker = SimpleNamespace(workeroutput={})
    plugin.pytest_sessionfinish(SimpleNamespace(config=worker))  # type: ignore[arg-type]
    monkeypatch.setattr(current, "written", [])
    plugin.pytest_sessionfinish(SimpleNamespace(config=SimpleNamespace()))  # type: ignore[arg-type]
    plugin.pytest_testnodedown(worker)
    plugin.pytest_testnodedown(SimpleNamespace())
    assert current.written == [Path("a.json")]


def test_the_entry_point_names_the_plugin() -> None:
    (point,) = PYPROJECT["project"]["entry-points"]["pytest11"].items()
    module = EntryPoint(point[0], point[1], "pytest11").load()
    assert callable(module.pytest_addoption)
    assert point[0] == "trec"


def test_the_plugin_loads_no_library_that_pytest_and_trec_do_without() -> None:
    code = "import sys, trec.testing.plugin\nprint(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {"torch", "numpy", "networkx", "graphviz", "pydot", "rich"}.isdisjoint(loaded.split())
