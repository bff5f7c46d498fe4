"""Results as people read them, or as JSON for machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from trec.cli.terminal import show

if TYPE_CHECKING:
    from trec.cli.parser import Parser


def add_json(parser: Parser) -> None:
    """Add the option that asks for JSON."""
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def show_json(data: Any) -> None:
    """Print plain data and rows of results as JSON."""
    show(msgspec.json.format(msgspec.json.encode(data), indent=2).decode())
