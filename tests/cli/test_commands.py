from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.conftest import skip, twice
from tests.passes.samples import blocks, ended, started
from trec import load, registry
from trec.cli.commands.stats import ANALYSES
from trec.ir.types import Node

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Trec


def data(text: str) -> object:
    return json.loads(text)


# ---- show, stats, query, report


def test_show_prints_a_tree(trec: Trec, folder: Path) -> None:
    assert (
        trec("show", "blocks.trec").out
        == """\
module       class   input  output  times  ops  params
Blocks       Blocks  2x3    2x3         1    6      39
├─ layers.0  Block   2x3    2x3         1    3      24
│  ├─ fc     Linear  2x3    2x3         1    1      12
│  └─ head   Linear  2x3    2x3         1    1      12
└─ layers.1  Block   2x3    2x3         1    3      24
   ├─ fc     Linear  2x3    2x3         1    1      12
   └─ head   Linear  2x3    2x3         1    1      12
6 operators, 39 parameters (138 B)
"""
    )


def test_show_goes_as_deep_as_asked_below_what_is_selected(trec: Trec, folder: Path) -> None:
    def names(*words: str) -> list[str]:
        rows = json.loads(trec("show", "blocks.trec", "--json", *words).out)
        return [row["name"] for row in rows]

    assert names("--depth", "1") == ["Blocks", "layers.0", "layers.1"]
    assert names("--depth", "0") == ["Blocks"]
    assert names("layers.1") == ["layers.1", "layers.1.fc", "layers.1.head"]
    assert names("class:Linear", "--depth", "0") == [
        "layers.0.fc", "layers.0.head", "layers.1.fc", "layers.1.head",
    ]  # fmt: skip
    assert names("layers.*", "--depth", "0") == ["layers.0", "layers.1"]


def test_show_prints_the_program_of_what_the_passes_leave(trec: Trec, folder: Path) -> None:
    out = trec("show", "blocks.trec", "--program", "--depth", "1", "--hide", "params").out
    assert out == f"{blocks().collapse(depth=1).hide('kind:param', missing_ok=True)}\n"


@pytest.mark.parametrize("about", ANALYSES)
def test_stats_prints_each_analysis_and_its_data(about: str, trec: Trec, folder: Path) -> None:
    assert trec("stats", "twice.json", "--about", about) == (0, f"{ANALYSES[about](twice())}\n", "")
    assert data(trec("stats", "twice.json", "--about", about, "--json").out)


def test_stats_keeps_its_sums_at_any_depth(trec: Trec, folder: Path) -> None:
    found = json.loads(trec("stats", "blocks.trec", "--depth", "1", "--json").out)
    assert found["params"] == blocks().stats().params
    assert [row["name"] for row in found["modules"]] == ["Blocks", "layers.0", "layers.1"]


def test_query_answers_with_its_exit_code(trec: Trec, folder: Path) -> None:
    code, out, err = trec("query", "skip.trec", "op:linear")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].split() == ["fc.linear", "linear", "f32[2,3]", "fc"]
    assert trec("query", "skip.trec", "op:linear", "--count").out == "1\n"
    code, out, err = trec("query", "skip.trec", "op:conv*")
    assert (code, out) == (1, "")
    assert "matches no node" in err
    assert trec("query", "skip.trec", "kind:buffer").code == 1
    assert trec("query", "skip.trec", "op:conv*", "--json") == (1, "[]\n", "")


def test_report_is_an_answer_only_if_asked(trec: Trec, folder: Path) -> None:
    builder, type_, x = started("Unused")
    builder.node("op", "relu", parent=0, inputs=[x], results=[type_])
    graph = ended(builder, x)
    graph.save("unused.trec")
    assert trec("report", "unused.trec") == (0, f"{graph.report()}\n", "")
    assert trec("report", "unused.trec", "--check").code == 1
    assert trec("report", "skip.trec", "--check").code == 0
    assert data(trec("report", "unused.trec", "--json").out) == graph.report().rows()


# ---- diff


