"""Print what makes a shell complete commands, options and their values.

For example:

  eval "$(trec completion bash)"                              in ~/.bashrc
  eval "$(trec completion zsh)"                               in ~/.zshrc, after compinit
  trec completion fish > ~/.config/fish/completions/trec.fish
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from trec.cli.candidates import candidates
from trec.cli.shells import ASKED, SHELLS
from trec.cli.terminal import show
from trec.cli.words import one_of

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser

_WORDS = "words"
"""What shells ask for."""


def add(parser: Parser) -> None:
    """Add arguments and options."""
    parser.add_argument("shell", type=one_of([*SHELLS, _WORDS]), metavar="SHELL", help=", ".join(SHELLS))


def run(options: Namespace) -> int:
    """Print the lines for the shell; or, asked by one, what could follow."""
    if options.shell != _WORDS:
        show(SHELLS[options.shell].rstrip())
        return 0
    for word, meaning in candidates(os.environ.get(ASKED, "").split("\n")):
        show(f"{word}\t{meaning}".rstrip())
    return 0
