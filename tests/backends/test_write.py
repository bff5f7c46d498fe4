from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import sample
from trec import registry
from trec.errors import OptionError
from trec.ir.serialize import load

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("suffix", sorted(registry.SUFFIXES))
def test_every_suffix_is_written(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"net{suffix}"
    sample().write(path)
    assert path.stat().st_size > 0


@pytest.mark.parametrize("suffix", [".trec", ".json"])
def test_the_graph_itself_comes_back(suffix: str, tmp_path: Path) -> None:
    sample().write(tmp_path / f"net{suffix}")
    assert load(tmp_path / f"net{suffix}") == sample()


def test_options_reach_the_backend_and_text_is_compressed(tmp_path: Path) -> None:
    sample().write(str(tmp_path / "net.DOT.gz"), rankdir="LR")
    text = gzip.decompress((tmp_path / "net.DOT.gz").read_bytes()).decode()
    assert text == sample().to_dot(rankdir="LR")


@pytest.mark.parametrize("name", ["net.xyz", "net", "net.gz", "dot", "a.dot.zip"])
def test_an_unknown_suffix_is_answered_with_the_known_ones(name: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"\.dot") as caught:
        sample().write(tmp_path / name)
    assert all(suffix in str(caught.value) for suffix in registry.SUFFIXES)
    assert not list(tmp_path.iterdir())


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "net.dot"
    path.write_text("before", encoding="utf-8")
    with pytest.raises(OptionError):
        sample().write(path, rankdir="up")
    assert path.read_text(encoding="utf-8") == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["net.dot"]
