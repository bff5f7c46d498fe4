"""From the words of a command line to an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

from trec import __version__
from trec.cli.parser import command_parser, overview
from trec.cli.terminal import say, show
from trec.cli.words import meant
from trec.errors import OptionError, TrecError

if TYPE_CHECKING:
    from collections.abc import Sequence

TROUBLE = 2
INTERRUPTED = 130
NOBODY_READS = 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: the words of the command line without the program; those of the process when left out.

    Returns:
        The exit code: 0 done, 1 the answer is no, 2 trouble, 130 interrupted, 141 nobody reads the output any more.

    Example:
        >>> main(["--version"])
        trec 0.1.0
        0
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError):
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _run(words)
        sys.stdout.flush()
        return code
    except SystemExit as end:  # the parser has shown its help
        return int(end.code or 0)
    except KeyboardInterrupt:
        say("trec: interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        _leave_pipe()
        return NOBODY_READS
    except (TrecError, OSError) as error:
        if "--traceback" in words:
            traceback.print_exc()
        say(f"trec{' ' + words[0] if words and words[0].isalpha() else ''}: {_sentence(error)}")
        return TROUBLE
    except Exception:  # an exit code of 1 would be an answer
        traceback.print_exc()
        say("trec: this is a fault of trec; please report it, with the lines above")
        return TROUBLE


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        show(overview())
        return 0 if words else TROUBLE
    if words[0] in ("-V", "--version", "version"):
        show(f"trec {__version__}")
        return 0
    if words[0].startswith("-"):
        raise OptionError(f"there is no option {words[0]}; {meant(words[0], ('--help', '--version'))}")
    parser, command = command_parser(words[0])
    return command.run(parser.parsed(words[1:]))


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and not isinstance(error, TrecError) and error.strerror:
        return f"{error.filename!r}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _leave_pipe() -> None:
    """Let what is still to be written go nowhere, so that nothing is said of it when the process ends."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
