"""What depends on whether a terminal is there: colours, the width of lines, what is told while work goes on."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_CODES = {"bold": "1", "dim": "2", "green": "32", "red": "31", "yellow": "33", "blue": "34"}


def is_terminal(stream: TextIO) -> bool:
    """Tell whether people see what is written to a stream, on something that knows control sequences."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def can_show(text: str) -> bool:
    """Tell whether standard output has the characters of a text."""
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeError:
        return False
    return True


def painted(text: str, look: str) -> str:
    """Return a text for standard output in a colour or weight, plain where that is no terminal or `NO_COLOR` is set."""
    if not text or not is_terminal(sys.stdout) or os.environ.get("NO_COLOR"):
        return text
    return f"\x1b[{_CODES[look]}m{text}\x1b[0m"


def fitted(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines, cut where a terminal ends."""
    width = shutil.get_terminal_size().columns if is_terminal(sys.stdout) else 0
    for line in lines:
        yield line[: width - 1] + "…" if width and len(line) > width else line


def say(text: str) -> None:
    """Print a line to standard error."""
    print(text, file=sys.stderr)  # noqa: T201


def show(text: str) -> None:
    """Print to standard output."""
    print(text)  # noqa: T201


@contextmanager
def working(what: str) -> Iterator[None]:
    """Say on the terminal what takes its time, as long as it does."""
    if not is_terminal(sys.stderr):
        yield
        return
    sys.stderr.write(f"{what} ...")
    sys.stderr.flush()
    try:
        yield
    finally:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()


def note(text: str) -> None:
    """Say something that is good to know, but only to people."""
    if is_terminal(sys.stderr):
        say(text)
