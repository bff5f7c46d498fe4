"""Write a graph in the format that a file name asks for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from trec import registry
from trec.errors import OptionError

if TYPE_CHECKING:
    from trec.ir.graph import Graph

_BINARY = frozenset({".png", ".pdf"})


def write(graph: Graph, path: str | os.PathLike[str], **options: Any) -> None:
    """Write a graph in the format that the suffix of the file name stands for.

    Args:
        graph: what to write.
        path: where to write; with a further `.gz` a text format is compressed. The file is replaced as a whole or not
            at all.
        **options: what the backend of that format takes.

    Raises:
        OptionError: no format has that suffix; the message lists the known ones.
    """
    registry.load(registry.SUFFIXES[suffix_of(path)])(graph, path=path, **options)


def check_uncompressed(path: str | os.PathLike[str] | None) -> None:
    """Raise an `OptionError` if a file of a format that is compressed itself is to be compressed."""
    name = "" if path is None else os.path.basename(os.fspath(path))
    if name.lower().endswith(".gz"):
        raise OptionError(f"PNG and PDF are compressed already; leave .gz out of the name {name!r}")


def suffix_of(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file name that says its format, without a further `.gz`.

    Raises:
        OptionError: no format has that suffix; the message lists the known ones.

    Example:
        >>> suffix_of("net.sigma.json.gz")
        '.sigma.json'
    """
    name = os.fspath(path).lower()
    bare = name.removesuffix(".gz")
    suffix = max((known for known in registry.SUFFIXES if bare.endswith(known)), key=len, default=None)
    if suffix is None or (suffix in _BINARY and bare != name):
        known = ", ".join(registry.SUFFIXES)
        bad = os.path.basename(name)
        raise OptionError(f"no format has the suffix of {bad!r}; known are: {known}, and .gz after those of text")
    return suffix
