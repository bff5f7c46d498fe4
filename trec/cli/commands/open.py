"""Write a page with a graph, and show it in the browser.

For example:

  trec open net.trec --depth 2
"""

from __future__ import annotations

import os
import tempfile
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from trec.cli import graphs, output
from trec.cli.terminal import say, show

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add arguments and options."""
    output.add(parser, default="a new temporary file when left out")
    parser.add_argument("--no-browser", action="store_true", help="only write the page and print where it is")
    graphs.add(parser)


def run(options: Namespace) -> int:
    """Write the page, print its place and open it."""
    path = options.output or os.path.join(tempfile.mkdtemp(prefix="trec-"), "graph.html")
    target = output.target(path, options)
    output.write(graphs.graph_of(options.graph, options, but=target.passes), target)
    show(path)
    if not options.no_browser and not webbrowser.open(Path(path).resolve().as_uri()):
        say("trec open: no browser was found; open the file above yourself")
    return 0
