"""Saved graphs to try commands on, and a call of the command line."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

from tests.conftest import skip, twice
from tests.passes.samples import blocks
from trec.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path


class Result(NamedTuple):
    """What a command did."""

    code: int
    out: str
    err: str


class Trec(Protocol):
    """Runs a command, given as its words, perhaps with something on standard input."""

    def __call__(self, *words: object, stdin: bytes | None = None) -> Result: ...


@pytest.fixture
def trec(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Trec:
    """Return a function that runs a command and returns its exit code and what it printed."""

    def run(*words: object, stdin: bytes | None = None) -> Result:
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        code = main([str(word) for word in words])
        out, err = capfd.readouterr()
        return Result(code, out, err)

    return run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working directory, which holds `skip.trec`, `twice.json` and `blocks.trec`."""
    monkeypatch.chdir(tmp_path)
    skip().save("skip.trec")
    twice().save("twice.json")
    blocks().save("blocks.trec")
    return tmp_path
