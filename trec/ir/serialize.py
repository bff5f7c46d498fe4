"""Files: a graph as `.trec` (msgpack) or `.json`, in one envelope with a version."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from trec.errors import FormatError, OptionError, VerifyError
from trec.ir.atomic import write_bytes
from trec.ir.collector import paused
from trec.ir.compress import MAGIC, compress, decompress
from trec.ir.graph import Graph
from trec.ir.text import clipped
from trec.ir.verify import CHECKS, DECODED, check, verify

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION: Literal[1] = 1
"""Version of the envelope; it grows only when older files must be read otherwise than newer ones."""

Format = Literal["trec", "json"]


class Envelope(msgspec.Struct, forbid_unknown_fields=True):
    """What a file holds."""

    format: Literal["trec"]
    """Says what the file is."""
    version: Literal[1]
    """Version of the format."""
    graph: Graph
    """The graph."""


class _Label(msgspec.Struct):
    """What an envelope says of itself, whatever else is in it."""

    format: str
    version: int


class _Sealed(_Label, forbid_unknown_fields=True):
    """An envelope whose graph is not looked into yet, to say first what is wrong with the file as a whole."""

    graph: msgspec.Raw


def save(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Write the graph to a file that `load` reads; the file appears whole or not at all.

    Args:
        graph: what to write.
        path: a name that ends in `.trec` (binary, the smaller and faster one) or `.json`; with `.gz` after it the file
            is compressed.

    Raises:
        OptionError: the name ends otherwise.
    """
    name = os.fspath(path)
    base = name.removesuffix(".gz")
    if base.endswith(".trec"):
        data = encode(graph, "trec")
    elif base.endswith(".json"):
        data = encode(graph, "json")
    else:
        raise OptionError(
            f"{name!r} has no suffix that says how to save a graph; known are: .trec, .json, .trec.gz, .json.gz"
        )
    write_bytes(path, data if base == name else compress(data))


def load(path: str | os.PathLike[str]) -> Graph:
    """Read a graph from a file that `save` wrote.

    What the file holds decides how it is read, not its name. Reading runs no code of the file, and takes at most 50
    times its size in memory; a compressed file may unpack to 64 MiB and 100 times its size.

    Raises:
        FormatError: the file is damaged, is no graph, or was written by a newer trec.
        OptionError: what is given is no path.
        FileNotFoundError: there is no such file.
    """
    if not isinstance(path, str | os.PathLike):  # `open` would take a number for a file that is open already
        raise OptionError(f"expected the path of a .trec or .json file, not {type(path).__name__}")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except IsADirectoryError as error:
        raise FormatError(f"{os.fspath(path)!r} is a directory, expected a .trec or .json file") from error
    except ValueError as error:
        raise OptionError(f"{os.fspath(path)!r} is not the path of any file: {error}") from error
    try:
        return decode(data)
    except FormatError as error:
        raise FormatError(f"{os.fspath(path)!r} cannot be loaded: {error}") from error


def to_json(graph: Graph, path: str | os.PathLike[str] | None = None) -> str:
    """Return the graph as JSON text that `load` reads.

    Args:
        graph: what to write.
        path: where to write the text as well, compressed if it ends in `.gz`; nowhere when left out.
    """
    data = encode(graph, "json")
    if path is not None:
        write_bytes(path, compress(data) if os.fspath(path).endswith(".gz") else data)
    return data.decode()


def encode(graph: Graph, format: Format = "trec") -> bytes:
    """Return the graph as the bytes of a file; equal graphs give equal bytes.

    Raises:
        VerifyError: the graph has something in it that no file can hold.
    """
    encoder = msgspec.msgpack.encode if format == "trec" else msgspec.json.encode
    try:
        data = encoder(Envelope("trec", VERSION, graph))
    except (TypeError, ValueError, OverflowError, RecursionError):
        verify(graph)  # says where it is
        raise
    return data if format == "trec" else data + b"\n"


def decode(data: bytes) -> Graph:
    """Return the graph that the bytes of a file hold, in either format, compressed or not, verified.

    Raises:
        FormatError: they hold none, or fields that this trec does not know; the message says what was found, what was
            expected and what to do.
    """
    if data.startswith(MAGIC):
        data = decompress(data)
    what, decoder = _reader(data)
    with paused():
        try:
            # A decoder allocates for what it has read, not for what a file announces.
            graph: Graph = decoder(data, type=Envelope).graph
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            # Once more, from the outside in, to say what is wrong.
            graph = _decoded(decoder, _sealed(decoder, data, what).graph, Graph, "a graph")
        try:
            check(graph, [name for name in CHECKS if name not in DECODED])
        except VerifyError as error:
            raise FormatError(f"the graph in it is not valid, so the file is damaged or was edited; {error}") from error
    return graph


def _sealed(decoder: Callable[..., Any], data: bytes, what: str) -> _Sealed:
    """Return the envelope of a graph that this version reads."""
    try:
        sealed: _Sealed = _decoded(decoder, data, _Sealed, what)
    except FormatError:
        _check_label(_decoded(decoder, data, _Label, what), what)
        raise
    _check_label(sealed, what)
    return sealed


def _check_label(label: _Label, what: str) -> None:
    if label.format != "trec":
        raise FormatError(
            f"the file is {what} of format {clipped(label.format)!r}, expected 'trec'; is it another program's?"
        )
    if label.version != VERSION:
        raise FormatError(
            f"the file has format version {label.version}, expected {VERSION}; "
            + ("update trec to read it" if label.version > VERSION else "the file is damaged")
        )


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a `.json` file."""
    return msgspec.json.schema(Envelope)


def _reader(data: bytes) -> tuple[str, Callable[..., Any]]:
    """Return what the data seems to be and the function that reads it."""
    if not data:
        raise FormatError("the file is empty, expected a graph; save it again")
    if data.lstrip(b" \t\r\n").startswith(b"{"):
        return "JSON", msgspec.json.decode
    if 0x80 <= data[0] <= 0x8F or data[0] in b"\xde\xdf":
        return "msgpack", msgspec.msgpack.decode
    raise FormatError(
        f"the file starts with {data[:8]!r}, expected a graph that trec saved (.trec or .json, compressed or not)"
    )


def _decoded(decoder: Callable[..., Any], data: bytes | msgspec.Raw, type_: type, what: str) -> Any:
    try:
        return decoder(data, type=type_)
    except msgspec.ValidationError as error:
        raise FormatError(
            f"it is not {what} as trec writes it: {clipped(str(error))}; "
            "it is another program's or damaged, or a newer trec wrote it"
        ) from error
    except (msgspec.DecodeError, UnicodeError) as error:
        raise FormatError(f"it is damaged {what}: {error}; copy or save the file again") from error
    except RecursionError as error:
        raise FormatError(f"it is nested deeper than any graph that trec writes, so it is damaged {what}") from error
