from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from trec.cli.candidates import candidates
from trec.cli.parser import COMMANDS
from trec.cli.shells import SHELLS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Trec


def words(line: str) -> list[str]:
    return [word for word, _ in candidates(line.split(" "))]


def test_commands_come_first() -> None:
    assert words("") == [*COMMANDS, "--version", "--help"]
    assert words("re") == ["render", "report"]
    assert words("paint --") == []


def test_options_and_their_values_follow() -> None:
    assert words("render net.trec --ro") == ["--roll"]
    assert words("render net.trec --rankdir ") == ["TB", "LR", "BT", "RL"]
    assert words("render net.trec --format mer") == ["mermaid"]
    assert words("render net.trec --theme ") == ["light", "dark", "paper"]
    assert words("render net.trec --pass ro") == ["roll"]
    assert words("stats net.trec --about me") == ["memory"]
    assert words("completion ") == list(SHELLS)


def test_files_are_left_to_the_shell() -> None:
    assert words("render ") == []
    assert words("render net.trec -o ") == []


def test_options_of_recording_are_completed_where_help_tells_of_them() -> None:
    assert "--shape" in words("capture --")
    assert "--shape" not in words("show --")


def test_the_words_that_shells_hand_over_are_answered(trec: Trec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TREC_COMPLETE", "show\nnet.trec\n--prog")
    assert trec("completion", "words").out == "--program\tprint the program line by line instead\n"


ASK = {
    "bash": 'source lines; COMP_WORDS=(trec render net.trec --ran); COMP_CWORD=3; _trec; echo "${COMPREPLY[@]}"',
    "fish": "source lines; complete -C 'trec render net.trec --ran'",
    "zsh": (
        "compdef() { }; _files() { }; _describe() { print -l -- ${(P)2} }; source lines; "
        "words=(trec render net.trec --ran); CURRENT=4; _trec"
    ),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_completes(shell: str, trec: Trec, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "lines").write_text(trec("completion", shell).out)
    program = tmp_path / "trec"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m trec "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [shell, "-c", ASK[shell]], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("--rankdir"), done.stderr
