"""The plugin for pytest: golden graphs lie beside their tests, and `--trec-update` writes them anew."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trec.testing.goldens import current

if TYPE_CHECKING:
    from collections.abc import Generator

_WRITTEN = "trec_goldens_written"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--trec-update`."""
    group = parser.getgroup("trec")
    group.addoption(
        "--trec-update",
        action="store_true",
        help="write the golden graphs of trec.testing.assert_matches that are missing, unreadable or differ",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Tell the assertions where the test lies, as long as it runs."""
    before = current.folder, current.update
    current.folder, current.update = item.path.parent, bool(item.config.getoption("--trec-update"))
    try:
        return (yield)
    finally:
        current.folder, current.update = before


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that prints the summary, where pytest-xdist runs tests in several."""
    output: dict[str, list[str]] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[_WRITTEN] = [os.fspath(path) for path in current.written]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over what a process of pytest-xdist has written."""
    current.written += map(Path, getattr(node, "workeroutput", {}).get(_WRITTEN, ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which golden graphs were written."""
    for path in sorted(set(current.written)):
        terminalreporter.write_line(f"golden graph written: {path}")
