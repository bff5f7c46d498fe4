"""Check that files are graphs that keep all invariants. The exit code is 1 if one is not.

For example:

  trec verify *.trec
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.cli import graphs
from trec.cli.printing import add_json, show_json
from trec.cli.terminal import painted, show
from trec.errors import FormatError

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser

NOT_VALID = 1


def add(parser: Parser) -> None:
    """Add arguments and options."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a file with a graph; - for standard input")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing, the exit code says it")
    add_json(parser)


def run(options: Namespace) -> int:
    """Check each file and print what it is."""
    rows = []
    for source in options.files:
        try:
            graph, fault = graphs.saved(source), ""
            text = f"a valid graph, {graph.name}, {len(graph.nodes):,} nodes"
        except FormatError as error:
            text = fault = str(error)
        rows.append({"file": source, "valid": not fault, "fault": fault})
        if not options.json and not options.quiet:
            show(painted(text, "red") if fault else f"{source}: {text}")
    if options.json:
        show_json(rows)
    return 0 if all(row["valid"] for row in rows) else NOT_VALID
