"""Print the calls of modules of a graph as a tree, with shapes, operators and parameters.

--depth says how many levels of modules are shown; nothing is closed.

For example:

  trec show net.trec --depth 2
  trec show net.trec 'encoder.layers.*' class:Attention
  trec show torchvision.models:resnet18 --shape 1,3,224,224 --costs
  trec show net.trec --program
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from trec.analysis.selectors import scopes as selected
from trec.cli import graphs, tree
from trec.cli.printing import add_json, show_json
from trec.cli.terminal import fitted, show

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add arguments and options."""
    graphs.add(parser, depth="levels of modules to show")
    parser.add_argument(
        "selectors", nargs="*", default=[], metavar="SELECTOR", help="show these modules, and what is in them"
    )
    parser.add_argument("--program", action="store_true", help="print the program line by line instead")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the tree."""
    graph = graphs.graph_of(options.graph, options, but=[] if options.program else ["depth"])
    if options.program:
        for line in fitted(str(graph).splitlines()):
            show(line)
        return 0
    table = graph.to_table()
    names = None
    if options.selectors:
        mask = selected(graph, options.selectors, option="selector")
        names = {scope.name for index, scope in enumerate(graph.scopes) if mask[index]}
    rows = tree.chosen(table.calls, names, options.depth)
    if options.json:
        show_json(rows)
        return 0
    for line in fitted(tree.lines(replace(table, calls=tuple(rows)))):
        show(line)
    return 0
