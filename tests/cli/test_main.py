from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.conftest import skip
from trec import __version__
from trec.cli.parser import COMMANDS
from trec.ir.serialize import decode

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Trec

COMMAND = [sys.executable, "-m", "trec"]


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **more}


def test_the_version_and_the_overview(trec: Trec) -> None:
    assert trec("--version") == (0, f"trec {__version__}\n", "")
    code, out, _ = trec("--help")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[5:] if line.startswith("  ")] == list(COMMANDS)
    assert trec().code == 2


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, trec: Trec) -> None:
    code, out, err = trec(name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: trec {name}")


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("rendr", "did you mean render?"),
        ("paint", "there are: capture, render,"),
        ("--versio", "did you mean --version?"),
        ("show", "missing: GRAPH (trec show --help"),
        ("show skip.tre", "did you mean skip.trec?"),
        ("show nothing.trec", "there are: blocks.trec, skip.trec, twice.json"),
        ("show nowhere/skip.trec", "nor a folder 'nowhere'"),
        ("show skip", "a model is package.module:factory"),
        ("show model.py", "a model is package.module:factory"),
        ("show skip.trec --dept 2", "did you mean --depth?"),
        ("show skip.trec --depth many", "'many' is no whole number from 0"),
        ("show skip.trec f", "matches no call; did you mean 'fc'?"),
        ("show .", "is a directory"),
        ("stats skip.trec more", "there is no place for 'more'"),
        ("stats skip.trec --about memry", "did you mean memory?"),
        ("render skip.trec", "missing: -o/--output"),
        ("render skip.trec -o net", "no format has the suffix of 'net'"),
        ("render skip.trec -o -", "such as --format svg"),
        ("render skip.trec -o - --format svgg", "did you mean svg?"),
        ("render skip.trec -o - --format networkx", "makes a MultiDiGraph, which is for programs"),
        ("render skip.trec -o nowhere/net.svg", "there is no folder 'nowhere'"),
        ("render skip.trec -o net.svg --theme drak", "there is no theme 'drak'"),
        ("render skip.trec -o net.svg --rankdir XY", "there are: TB, LR, BT, RL"),
        ("render skip.trec -o net.gexf --rankdir LR", "has no option rankdir; its options are: scopes, layout"),
        ("render skip.trec -o net.svg --option wide", "is not of the form name=value"),
        ("render skip.trec -o net.svg --hide op:liner", "--hide='op:liner' matches no node; did you mean 'linear'?"),
        ("render skip.trec -o net.svg --focus op:liner", "--focus='op:liner' matches no node"),
        ("render skip.trec -o net.svg --to fc", "--to says more about --focus, which is not given"),
        ("render skip.trec -o net.svg --keep fc", "--keep says more about --depth, which is not given"),
        ("render skip.trec -o net.svg --pass bypass", "there is no pass named 'bypass'"),
        ("render skip.trec -o net.svg --pass prune:all", "is not of the form name:option=value"),
        ("render skip.trec -o net.svg --pass tensors:all=1", "trec passes tells what it takes"),
        ("query skip.trec opp:linear", "did you mean op:"),
        ("query skip.trec op:(", "is not complete"),
        ("completion powershell", "there are: bash, zsh, fish"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_with_a_hint(words: str, hint: str, trec: Trec, folder: Path) -> None:
    code, out, err = trec(*words.split())
    assert (code, out) == (2, "")
    assert err.startswith("trec")
    assert err.count("\n") == 1
    assert hint in err
    assert not (folder / "net.svg").exists()


def test_a_file_that_is_no_graph_is_refused(trec: Trec, folder: Path) -> None:
    (folder / "bad.trec").write_text("hello")
    code, _, err = trec("show", "bad.trec")
    assert code == 2
    assert err.startswith("trec show: 'bad.trec' cannot be loaded: the file starts with")
    assert "standard input cannot be loaded" in trec("show", "-", stdin=b"hello").err


def test_the_keyboard_is_no_graph(trec: Trec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert "which is the keyboard" in trec("show", "-").err


def test_an_error_can_show_where_it_came_from(trec: Trec, folder: Path) -> None:
    assert "Traceback" not in trec("show", "none.trec").err
    assert "Traceback" in trec("show", "none.trec", "--traceback").err


def test_a_fault_of_trec_is_trouble_and_no_answer(trec: Trec, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trec.ir.graph.Graph.diff", lambda *_, **__: 1 / 0)
    code, _, err = trec("diff", "skip.trec", "skip.trec")
    assert code == 2
    assert err.endswith("trec: this is a fault of trec; please report it, with the lines above\n")


def test_options_may_stand_anywhere(trec: Trec, folder: Path) -> None:
    one = trec("query", "--json", "skip.trec", "op:linear")
    assert one == trec("query", "skip.trec", "--json", "op:linear") == trec("query", "skip.trec", "op:linear", "--json")


def test_standard_input_and_output_take_the_place_of_files(trec: Trec, folder: Path, capfd: object) -> None:
    data = (folder / "skip.trec").read_bytes()
    assert trec("show", "-", stdin=data) == trec("show", "skip.trec")
    trec("render", "skip.trec", "-o", "skip.svg")
    assert trec("render", "-", "-o", "-", "--format", "svg", stdin=data).out == (folder / "skip.svg").read_text()


def test_an_error_of_the_system_names_the_file_that_was_asked_for(trec: Trec, folder: Path) -> None:
    (folder / "there.svg").mkdir()
    code, _, err = trec("render", "skip.trec", "-o", "there.svg")
    assert code == 2
    assert err == "trec render: 'there.svg': Is a directory\n"
    (folder / "dangling.svg").symlink_to("nowhere/net.svg")
    assert trec("render", "skip.trec", "-o", "dangling.svg").err == (
        "trec render: 'dangling.svg': No such file or directory\n"
    )


# ---- processes


def test_a_pipe_may_be_named_as_a_file(folder: Path) -> None:
    command = [*COMMAND, "convert", "skip.trec", "/dev/stdout", "--format", "json"]
    for words in (command, [*COMMAND, "convert", "skip.trec", "/dev/fd/1", "--format", "json"]):
        done = subprocess.run(words, env=environment(), capture_output=True, check=True)
        assert decode(done.stdout) == skip()


def test_what_reads_the_output_may_go_away(folder: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "schema"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 141


def test_an_interrupt_ends_it_with_one_word(folder: Path) -> None:
    (folder / "slow.py").write_text("import time\nprint('started', flush=True)\ntime.sleep(60)\n")
    code = (
        "import signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from trec.cli import models, recording\nfrom trec.cli.main import main\n"
        "recording.record = lambda spec, options: models.load(spec)\n"
        "sys.exit(main(['capture', 'slow.py:Net', '-o', 'net.trec']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == "trec: interrupted\n"
        assert process.wait() == 130


@pytest.mark.parametrize(
    "words",
    [
        "--version", "--help", "show skip.trec", "stats skip.trec", "query skip.trec op:linear", "report skip.trec",
        "diff skip.trec skip.trec", "verify skip.trec", "schema", "passes", "backends", "render skip.trec -o net.svg",
        "convert skip.trec net.gexf", "completion bash", "show --help", "capture --help",
    ],
)  # fmt: skip
def test_what_reads_files_loads_no_library(words: str, folder: Path) -> None:
    code = (
        f"import sys\nfrom trec.cli.main import main\ncode = main({words.split()})\n"
        "assert not {'torch', 'numpy', 'networkx', 'graphviz', 'pydot', 'rich'} & {*sys.modules}, sys.modules\n"
        "sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_is_read_and_not_run_whatever_its_name(trec: Trec, folder: Path) -> None:
    for name in ("os:getcwd", "hf:bert", "model.py:Net"):
        (folder / name).write_bytes((folder / "skip.trec").read_bytes())
        assert trec("show", name) == trec("show", "skip.trec")


def test_a_terminal_without_the_characters_gets_others(folder: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "show", "skip.trec"], env=environment(PYTHONIOENCODING="ascii"), capture_output=True, check=True
    )
    assert b"`- fc" in done.stdout
