"""Print numbers about a graph: operators and parameters by module, or what else --about names.

--depth says how many levels of modules are shown; nothing is closed.

For example:

  trec stats net.trec --depth 1
  trec stats net.trec --about memory
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.stats import Stats
from trec.cli import graphs
from trec.cli.printing import add_json, show_json
from trec.cli.terminal import fitted, show
from trec.cli.words import one_of
from trec.ir.graph import Graph

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser

ANALYSES = {
    "modules": Graph.stats,
    "parameters": Graph.parameters,
    "memory": Graph.memory,
    "path": Graph.critical_path,
    "islands": Graph.islands,
    "aliases": Graph.aliases,
    "repeats": Graph.repeats,
    "costs": Graph.costs,
    "communication": Graph.communication,
}


def add(parser: Parser) -> None:
    """Add arguments and options."""
    graphs.add(parser, depth="levels of modules to show, with --about modules")
    parser.add_argument(
        "--about",
        type=one_of(ANALYSES),
        choices=tuple(ANALYSES),
        default="modules",
        metavar="WHAT",
        help=f"one of {', '.join(ANALYSES)}",
    )
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the numbers."""
    graph = graphs.graph_of(options.graph, options, but=["depth"])
    found = ANALYSES[options.about](graph)
    if isinstance(found, Stats) and options.depth is not None:
        found = replace(found, modules=tuple([row for row in found.modules if row.depth <= options.depth]))
    if options.json:
        show_json(found)
    else:
        for line in fitted(str(found).splitlines()):
            show(line)
    return 0
