"""Print the JSON Schema of a graph that was saved as .json.

For example:

  trec schema > trec.schema.json
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trec.cli.printing import show_json
from trec.ir.serialize import schema

if TYPE_CHECKING:
    from argparse import Namespace

    from trec.cli.parser import Parser


def add(parser: Parser) -> None:
    """Add nothing: there is nothing to choose."""


def run(options: Namespace) -> int:
    """Print the schema."""
    show_json(schema())
    return 0
