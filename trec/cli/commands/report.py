"""List what a recording did not see, such as values that left PyTorch, and what it did not use.

For example:

  trec report net.trec --check
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.cli import graphs
from trec.cli.printing import add_json, show_json
from trec.cli.terminal import fitted, show

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser

SOMETHING = 1


def add(parser: Parser) -> None:
    """Add arguments and options."""
    graphs.add(parser)
    parser.add_argument("--check", action="store_true", help="exit with 1 if there is something to tell")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the findings."""
    found = graphs.graph_of(options.graph, options).report()
    if options.json:
        show_json(found.rows())
    else:
        for line in fitted(str(found).splitlines()):
            show(line)
    return SOMETHING if found and options.check else 0
