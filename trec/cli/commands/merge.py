"""Join the graphs of all ranks of a job, each recorded in its own process, into one.

The exit code is 2 if they do not fit together: what is printed then names both sides.

For example:

  trec merge rank*.trec -o all.trec
  trec merge rank*.trec -o all.svg --depth 2
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.cli import graphs, output, passes, recording
from trec.passes.merge import merge

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add arguments and options."""
    parser.add_argument(
        "ranks", nargs="+", metavar="FILE", help="the graph of one rank; give those of all, in any order"
    )
    parser.add_argument("--no-fold", action="store_true", help="keep ranks that run the same program apart")
    group = parser.add_argument_group("what of the graph")
    recording.add_level(group)
    passes.add(group, depth=passes.COLLAPSE)
    output.add(parser)


def run(options: Namespace) -> int:
    """Merge the graphs and write the result."""
    target = output.target(options.output, options)
    passes.check(options)
    merged = merge([graphs.saved(source) for source in options.ranks], fold=not options.no_fold)
    output.write(passes.applied(merged, options, but=target.passes), target)
    return 0
