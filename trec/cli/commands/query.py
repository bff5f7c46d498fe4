"""List the nodes that a selector selects. The exit code is 1 if there are none.

For example:

  trec query net.trec 'op:conv* and class:Bottleneck'
  trec query net.trec dtype:float64 --count
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trec.analysis.selectors import nodes as selected
from trec.analysis.table import lines
from trec.cli import graphs
from trec.cli.printing import add_json, show_json
from trec.cli.terminal import fitted, painted, say, show
from trec.errors import OptionError
from trec.ir.text import type_text

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser
    from trec.ir.graph import Graph

NONE = 1


def add(parser: Parser) -> None:
    """Add arguments and options."""
    graphs.add(parser)
    parser.add_argument(
        "selector",
        metavar="SELECTOR",
        help="terms such as layers.*.attn, op:conv*, class:Linear, kind:param, shape:1x*x768, is:view, "
        "joined by and, or, not and parentheses",
    )
    parser.add_argument("--count", action="store_true", help="print only how many there are")
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the nodes."""
    graph = graphs.graph_of(options.graph, options)
    mask = selected(graph, options.selector, missing_ok=True)
    rows = [_row(graph, index) for index, bit in enumerate(mask) if bit]
    if options.json:
        show_json(len(rows) if options.count else rows)
    elif options.count:
        show(str(len(rows)))
    elif rows:
        heads = ("name", "op", "results", "module", "source")
        head, *rest = lines(heads, [[row[name] for name in heads] for row in rows], texts=len(heads))
        for line in fitted([painted(head, "bold"), *rest]):
            show(line)
    else:
        say(f"trec query: {_why(graph, options.selector)}")
    return 0 if rows else NONE


def _row(graph: Graph, index: int) -> dict[str, Any]:
    node = graph.nodes[index]
    source = graph.source_of(node)
    return {
        "name": node.name,
        "op": node.op,
        "results": ", ".join([type_text(graph.type_of(value)) for value in node.outputs]),
        "module": graph.scopes[node.parent].path,
        "source": f"{source.file}:{source.line}" if source else "",
        "kind": node.kind,
        "class": graph.scopes[node.parent].cls,
        "depth": node.depth,
    }


def _why(graph: Graph, selector: str) -> str:
    """Return why nothing is selected: what the selector could have been."""
    try:
        selected(graph, selector, option="selector")
    except OptionError as error:
        return str(error)
    return f"{selector!r} selects nothing here"
