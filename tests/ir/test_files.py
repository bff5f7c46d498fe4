from __future__ import annotations

import gzip
import os
import stat
import tracemalloc
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trec.errors import FormatError
from trec.ir.atomic import replacing, write_bytes, write_text
from trec.ir.compress import compress, decompress, limit

if TYPE_CHECKING:
    from pathlib import Path

# ---- atomic


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write_bytes(path, b"one")
    write_bytes(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert os.listdir(tmp_path) == ["a"]


def test_a_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_a_new_file_has_the_usual_permissions_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    usual, path = tmp_path / "usual", tmp_path / "a"
    usual.write_bytes(b"")
    write_bytes(path, b"")
    assert path.stat().st_mode == usual.stat().st_mode
    path.chmod(0o640)
    write_bytes(path, b"")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_goes_on_pointing_at_its_file(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_bytes(link, b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_is_no_regular_file_is_written_directly() -> None:
    write_bytes(os.devnull, b"x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_directory_or_a_missing_folder_is_an_ordinary_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_bytes(tmp_path, b"")
    with pytest.raises(FileNotFoundError):
        write_bytes(tmp_path / "missing" / "a", b"")


@pytest.mark.parametrize("count", [0, 1, 1023, 1024, 1025, 5000])
def test_lines_are_written_as_text(count: int, tmp_path: Path) -> None:
    lines = [f"line {number} ä" for number in range(count)]
    expected = "".join([f"{line}\n" for line in lines]).encode()
    write_text(tmp_path / "a.txt", iter(lines))
    write_text(tmp_path / "a.txt.gz", iter(lines))
    assert (tmp_path / "a.txt").read_bytes() == expected
    packed = (tmp_path / "a.txt.gz").read_bytes()
    assert gzip.decompress(packed) == expected
    write_text(tmp_path / "b.gz", lines)
    assert (tmp_path / "b.gz").read_bytes() == packed


# ---- compression


def bomb(megabytes: int) -> bytes:
    """Return gzip data that unpacks to so much, made without room for it."""
    packer = zlib.compressobj(9, wbits=31)
    return b"".join([packer.compress(b" " * 1_000_000) for _ in range(megabytes)]) + packer.flush()


@given(st.binary(max_size=2000))
def test_what_is_compressed_is_unpacked(data: bytes) -> None:
    assert decompress(compress(data)) == data
    assert gzip.decompress(compress(data)) == data
    assert compress(data) == compress(data)


def test_what_would_pass_the_limit_is_stored() -> None:
    data = bytes(limit(b"") + 10_000_000)
    assert decompress(compress(data)) == data


def test_a_bomb_takes_no_more_memory_than_its_limit() -> None:
    data = bomb(500)
    tracemalloc.start()
    with pytest.raises(FormatError, match="which no graph does"):
        decompress(data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 3 * limit(data) < 500_000_000
