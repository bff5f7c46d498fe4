"""Say what changed from one graph to another, as text or as a picture of both.

The exit code is 0 if they are equal, 1 if they differ, 2 on trouble.

For example:

  trec diff before.trec after.trec
  trec diff golden.json model.py:Net --shape 1,3,64,64
  trec diff before.trec after.trec -o changes.svg
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trec.cli import graphs, output
from trec.cli.printing import add_json, show_json
from trec.cli.terminal import fitted, painted, show

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser

DIFFERENT = 1
_LOOKS = {"+": "green", "-": "red", "~": "yellow", "=": "blue", ">": "blue"}


def add(parser: Parser) -> None:
    """Add arguments and options."""
    graphs.add(parser, "before", "after", depth="levels of modules to keep open in the picture")
    parser.add_argument("--no-names", action="store_true", help="do not compare names of modules, inputs and outputs")
    parser.add_argument("-q", "--quiet", action="store_true", help="print nothing, the exit code says it")
    add_json(parser)
    output.add(parser, default="when left out, no picture is drawn")


def run(options: Namespace) -> int:
    """Print the changes, or draw them."""
    target = None if options.output is None else output.target(options.output, options)
    before, after = (graphs.graph_of(each, options, but=["depth"]) for each in (options.before, options.after))
    found = before.diff(after, names=not options.no_names)
    if target is not None:
        both = found.to_graph()
        if options.depth is not None and "depth" not in target.passes:
            both = both.collapse(depth=options.depth)
        output.write(both, target)
    elif options.json:
        show_json({"equal": not found, "edits": found.rows(), "params": found.params, "flops": found.flops})
    elif not options.quiet:
        for line in fitted(str(found).splitlines()):
            show(painted(line, _LOOKS[line[0]]) if re.match(r"[-+~=>] ", line) else line)
    return DIFFERENT if found else 0
