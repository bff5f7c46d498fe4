"""Write a graph in another format, which the name of the file says.

For example:

  trec convert net.trec net.json
  trec convert net.trec net.gexf.gz --option layout=true
  cat net.trec | trec convert - - --format graphml
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.cli import graphs, output

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add arguments and options."""
    graphs.add(parser)
    parser.add_argument("output", metavar="FILE", help="where to write; - for standard output")
    output.add_format(parser)


def run(options: Namespace) -> int:
    """Write the graph."""
    target = output.target(options.output, options)
    output.write(graphs.graph_of(options.graph, options, but=target.passes), target)
    return 0
