"""The graph that a command works on: read from a file or standard input, or recorded from a model."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

from trec import load
from trec.cli import passes, recording
from trec.cli.models import FORMS, is_model
from trec.cli.terminal import working
from trec.cli.words import meant
from trec.errors import FormatError, OptionError
from trec.ir.serialize import decode

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection

    from trec.cli.parser import Parser
    from trec.ir.graph import Graph

STDIN = "-"
_LARGE = 4_000_000
"""Bytes of a file that takes a moment to read."""
_SAVED = (".trec", ".json", ".trec.gz", ".json.gz")


def add(parser: Parser, *names: str, depth: str = passes.COLLAPSE) -> None:
    """Add the arguments that name graphs, the options of passes, and without words in the help those of recording.

    Args:
        parser: what to add to.
        *names: of the arguments, `graph` when left out.
        depth: what `--depth` does, for the help.
    """
    for name in names or ("graph",):
        parser.add_argument(name, metavar=name.upper(), help="a file, - for standard input, or a model to record")
    group = parser.add_argument_group("what of the graph")
    recording.add_level(group)
    passes.add(group, depth=depth)
    hidden = parser.add_argument_group("for a model", "see trec capture --help: its options are taken here too")
    recording.add(hidden, shown=False)


def graph_of(source: str, options: Namespace, *, but: Collection[str] = ()) -> Graph:
    """Return the graph that an argument names, with the passes that the options ask for.

    Args:
        source: a file, `-`, or a model.
        options: what was parsed.
        but: passes that are left to the caller: `depth` or `fold`.
    """
    passes.check(options)
    return passes.applied(read(source, options), options, but=but)


def read(source: str, options: Namespace) -> Graph:
    """Return the graph that an argument names: saved, or recorded from a model.

    Raises:
        OptionError: it names neither a file nor a model.
        FormatError: the file is no graph.
        TrecError: the model could not be recorded.
    """
    return recording.record(source, options) if is_model(source) else saved(source)


def saved(source: str) -> Graph:
    """Return the graph in a file or on standard input.

    Raises:
        OptionError: there is no such file; the message says what was meant.
        FormatError: it is no graph.
    """
    if source != STDIN:
        return _from_file(source)
    if sys.stdin.isatty():
        raise OptionError("- reads a graph from standard input, which is the keyboard; name a file or use a pipe")
    try:
        return decode(sys.stdin.buffer.read())
    except FormatError as error:
        raise FormatError(f"standard input cannot be loaded: {error}") from error


def _from_file(path: str) -> Graph:
    if not os.path.exists(path):
        raise OptionError(f"there is no file {path!r}{_near(path)}")
    with working(f"reading {path}") if os.path.getsize(path) > _LARGE else nullcontext():
        return load(path)


def _near(path: str) -> str:
    """Return what may have been meant instead of a file that is not there."""
    folder, name = os.path.split(path)
    if folder and not os.path.isdir(folder):
        return f", nor a folder {folder!r}"
    others = sorted(other for other in os.listdir(folder or ".") if other.endswith(_SAVED))
    hint = meant(name, others) if others else ""
    if name.endswith(_SAVED) or hint.startswith("did you mean"):
        return f"; {hint or 'trec capture makes one'}"
    return f"; {FORMS}"