def test_diff_answers_with_its_exit_code(trec: Trec, folder: Path) -> None:
    assert trec("diff", "skip.trec", "skip.trec") == (0, f"{skip().diff(skip())}\n", "")
    assert trec("diff", "skip.trec", "twice.json") == (1, f"{skip().diff(twice())}\n", "")
    assert trec("diff", "skip.trec", "twice.json", "-q") == (1, "", "")
    found = json.loads(trec("diff", "skip.trec", "twice.json", "--json").out)
    assert not found["equal"]
    assert found["edits"] == skip().diff(twice()).rows()
    assert trec("diff", "skip.trec", "none.trec").code == 2


def test_diff_compares_what_the_passes_leave(trec: Trec, folder: Path) -> None:
    skip().hide("op:linear").save("less.trec")
    assert trec("diff", "skip.trec", "less.trec").code == 1
    assert trec("diff", "skip.trec", "less.trec", "--hide", "op:linear or op:__mul__").code == 0


def test_diff_draws_both(trec: Trec, folder: Path) -> None:
    assert trec("diff", "skip.trec", "twice.json", "-o", "diff.svg").code == 1
    assert (folder / "diff.svg").read_text() == skip().diff(twice()).to_svg()


def test_a_module_that_is_closed_shows_that_something_in_it_changed(trec: Trec, folder: Path) -> None:
    node = next(node for node in blocks().nodes if node.name == "layers.1.head.linear")
    other = blocks().relabel(lambda row: "relu" if row == node else row.op if isinstance(row, Node) else row.cls)
    other.save("other.trec")
    assert trec("diff", "blocks.trec", "other.trec", "-o", "diff.json", "--depth", "1").code == 1
    found = load("diff.json").verify()
    marks = {node.name: found.attrs_of(node).get("diff") for node in found.nodes if node.scope >= 0}
    assert marks == {"layers.0": None, "layers.1": "inside"}


# ---- render, convert, open


@pytest.mark.parametrize("suffix", registry.SUFFIXES)
def test_every_suffix_is_written_as_the_graph_writes_it(suffix: str, trec: Trec, folder: Path) -> None:
    skip().write(f"there{suffix}")
    wanted = (folder / f"there{suffix}").read_bytes()
    assert trec("convert", "skip.trec", f"here{suffix}") == (0, "", "")
    assert (folder / f"here{suffix}").read_bytes() == wanted
    assert trec("convert", "skip.trec", "plain", "--format", suffix.removeprefix(".")).code == 0
    assert (folder / "plain").read_bytes() == wanted


def test_options_of_pictures_are_those_of_the_backends(trec: Trec, folder: Path) -> None:
    words = "--rankdir LR --theme dark --params --tensors nodes --shapes all --caption --legend --title Two --wrap 300"
    assert trec("render", "skip.trec", "-o", "net.svg", *words.split()).code == 0
    assert (folder / "net.svg").read_text() == skip().to_svg(
        rankdir="LR", style="dark", params=True, tensors="nodes", shapes="all", caption=True, legend=True, title="Two",
        wrap=300,
    )  # fmt: skip
    assert trec("render", "skip.trec", "-o", "net.svg", "--colour-by", "params", "--label", "{name}!").code == 0
    assert "linear!" in (folder / "net.svg").read_text()
    assert trec("render", "skip.trec", "-o", "net.gexf", "--option", "layout=true").code == 0
    assert (folder / "net.gexf").read_text() == skip().to_gexf(layout=True)


def test_passes_run_in_one_order_whatever_the_order_of_the_options(trec: Trec, folder: Path) -> None:
    wanted = blocks().fold().collapse(depth=1).hide("kind:param", missing_ok=True)
    for words in ("--fold --depth 1 --hide params", "--hide params --depth 1 --fold"):
        assert trec("convert", "blocks.trec", "net.json", *words.split()).code == 0
        assert load("net.json") == wanted


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("--focus layers.1", blocks().focus("layers.1")),
        ("--focus layers.0.fc --to layers.1.head", blocks().focus("layers.0.fc", to="layers.1.head")),
        ("--focus layers.0.fc --steps 1", blocks().focus("layers.0.fc", steps=1)),
        ("--depth 1 --keep layers.0", blocks().collapse(depth=1, keep="layers.0")),
        ("--only class:Linear", blocks().collapse(only="class:Linear")),
        ("--level module", blocks().level("module")),
        ("--prune", blocks().prune()),
        ("--roll", blocks().roll()),
        ("--pass tensors:which=all", blocks().tensors("all")),
        ("--pass hide:what=op:linear --pass prune", blocks().hide("op:linear").prune()),
    ],
)
def test_passes_by_their_options(words: str, wanted: object, trec: Trec, folder: Path) -> None:
    assert trec("convert", "blocks.trec", "net.json", *words.split()) == (0, "", "")
    assert load("net.json") == wanted


