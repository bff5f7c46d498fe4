from __future__ import annotations

import csv
import gzip
import io
import sys
from typing import TYPE_CHECKING, Any

import pytest
import rich.console
from hypothesis import given

from tests.backends.samples import HOSTILE, blocks, every, marks, named, sample
from tests.conftest import twice
from tests.strategies import any_graph
from trec.backends.table import Row, to_table
from trec.errors import DependencyError, OptionError

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph


def by_name(graph: Graph) -> dict[str, Row]:
    return {row.name: row for row in to_table(graph).calls}


def test_a_table_as_text() -> None:
    assert str(to_table(sample())).splitlines() == [
        "module                 class  input  output  times  ops  params",
        "SampleNet          SampleNet    1x3     1x1      1    5      31",
        "  linear_1            Linear    1x3     1x3      1    1      12",
        "  linear_2            Linear    1x3     1x3      1    1      12",
        "  linear_3            Linear    1x6     1x1      1    1       7",
        "  my_special_relu       ReLU    1x1     1x1      1    1       0",
        "5 operators, 31 parameters (124 B)",
    ]


def test_what_goes_in_and_comes_out() -> None:
    rows = by_name(twice())
    assert rows["block"].inputs == rows["block.act#2"].outputs == ("4xs0",)
    assert rows["Twice"].inputs == ("4xs0",)
    assert rows["Twice"].outputs == ("4xs0", "")
    marked = by_name(marks())
    assert marked["layers"].inputs == ("1x64x56x56", "")
    assert marked["layers.0"].outputs == ("1x32x28x28",)
    assert marked["head"].outputs == ()


def test_a_collapsed_graph_has_the_same_numbers() -> None:
    open_, closed = by_name(sample()), by_name(sample().collapse(depth=1))
    assert closed == {name: open_[name] for name in closed}


def test_a_folded_graph_says_how_often() -> None:
    assert by_name(blocks(4).fold())["layers.0"].times == 4


def test_levels_may_be_left_out() -> None:
    assert [row.name for row in to_table(sample(), depth=0).calls] == ["SampleNet"]
    with pytest.raises(OptionError, match="depth"):
        to_table(sample(), depth=-1)


def test_csv_is_what_is_written(tmp_path: Path) -> None:
    sample().write(tmp_path / "net.csv.gz", depth=1)
    text = gzip.decompress((tmp_path / "net.csv.gz").read_bytes()).decode()
    assert text == to_table(sample(), depth=1).csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["name"] for row in rows] == [row.name for row in to_table(sample()).calls]
    assert (rows[0]["params"], rows[0]["outputs"], rows[0]["flops"]) == ("31", "1x1", "")


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_csv_holds_any_name(name: str) -> None:
    table = to_table(named(name))
    (head, *rows) = csv.reader(io.StringIO(table.csv(), newline=""))
    assert head == list(Row.__struct_fields__)
    assert [row[:2] for row in rows] == [[row.name, row.cls] for row in table.calls]


@given(any_graph())
def test_any_graph_has_a_row_for_each_call_of_a_module(graph: Graph) -> None:
    rows: list[dict[str, Any]] = to_table(graph).rows()
    modules = [scope.name for index, scope in enumerate(graph.scopes) if scope.kind == "module" or index == 0]
    assert [row["name"] for row in rows] == modules


@pytest.mark.parametrize("graph", every(), ids=lambda graph: ascii(graph.name)[:20])
def test_rich_shows_every_row_as_it_is(graph: Graph) -> None:
    console = rich.console.Console(file=io.StringIO(), width=2000, color_system=None)
    table = to_table(graph)
    console.print(table)
    assert table.rich().row_count == len(table.calls)
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(row.cls.split()[0] in shown for row in table.calls if row.cls.isprintable() and row.cls.split())


def test_without_rich_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.table", None)
    with pytest.raises(DependencyError, match=r"trec\[table\]"):
        to_table(sample()).rich()
