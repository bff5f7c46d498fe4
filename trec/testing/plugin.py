"""The plugin for pytest: golden graphs lie beside their tests, and `--trec-update` writes them anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trec.testing.goldens import current

if TYPE_CHECKING:
    from collections.abc import Generator


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--trec-update`."""
    group = parser.getgroup("trec")
    group.addoption(
        "--trec-update",
        action="store_true",
        help="write the golden graphs of trec.testing.assert_matches that are missing or differ",
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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which golden graphs were written."""
    for path in current.written:
        terminalreporter.write_line(f"golden graph written: {path}")
