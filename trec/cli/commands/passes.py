"""List the passes, built in and of installed packages, and the options that they take.

For example:

  trec passes
  trec render net.trec --pass tensors:which=all -o net.svg
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec import registry
from trec.cli.printing import add_json, show_json
from trec.cli.sources import told
from trec.cli.terminal import painted, show

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add arguments and options."""
    add_json(parser)


def run(options: Namespace) -> int:
    """Print the passes."""
    rows = []
    for name in registry.names("pass"):
        found = told(registry.reference("pass", name))
        rows.append({"name": name, "summary": found.summary, "options": found.options})
        if not options.json:
            show(f"{painted(f'{name:<10}', 'bold')} {found.summary}")
            if found.options:
                show(f"{'':<10} {painted(', '.join(found.options), 'dim')}")
    if options.json:
        show_json(rows)
    return 0
