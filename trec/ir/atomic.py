"""Files that appear whole or not at all, for everything that trec writes."""

from __future__ import annotations

import os
import stat
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_GZIP = 16 + zlib.MAX_WBITS
_BATCH = 1024


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of `path` when the block ends without an exception.

    Until then a file of that name stays as it was. It keeps its permissions, and a link goes on pointing at it. What is
    no regular file, such as `/dev/stdout`, is written directly.
    """
    target = os.path.realpath(path)
    try:
        mode = os.stat(path).st_mode  # of a pipe, `target` is no name
    except FileNotFoundError:
        mode = 0
    if mode and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            yield file
        return
    folder, name = os.path.split(target)
    beside = os.path.join(folder, f".{name[:64]}.{os.urandom(6).hex()}.tmp")
    try:
        with open(beside, "xb") as file:
            yield file
        if mode:
            os.chmod(beside, stat.S_IMODE(mode))
        os.replace(beside, target)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename == beside:
            error.filename = os.fspath(path)
        with suppress(OSError):
            os.remove(beside)
        raise


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write the bytes to a file, at once or not at all."""
    with replacing(path) as file:
        file.write(data)


def write_text(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    """Write lines of text, given without line ends, as UTF-8, at once or not at all.

    The bytes are the same on every system: lines end in a line feed, and the form that a `path` in `.gz` asks for holds
    neither name nor time.
    """
    with replacing(path) as file:
        if not os.fspath(path).endswith(".gz"):
            file.writelines(_encoded(lines))
            return
        packer = zlib.compressobj(6, wbits=_GZIP)
        file.writelines(map(packer.compress, _encoded(lines)))
        file.write(packer.flush())


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    batch: list[str] = []
    for line in lines:
        batch.append(line)
        if len(batch) >= _BATCH:
            yield ("\n".join(batch) + "\n").encode()
            batch.clear()
    if batch:
        yield ("\n".join(batch) + "\n").encode()
