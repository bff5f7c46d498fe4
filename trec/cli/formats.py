"""Formats by name: which backend writes them, what it takes, and what it makes as bytes."""

from __future__ import annotations

import inspect
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from trec import registry
from trec.backends.options import DEFAULTS
from trec.cli.words import meant
from trec.errors import OptionError

if TYPE_CHECKING:
    from trec.ir.graph import Graph


def suffix_of_format(name: str) -> str:
    """Return the suffix of files in a format; empty for a backend whose files have none.

    Args:
        name: a suffix with or without its dot, or the name of a backend.

    Raises:
        OptionError: there is no such format.
    """
    suffix = f".{name.removeprefix('.').lower()}"
    if suffix in registry.SUFFIXES:
        return suffix
    if name in registry.BACKENDS:
        return next((known for known in registry.SUFFIXES if backend_of(known) == name), "")
    if name not in registry.names("backend"):
        known = [*(known.removeprefix(".") for known in registry.SUFFIXES), *registry.names("backend")]
        raise OptionError(f"there is no format {name!r}; {meant(name, dict.fromkeys(known))}")
    return ""


def backend_of(suffix: str) -> str:
    """Return the name of the backend that writes files of a suffix; empty for those of trec itself."""
    module = registry.SUFFIXES[suffix].partition(":")[0]
    return next((name for name, place in registry.BACKENDS.items() if place.partition(":")[0] == module), "")


def takes(name: str) -> list[str] | None:
    """Return the names of the options that a format takes, given by suffix or backend; None if it takes any."""
    backend = backend_of(name) if name in registry.SUFFIXES else name
    found: list[str] = []
    for parameter in list(inspect.signature(registry.resolve("backend", backend)).parameters.values())[1:]:
        if parameter.kind is parameter.VAR_KEYWORD:
            if name not in registry.SUFFIXES and name not in registry.BACKENDS:
                return None
            found += DEFAULTS
        elif parameter.name != "path":
            found.append(parameter.name)
    return found


def check(name: str, known: list[str] | None, given: dict[str, Any]) -> None:
    """Refuse options that a format does not take.

    Raises:
        OptionError: there is one; the message says which there are.
    """
    for option in given:
        if known is not None and option not in known:
            what = ", ".join(known) or "none"
            raise OptionError(f"the format {name} has no option {option}; its options are: {what}")


def made(graph: Graph, suffix: str, name: str, given: dict[str, Any]) -> bytes:
    """Return what a backend makes of a graph, as the bytes of a file.

    Raises:
        OptionError: it makes an object for programs.
    """
    if suffix:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, f"graph{suffix}")
            registry.load(registry.SUFFIXES[suffix.removesuffix(".gz")])(graph, path=file, **given)
            return file.read_bytes()
    result = graph.to(name, **given)
    if isinstance(result, bytes):
        return result
    if isinstance(result, str):
        return f"{result.removesuffix(chr(10))}\n".encode()
    if isinstance(result, (dict, list)):
        return msgspec.json.encode(result) + b"\n"
    raise OptionError(f"the backend {name} makes a {type(result).__name__}, which is for programs and has no file")
