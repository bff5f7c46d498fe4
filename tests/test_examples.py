"""Every example runs as a user runs it, quietly, and writes what it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import trec

pytestmark = pytest.mark.torch

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
OUTPUT = ROOT / "examples" / "output"
LARGEST = 200_000
# what these write depends on the version of the library that the model is from
LIBRARIES = {"examples/transformers_model.py", "examples/timm_model.py", "examples/pyg_model.py"}


def run(script: str, folder: Path, *arguments: str, path: str | None = None) -> str:
    search = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    # what PyTorch says of a processor that lacks something is not theirs
    environment = {**os.environ, "PYTHONPATH": search, "TORCH_CPP_LOG_LEVEL": "ERROR"}
    if path is not None:
        environment["PATH"] = path
    command = [sys.executable, str(ROOT / script), *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_demo_writes_everything_without_the_program_dot(tmp_path: Path) -> None:
    output = run("examples/demo.py", tmp_path, path="")
    folder = tmp_path / "demo"
    assert "demo/index.html" in output
    for name in ("sample", "resnet", "t5"):
        assert re.search(rf"^{name}\b", output, re.MULTILINE)
        graph = trec.load(folder / f"{name}.trec").verify()
        assert trec.load(folder / f"{name}.json") == graph
        assert "longest path" in (folder / f"{name}-networkx.txt").read_text(encoding="utf-8")
        assert len(list(folder.glob(f"{name}-*.svg"))) == len(list(folder.glob(f"{name}-*.dot"))) >= 2
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert set(re.findall(r"src='([^']+)'", page)) == {path.name for path in folder.glob("*.svg")}
    assert json.loads((folder / "t5.json").read_text(encoding="utf-8"))


def test_demo_writes_where_it_is_told(tmp_path: Path) -> None:
    run("examples/demo.py", tmp_path, "elsewhere")
    assert (tmp_path / "elsewhere" / "index.html").exists()
    assert not (tmp_path / "demo").exists()


def test_save_and_render_later(tmp_path: Path) -> None:
    output = run("examples/save_and_render_later.py", tmp_path, "graphs")
    assert output.splitlines()[-1].endswith("PyTorch loaded: False")
    assert {path.suffix for path in (tmp_path / "graphs").iterdir()} == {".trec", ".svg", ".dot"}


def test_networkx_analysis(tmp_path: Path) -> None:
    output = run("examples/networkx_analysis.py", tmp_path)
    assert "     6  conv2d" in output
    assert "longest path: 22 steps" in output


def test_compare_levels(tmp_path: Path) -> None:
    output = run("examples/compare_levels.py", tmp_path)
    assert output.count("graph: True") == 2
    assert "aten.addmm.default" in output


def test_custom_pass(tmp_path: Path) -> None:
    output = run("examples/custom_pass.py", tmp_path)
    assert re.search(r"before +\d+ operators, 3 of them dropout", output)
    assert re.search(r"after +\d+ operators, 0 of them dropout", output)


def test_custom_style(tmp_path: Path) -> None:
    run("examples/custom_style.py", tmp_path, "own.svg")
    assert "#f4a582" in (tmp_path / "own.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("script", "written"),
    [
        ("examples/gephi.py", {"resnet.gexf"}),
        ("examples/networkx_resnet.py", {"resnet-networkx.txt", "resnet-centrality.svg"}),
        ("examples/sigma_page.py", {"resnet-sigma.html"}),
        ("examples/pandas_table.py", {"resnet-modules.csv", "resnet-operators.csv"}),
        ("examples/lightning_module.py", {"lightning-forward.svg", "lightning-training-step.svg"}),
        ("examples/transformers_model.py", {"transformers-bert.svg"}),
        ("examples/timm_model.py", {"timm-convnext.svg", "timm-convnext.csv"}),
        ("examples/pyg_model.py", {"pyg-gcn.svg"}),
    ],
)
def test_example_writes_what_is_committed(script: str, written: set[str], tmp_path: Path) -> None:
    output = run(script, tmp_path, "out")
    if output.startswith("this example needs"):
        assert len(output.splitlines()) == 1
        assert not (tmp_path / "out").exists()
        return
    assert {path.name for path in (tmp_path / "out").iterdir()} == written
    if script not in LIBRARIES:
        for name in written:
            new, old = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path / "out", OUTPUT))
            assert new == old, f"{name} is out of date; python {script} writes it anew"


def test_golden_test_holds(tmp_path: Path) -> None:
    assert "2 passed" in run("examples/golden_test.py", tmp_path)


def test_committed_output_is_small() -> None:
    assert {path.name: path.stat().st_size for path in OUTPUT.iterdir() if path.stat().st_size > LARGEST} == {}


def test_every_example_is_tested() -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    scripts = [path.name for path in (ROOT / "examples").glob("*.py") if path.name not in ("models.py", "places.py")]
    assert [name for name in scripts if f'"examples/{name}"' not in tests] == []


def test_pictures_of_the_documentation_are_those_that_are_drawn(tmp_path: Path) -> None:
    run("docs/make_pictures.py", tmp_path, "pictures")
    drawn = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert drawn == {path.name for path in PICTURES.iterdir()}
    for name in drawn:
        new, old = ((folder / name).read_text(encoding="utf-8") for folder in (tmp_path / "pictures", PICTURES))
        assert new == old, f"{name} is out of date; python docs/make_pictures.py draws it anew"
