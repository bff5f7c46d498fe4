"""Draw a graph, or write it in any other format that the name of the file asks for.

For example:

  trec render net.trec -o net.svg --depth 2 --fold --hide params --theme dark
  trec render torchvision.models:resnet18 --shape 1,3,224,224 -o resnet.png --depth 1
  trec render net.trec -o - --format mermaid
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.cli import graphs, output

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add arguments and options."""
    output.add(parser)
    graphs.add(parser)


def run(options: Namespace) -> int:
    """Draw the graph."""
    target = output.target(options.output, options)
    output.write(graphs.graph_of(options.graph, options, but=target.passes), target)
    return 0
