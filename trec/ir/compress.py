"""gzip with a bound: compressed bytes that are the same every time, and no file that unpacks without end."""

from __future__ import annotations

import zlib

from trec.errors import FormatError

MAGIC = b"\x1f\x8b"
"""The first bytes of gzip data."""

FREE = 64 * 2**20
RATIO = 100
"""Data may unpack to `FREE` bytes (64 MiB) and `RATIO` times its own size; graphs compress 5 to 20 times."""

_GZIP = 16 + zlib.MAX_WBITS


def compress(data: bytes) -> bytes:
    """Return the data as gzip, with neither name nor time in it.

    Ensures:
        `decompress` takes the result: what would compress beyond its limit is stored as it is.
    """
    packed = zlib.compress(data, 6, wbits=_GZIP)
    return packed if len(data) <= limit(packed) else zlib.compress(data, 0, wbits=_GZIP)


def limit(packed: bytes) -> int:
    """Return how many bytes the compressed data may unpack to."""
    return FREE + RATIO * len(packed)


def decompress(packed: bytes) -> bytes:
    """Return what gzip data holds.

    Raises:
        FormatError: the data is damaged, goes on after its end, or unpacks to more than `limit` bytes.
    """
    unpacker = zlib.decompressobj(wbits=_GZIP)
    allowed = limit(packed)
    try:
        data = unpacker.decompress(packed, allowed + 1)
    except zlib.error as error:
        raise FormatError(f"the gzip data is damaged ({error}); copy or save the file again") from error
    if len(data) > allowed:
        raise FormatError(
            f"{len(packed)} bytes of gzip data unpack to more than {allowed} bytes, which no graph does; if the file "
            f"can be trusted, unpack it with gunzip and load the result"
        )
    if not unpacker.eof:
        raise FormatError("the gzip data ends too early: the file is truncated; copy or save it again")
    if unpacker.unused_data:
        raise FormatError(
            f"{len(unpacker.unused_data)} bytes follow the end of the gzip data; expected one compressed graph and "
            f"nothing else"
        )
    return data
