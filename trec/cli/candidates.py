"""What could stand at the end of a command line that is being typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec import registry
from trec.backends.themes import THEMES
from trec.cli.parser import COMMANDS, command_parser
from trec.cli.shells import SHELLS

if TYPE_CHECKING:
    from argparse import Action
    from collections.abc import Callable, Iterable, Iterator, Sequence

_VALUES: dict[str, Callable[[], Iterable[str]]] = {
    "--format": lambda: [*(suffix.removeprefix(".") for suffix in registry.SUFFIXES), *registry.names("backend")],
    "--pass": lambda: registry.names("pass"),
    "--theme": lambda: THEMES,
}
"""Words that are known for the value of an option, apart from those that it names as its choices."""


def candidates(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield what the last word could be, each with what it means; nothing where a file or any text may stand.

    Args:
        words: the words of the command line without the program; the last is as far as it is typed.

    Example:
        >>> list(candidates(["bac"]))
        [('backends', 'list the backends and the suffixes of their files')]
    """
    if len(words) == 1:
        found: Iterable[tuple[str, str]] = [*COMMANDS.items(), ("--version", ""), ("--help", "")]
    elif words[0] in COMMANDS:
        found = _in_command(words)
    else:
        found = ()
    yield from ((word, meaning) for word, meaning in found if word.startswith(words[-1]))


def _in_command(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    parser, _ = command_parser(words[0])
    actions = {name: action for action in parser.actions() for name in action.option_strings}
    before = actions.get(words[-2])
    if before is not None and before.nargs != 0:
        yield from ((word, "") for word in _values(words[-2], before))
    elif words[-1].startswith("-"):
        yield from ((name, action.help or "") for name, action in actions.items() if name.startswith("--"))
    elif words[0] == "completion":
        yield from ((shell, "") for shell in SHELLS)


def _values(name: str, action: Action) -> Iterable[str]:
    return _VALUES[name]() if name in _VALUES else action.choices or ()
