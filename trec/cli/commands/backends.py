"""List the backends, built in and of installed packages, their suffixes and their options.

For example:

  trec backends
  trec render net.trec -o net.gexf --option layout=true
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec import registry
from trec.cli import formats
from trec.cli.printing import add_json, show_json
from trec.cli.sources import told
from trec.cli.terminal import painted, show

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser

_PICTURES = "and all that trec render has for pictures"


def add(parser: Parser) -> None:
    """Add arguments and options."""
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the backends."""
    rows = []
    for name in registry.names("backend"):
        suffixes = [suffix for suffix in registry.SUFFIXES if formats.backend_of(suffix) == name]
        found = told(registry.reference("backend", name))
        rows.append({"name": name, "suffixes": suffixes, "summary": found.summary, "options": found.options})
        if not options.json:
            show(f"{painted(f'{name:<15}', 'bold')} {', '.join(suffixes) or '-':<13} {found.summary}")
            taken = [*found.options, *([_PICTURES] if found.more and name in registry.BACKENDS else [])]
            if taken:
                show(f"{'':<29} {painted(', '.join(taken), 'dim')}")
    if options.json:
        show_json(rows)
    return 0
