"""The wheel and the source package hold what belongs to them, and the wheel works without PyTorch."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import trec
from tests.conftest import skip

if TYPE_CHECKING:
    from email.message import Message

ROOT = Path(__file__).parents[1]
TOP = {
    "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "PKG-INFO", "README.md", "SECURITY.md", "pyproject.toml",
    ".gitignore", "benchmarks", "docs", "examples", "mkdocs.yml", "tests", "trec",
}  # fmt: skip

pytestmark = pytest.mark.skipif(not (ROOT / "trec").is_dir(), reason="only where the sources of the package are")


def build(source: Path, folder: Path, target: str) -> Path:
    """Build a package of a source folder, and return its file."""
    if "hatchling" not in {distribution.name for distribution in distributions()}:
        pytest.skip("hatchling is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (found,) = folder.iterdir()
    return found


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the unpacked source package."""
    archive = build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")
    folder = tmp_path_factory.mktemp("source")
    with tarfile.open(archive) as file:
        file.extractall(folder, filter="data")
    return folder / f"trec-{trec.__version__}"


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the wheel is unpacked in, which is all that installing it does."""
    folder = tmp_path_factory.mktemp("installed")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def files(folder: Path) -> set[str]:
    return {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.endswith(".pyc")
    }


def metadata(installed: Path) -> Message:
    return Parser().parsestr(
        (installed / f"trec-{trec.__version__}.dist-info" / "METADATA").read_text(encoding="utf-8")
    )


def test_the_wheel_holds_the_package_and_nothing_else(installed: Path) -> None:
    inside = {name for name in files(installed) if ".dist-info/" not in name}
    assert inside == {f"trec/{name}" for name in files(ROOT / "trec") if not name.endswith("tsconfig.json")}
    assert "trec/py.typed" in inside
    assert all(name.endswith((".py", ".typed", ".js", ".css", ".html")) for name in inside)


def test_the_wheel_is_for_every_system(wheel: Path) -> None:
    assert wheel.name == f"trec-{trec.__version__}-py3-none-any.whl"
    assert wheel.stat().st_size < 2_000_000


def test_the_source_package_builds_the_same_wheel(source: Path, installed: Path, tmp_path: Path) -> None:
    again = zipfile.ZipFile(build(source, tmp_path / "again", "wheel"))
    assert set(again.namelist()) == files(installed)
    for name in again.namelist():
        if not name.endswith("RECORD"):
            assert again.read(name) == (installed / name).read_bytes(), name


def test_the_source_package_holds_no_stray_file(source: Path) -> None:
    assert {path.name for path in source.iterdir()} == TOP
    stray = [name for name in files(source) if re.search(r"(^|/)(node_modules|\.(?!gitignore)|dist|build)(/|\b)", name)]
    assert stray == []
    for folder in ("trec", "tests", "docs", "examples", "benchmarks"):
        kept = {name for name in files(ROOT / folder) if "node_modules" not in name and "package-lock" not in name}
        assert files(source / folder) == kept


def test_the_metadata_say_what_is_true(installed: Path) -> None:
    facts = metadata(installed)
    assert facts["Version"] == trec.__version__ == "0.1.0"
    assert facts["License-Expression"] == "MIT"
    assert facts["Requires-Python"] == ">=3.11"
    required = {
        re.split(r"[<>=;\[ ]", name)[0] for name in facts.get_all("Requires-Dist", []) if "extra ==" not in name
    }
    assert required == {"msgspec", "graphviz", "networkx", "pydot"}
    assert facts.get_payload() == (ROOT / "README.md").read_text(encoding="utf-8")
    scripts = (installed / f"trec-{trec.__version__}.dist-info" / "entry_points.txt").read_text(encoding="utf-8")
    assert "trec = trec.cli.main:main" in scripts
    assert "trec = trec.testing.plugin" in scripts


def test_the_changelog_tells_of_this_version() -> None:
    versions = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == trec.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", trec.__version__)


def test_the_wheel_draws_where_there_is_no_torch(installed: Path, tmp_path: Path) -> None:
    skip().save(tmp_path / "skip.trec")
    code = (
        "import sys\nsys.modules['torch'] = sys.modules['numpy'] = None\n"
        "import trec, trec.registry\nassert trec.__file__.startswith(sys.path[1])\nfrom trec.cli.main import main\n"
        "for words in ('render skip.trec -o skip.svg --depth 1', 'show skip.trec', 'diff skip.trec skip.trec'):\n"
        "    assert main(words.split()) == 0\n"
        "for suffix in trec.registry.SUFFIXES:\n"
        "    assert main(['convert', 'skip.trec', f'all{suffix}']) == 0\n"
        "assert main('capture skip:Net -o net.trec'.split()) == 2\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("trec capture: recording needs PyTorch, which is not installed: pip install")
    assert (tmp_path / "skip.svg").read_text(encoding="utf-8") == skip().collapse(depth=1).to_svg()
