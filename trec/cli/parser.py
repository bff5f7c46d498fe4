"""The commands, and a parser for each that says in one sentence what is wrong."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from trec.cli.words import meant
from trec.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "capture": "record a model and save the graph",
    "render": "draw a graph, or write it in any other format",
    "open": "show a graph in the browser",
    "show": "print the modules of a graph as a tree with shapes and sizes",
    "stats": "print numbers: operators, parameters, memory, paths, repeats",
    "query": "list the nodes that a selector selects",
    "report": "list what a recording did not see, and what the model did not use",
    "merge": "join the graphs of all ranks of a job",
    "diff": "say what changed from one graph to another",
    "convert": "write a graph in another format",
    "verify": "check files",
    "schema": "print the JSON Schema of a saved graph",
    "passes": "list the passes",
    "backends": "list the backends and the suffixes of their files",
    "completion": "print what makes a shell complete commands and options",
}
"""Each command and what it does; `trec.cli.commands` has a file for each."""

EPILOG = """\
A graph is given as a file (.trec or .json, each also .gz), as - for standard input, or as a model
that is recorded: package.module:factory, path/to/file.py:Class or hf:folder.
Recording runs the code of the model. Reading a file runs nothing and needs no PyTorch.

Exit codes: 0 done, 1 the answer is no (diff: different, query: nothing selected, verify: not valid,
report --check: something to tell), 2 trouble, 130 interrupted.
The environment variable NO_COLOR switches colours off.
"""


class Command(Protocol):
    """What a file in `trec.cli.commands` has."""

    def add(self, parser: Parser) -> None:
        """Add arguments and options."""

    def run(self, options: argparse.Namespace) -> int:
        """Do it, and return the exit code."""


class Parser(argparse.ArgumentParser):
    """A parser that raises an `OptionError` where arguments are wrong, and takes options wherever they stand."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter, **options)

    def error(self, message: str) -> NoReturn:
        """Raise an error that says what is wrong and where to look."""
        message = message.removeprefix("argument ").replace("the following arguments are required:", "missing:")
        raise OptionError(f"{message} ({self.prog} --help shows what there is)")

    def parsed(self, words: Sequence[str]) -> argparse.Namespace:
        """Return the options that some words give.

        Raises:
            OptionError: they are wrong; an option that is not known gets a hint.
        """
        found, rest = self.parse_known_intermixed_args(list(words))
        if rest:
            word = rest[0].partition("=")[0]
            if not word.startswith("-") or word == "-":
                self.error(f"there is no place for {rest[0]!r}")
            self.error(f"there is no option {word}; {meant(word, self.options())}")
        return found

    def actions(self) -> list[argparse.Action]:
        """Return the arguments and options that help tells of."""
        return [action for action in self._actions if action.help is not argparse.SUPPRESS]

    def positional(self) -> str:
        """Return the arguments that are no options, as they are typed."""
        forms = {"*": "[{} ...]", "+": "{} ..."}
        words = [
            forms.get(str(action.nargs), "{}").format(action.metavar)
            for action in self.actions()
            if not action.option_strings
        ]
        return " ".join(words)

    def options(self) -> list[str]:
        """Return the names of the options that help tells of."""
        return [name for action in self.actions() for name in action.option_strings]


def command_parser(name: str) -> tuple[Parser, Command]:
    """Return the parser of a command, and the command.

    Raises:
        OptionError: there is no such command.
    """
    if name not in COMMANDS:
        raise OptionError(f"there is no command {name!r}; {meant(name, COMMANDS)} (trec --help shows what there is)")
    module = import_module(f"trec.cli.commands.{name}")
    command = cast("Command", module)
    parser = Parser(f"trec {name}", description=(module.__doc__ or "").strip())
    parser.add_argument("--traceback", action="store_true", help="on an error, show where it came from")
    command.add(parser)
    parser.usage = f"{parser.prog} {parser.positional()} [OPTION ...]".replace("  ", " ")
    return parser, command


def overview() -> str:
    """Return what `trec --help` prints."""
    rows = [f"  {name:<11} {summary}" for name, summary in COMMANDS.items()]
    head = "usage: trec COMMAND ...\n       trec --version\n\nRecord what a PyTorch model does, look at it, draw it."
    return "\n".join([head, "", *rows, "", "trec COMMAND --help tells more.", "", EPILOG])
