"""Documents whose code is run: fenced blocks of Python and of commands, and what they print."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from trec.cli.main import main

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    """A fenced block, where it stands, and the `text` block that directly follows a block of Python."""

    line: int
    code: str
    output: str


def blocks(text: str) -> list[Block]:
    """Return the blocks of Python in a document."""
    fences = list(FENCE.finditer(text))
    found = []
    for fence, following in zip_longest(fences, fences[1:]):
        if fence[1] != "python":
            continue
        shown = following is not None and following[1] == "text" and text[fence.end() : following.start()].isspace()
        output = following[2] if following is not None and shown else ""
        found.append(Block(text.count("\n", 0, fence.start()) + 2, fence[2], output))
    return found


def commands(text: str) -> list[Block]:
    """Return the lines of `console` blocks that begin with `$ trec`, each with what it prints."""
    found = []
    for fence in FENCE.finditer(text):
        if fence[1] == "console":
            line = text.count("\n", 0, fence.start()) + 1
            for match in re.finditer(r"^\$ trec (.*)\n((?:(?!\$ ).*\n)*)", fence[2], re.MULTILINE):
                found.append(Block(line + 1 + fence[2].count("\n", 0, match.start()), match[1], match[2]))
    return found


def outputs(text: str) -> list[str]:
    """Return the blocks that show what code prints."""
    return [fence[2] for fence in FENCE.finditer(text) if fence[1] == "text"]


def run(document: Path) -> None:
    """Run the blocks and commands of a document one after the other, and compare what they print."""
    namespace: dict[str, Any] = {"__name__": document.stem.lower()}
    text = document.read_text(encoding="utf-8")
    shell = commands(text)
    for block in sorted([*blocks(text), *shell]):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block in shell:
                main(shlex.split(block.code))
            else:
                exec(compile("\n" * (block.line - 1) + block.code, str(document), "exec"), namespace)
        assert printed.getvalue() == block.output, f"{document.name}, line {block.line}"