def test_what_is_hidden_counts_in_what_is_closed(trec: Trec, folder: Path) -> None:
    trec("convert", "blocks.trec", "net.json", "--depth", "0", "--hide", "params")
    assert load("net.json").stats().params == blocks().stats().params


def test_a_backend_without_a_suffix_is_called_by_name(
    trec: Trec, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugins = {"backend": {"rows": ("tests.cli.samples:rows",)}, "pass": {}}
    monkeypatch.setattr(registry, "_plugins", plugins.__getitem__)
    assert trec("render", "skip.trec", "-o", "-", "--format", "rows", "--option", "key=op").out == (
        json.dumps([node.op for node in skip().nodes], separators=(",", ":")) + "\n"
    )


def test_open_writes_a_page_and_opens_it(trec: Trec, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: not opened.append(address))  # type: ignore[func-returns-value]
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    code, out, _ = trec("open", "blocks.trec", "-o", "page.html", "--depth", "1", "--theme", "dark")
    assert (code, out) == (0, "page.html\n")
    assert opened == [(folder / "page.html").as_uri()]
    assert (folder / "page.html").read_text(encoding="utf-8") == blocks().to_html(depth=1, style="dark")
    path = trec("open", "skip.trec", "--no-browser").out.strip()
    assert path.startswith(str(folder))
    assert path.endswith("graph.html")
    assert len(opened) == 1
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert "no browser was found" in trec("open", "skip.trec").err


# ---- verify, schema, passes, backends


def test_verify_answers_for_each_file(trec: Trec, folder: Path) -> None:
    assert trec("verify", "skip.trec", "twice.json").code == 0
    (folder / "bad.trec").write_bytes((folder / "skip.trec").read_bytes()[:-9])
    code, out, _ = trec("verify", "skip.trec", "bad.trec")
    assert code == 1
    assert out.splitlines()[0] == f"skip.trec: a valid graph, Skip, {len(skip().nodes)} nodes"
    assert "'bad.trec' cannot be loaded" in out
    assert [row["valid"] for row in json.loads(trec("verify", "bad.trec", "skip.trec", "--json").out)] == [False, True]
    assert trec("verify", "bad.trec", "-q") == (1, "", "")
    assert trec("verify", "none.trec").code == 2


def test_the_schema_is_printed(trec: Trec) -> None:
    assert "$ref" in trec("schema").out


@pytest.mark.parametrize("kind", ["passes", "backends"])
def test_passes_and_backends_tell_what_they_take(kind: str, trec: Trec) -> None:
    rows = json.loads(trec(kind, "--json").out)
    assert [row["name"] for row in rows] == list(registry.names({"passes": "pass", "backends": "backend"}[kind]))
    assert all(row["summary"].startswith("Return") for row in rows)
    assert trec(kind).out.count("Return") == len(rows)


def test_a_backend_that_shows_depths_itself_is_told_the_depth(trec: Trec, folder: Path) -> None:
    assert trec("render", "blocks.trec", "-o", "net.csv", "--depth", "1").code == 0
    blocks().to_table("wanted.csv", depth=1)
    assert (folder / "net.csv").read_text() == (folder / "wanted.csv").read_text()
    assert trec("render", "blocks.trec", "-o", "net.csv", "--depth", "1", "--keep", "layers.0").code == 0
    blocks().collapse(depth=1, keep="layers.0").to_table("wanted.csv")
    assert (folder / "net.csv").read_text() == (folder / "wanted.csv").read_text()
