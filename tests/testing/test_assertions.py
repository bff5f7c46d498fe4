from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.conftest import TINY, chain, hostile, skip
from tests.passes import samples
from trec.errors import FormatError, OptionError
from trec.testing import assert_matches, assert_no

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("suffix", ["json", "trec", "json.gz"])
@pytest.mark.parametrize("name", [name for name in TINY if name != "hostile"])
def test_a_graph_matches_its_own_file(name: str, suffix: str, tmp_path: Path) -> None:
    graph = TINY[name]()
    graph.save(tmp_path / f"golden.{suffix}")
    assert_matches(graph, tmp_path / f"golden.{suffix}")


def test_a_change_is_told_as_a_diff(tmp_path: Path) -> None:
    golden = tmp_path / "chain.json"
    chain().save(golden)
    with pytest.raises(AssertionError) as caught:
        assert_matches(chain().relabel({"relu": "gelu"}), golden)
    first, *edits, last = str(caught.value).splitlines()
    assert first == f"the graph is not the one in {golden}; what changed:"
    assert edits == ["Chain, then Chain: 1 edit", "~ relu: relu, then gelu"]
    assert "--trec-update" in last


def test_a_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    golden = tmp_path / "chain.json"
    with pytest.raises(AssertionError, match=r"there is no golden graph .*chain\.json.*--trec-update.*graph\.save"):
        assert_matches(chain(), golden)
    assert not golden.exists()


def test_a_file_that_is_no_graph_is_no_mere_difference(tmp_path: Path) -> None:
    (tmp_path / "golden.json").write_text("{}")
    with pytest.raises(FormatError):
        assert_matches(chain(), tmp_path / "golden.json")


def test_lines_of_source_are_not_compared_and_names_only_if_wanted(tmp_path: Path) -> None:
    golden = tmp_path / "golden.json"
    graph = skip()
    graph.save(golden)
    sources = tuple([replace(source, line=source.line + 1) for source in graph.sources])
    assert_matches(replace(graph, sources=sources), golden)
    other = graph.rename({"x": "y"})
    assert_matches(other, golden, names=False)
    with pytest.raises(AssertionError, match="x, then y"):
        assert_matches(other, golden)


def test_what_is_not_there_passes() -> None:
    assert_no(skip(), "dtype:float64")
    assert_no(skip(), "op:aten.*float64*")
    assert_no(skip(), lambda node: node.op == "conv2d")


def test_what_is_there_is_named_with_its_line() -> None:
    with pytest.raises(AssertionError) as caught:
        assert_no(chain(), "op:relu")
    assert str(caught.value).splitlines() == [
        "1 node of Chain is selected by 'op:relu', expected none:",
        "  relu: relu gives f32[2,3], model.py:7",
    ]
    with pytest.raises(AssertionError, match="selected by the selector"):
        assert_no(chain(), lambda node: node.op == "relu")
    with pytest.raises(AssertionError, match="expected none"):
        assert_no(hostile(), "kind:region")


def test_of_many_nodes_the_first_are_named() -> None:
    graph = samples.blocks()
    with pytest.raises(AssertionError) as caught:
        assert_no(graph, "not kind:host")
    assert len(str(caught.value).splitlines()) == 12
    assert f"and {len(graph.nodes) - 10} more" in str(caught.value)


def test_a_wrong_selector_is_told() -> None:
    with pytest.raises(OptionError):
        assert_no(chain(), "kind:params")
