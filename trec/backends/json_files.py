"""Write what a backend returns as JSON."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from trec.ir.atomic import write_bytes
from trec.ir.compress import compress

if TYPE_CHECKING:
    from trec.backends.plain import Attributes

_EXACT = 2**53


def write_json(path: str | os.PathLike[str], data: dict[str, Any]) -> None:
    """Write plain data as JSON, compressed if the path ends in `.gz`, at once or not at all."""
    text = msgspec.json.encode(data)
    write_bytes(path, compress(text) if os.fspath(path).endswith(".gz") else text)


def exact(row: Attributes) -> Attributes:
    """Return the row with whole numbers as texts that JavaScript would round."""
    if any(type(value) is int and not -_EXACT <= value <= _EXACT for value in row.values()):
        return {
            name: str(value) if type(value) is int and abs(value) > _EXACT else value for name, value in row.items()
        }
    return row
