"""A package with a pass and a backend is installed, and both are found by name."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

USE = """
import pathlib
from trec import OptionError, registry
from tests.passes.samples import blocks

graph = blocks()
shorter = graph.apply("bypass", what="op:linear").verify()
print(sum(node.op == "linear" for node in graph.nodes), sum(node.op == "linear" for node in shorter.nodes))
print(len(shorter.expand().nodes) == len(graph.nodes), shorter.collapse(depth=1).verify().name == graph.name)
print(graph.to("outline", indent="> ", path="outline.txt") == pathlib.Path("outline.txt").read_text().strip())
print(graph.to("outline").splitlines()[:2])
print("bypass" in registry.names("pass"), "outline" in registry.names("backend"), "outline" in registry.names("pass"))
try:
    graph.apply("bypas")
except OptionError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the package is installed in, as pip does it."""
    installed = {distribution.name for distribution in distributions()}  # to import pip would import distutils anew
    if not {"pip", "hatchling"} <= installed:
        pytest.skip("pip or hatchling is not installed")
    folder = tmp_path_factory.mktemp("installed")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        *options,
        "--target",
        str(folder),
        str(ROOT / "tests" / "plugin"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def run(code: str, cwd: Path, *search: Path) -> str:
    """Return what code prints in a process of its own that finds packages in some folders."""
    environment = {"PYTHONPATH": ":".join(map(str, [ROOT, *search]))}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_installed_pass_and_backend_are_called_by_name(installed: Path, tmp_path: Path) -> None:
    printed = run(USE, tmp_path, installed).splitlines()
    before, after = printed[0].split()
    assert int(before) > int(after) == 0
    assert printed[1:3] == ["True True", "True"]
    assert printed[3] == "['- Blocks: Blocks', '  - layers.0: Block']"
    assert printed[4] == "True True False"
    assert printed[5].startswith("there is no pass named 'bypas'; known are: bypass, collapse,")


def test_they_are_imported_only_when_they_are_called(installed: Path, tmp_path: Path) -> None:
    code = "import sys, trec\nfrom trec import registry\nregistry.names('pass')\nprint('trec_sample' in sys.modules)"
    assert run(code, tmp_path, installed) == "False\n"


def test_without_the_package_there_are_none(tmp_path: Path) -> None:
    code = (
        "from trec import registry\nprint('bypass' in registry.names('pass'), 'outline' in registry.names('backend'))"
    )
    assert run(code, tmp_path) == "False False\n"


FAULTY = """
X = 3

class Passes:
    @staticmethod
    def nested(graph):
        return graph

def nothing(graph):
    return None

def collapse(graph, **options):
    raise AssertionError
"""
POINTS = """
[trec.passes]
nested = faulty:Passes.nested
nothing = faulty:nothing
missing = faulty:missing
absent = no_such_module:function
number = faulty:X
twice = faulty:{}
collapse = faulty:collapse
"""
TRY = """
from tests.passes.samples import blocks
from trec import TrecError

graph = blocks()
for name in ("nested", "nothing", "missing", "absent", "number", "twice", "collapse", 3):
    try:
        print(name, graph.apply(name, **{"depth": 0} if name == "collapse" else {}).name)
    except TrecError as error:
        print(type(error).__name__, error)
"""


def test_what_is_wrong_with_a_package_is_said(tmp_path: Path) -> None:
    (tmp_path / "faulty.py").write_text(FAULTY)
    for package, function in (("faulty", "one"), ("second", "two")):
        folder = tmp_path / f"{package}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text(POINTS.format(function))
    nested, nothing, missing, absent, number, twice, collapse, other = run(TRY, tmp_path, tmp_path).splitlines()
    assert (nested, collapse) == ("nested Blocks", "collapse Blocks")
    assert nothing == "OptionError the pass nothing returned an object of type NoneType, expected a graph"
    assert (
        "DependencyError the pass 'missing' of an installed package cannot be imported from faulty:missing" in missing
    )
    assert "No module named 'no_such_module'; install what it needs" in absent
    assert "is no function: faulty:X is 3" in number
    assert "several packages offer a pass named 'twice': faulty:one, faulty:two; uninstall all but one" in twice
    assert other == "OptionError a pass is given as a function or by name, not as 3"
