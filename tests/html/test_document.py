"""The file that a page is."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.samples import blocks, every, sample
from tests.html.browser import play
from trec.backends.html import bundle
from trec.backends.html.bundle import script
from trec.backends.style import DARK, Paint, Style
from trec.errors import OptionError

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph
    from trec.ir.types import Node


def content(page: str) -> dict[str, Any]:
    """Return the data in a page."""
    found = re.search(r'<script type="application/([a-z-]+)" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    if found[1] == "json":
        plain: dict[str, Any] = json.loads(found[2])
        return plain
    unpacked: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(found[2]), wbits=-15))
    return unpacked


def test_without_scripts_the_page_says_so_where_the_picture_would_be() -> None:
    found = re.search(r"<main[^>]*><canvas[^>]*></canvas><noscript><p>(.*)</p></noscript></main>", sample().to_html())
    assert found is not None
    assert "JavaScript" in found[1]


def test_the_same_graph_gives_the_same_page_and_a_plain_one_the_same_data() -> None:
    for graph in every():
        page = graph.to_html()
        assert page == graph.to_html()
        assert content(page) == content(graph.to_html(compress=False))


def test_it_loads_nothing_and_its_policy_names_each_script_and_style() -> None:
    for compress in (True, False):
        page = sample().to_html(compress=compress)
        assert not re.search(r'(src|href)="|@import|url\(|https?://(?!www\.w3\.org/)', page)
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
        assert policy is not None
        assert "unsafe" not in policy[1]
        texts = re.findall(r'<(?:style|script type="module")>(.*?)</(?:style|script)>', page, re.DOTALL)
        assert len(texts) == 2
        for text in [*texts, f"\n{script()}"]:
            assert base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() in policy[1]


def test_the_viewer_says_nothing_to_people_who_debug_and_imports_nothing() -> None:
    assert not re.search(r"^\s*import\s|^\s*export\s|console\.|debugger|localStorage|\bfetch\(|eval\(", script(), re.M)


def test_modules_of_the_viewer_are_blocks_of_one_script(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {
        "main.js": 'import { A, twice } from "./inner/other.js";\nexport function start() {\n  return twice(A);\n}\n',
        "inner/other.js": (
            "// A comment.\nexport const [A, B] = [1, 2];\nconst own = 2;\n"
            "export async function twice(n) {\n  return own * n;\n}\nexport class Unused {}\n"
        ),
    }
    monkeypatch.setattr(bundle, "_source", modules.__getitem__)
    text = bundle.script.__wrapped__()
    assert text == (
        "let A, B, start, twice;\n"
        "{\n;[A, B] = [1, 2];\nconst own = 2;\n;twice = async function twice(n) {\n  return own * n;\n}\n"
        "class Unused {}\n}\n"
        "{\n;start = function start() {\n  return twice(A);\n}\n}\n"
        'globalThis.trec = await start(document.querySelector(".page"), document.getElementById("data"));\n'
    )
    main = modules["main.js"]
    modules["main.js"] = main.replace("twice }", "twice as other }")
    with pytest.raises(AssertionError, match="no module gives as, other"):
        bundle.script.__wrapped__()
    modules["main.js"] = main.replace("twice }", "start, twice }")
    modules["inner/other.js"] += "export const start = 1;\n"
    with pytest.raises(AssertionError, match="several modules give others start"):
        bundle.script.__wrapped__()


@pytest.mark.browser
@pytest.mark.node
def test_no_variable_of_the_script_hides_one_of_the_browser(tmp_path: Path) -> None:
    names = script().partition(";")[0].removeprefix("let ").split(", ")
    # Elements of the page are there by their names as well.
    hidden = "(names) => names.filter((name) => name in window && !(window[name] instanceof Element))"
    assert len(names) > 100
    assert play(sample(), f"return page.evaluate({hidden}, {json.dumps(names)});", tmp_path) == []


def test_it_is_written_by_its_name_and_packed_by_gz(tmp_path: Path) -> None:
    graph = sample()
    graph.write(tmp_path / "net.html", title="A net")
    graph.write(tmp_path / "net.html.gz", title="A net")
    text = (tmp_path / "net.html").read_bytes()
    assert text.decode() == graph.to_html(tmp_path / "other.html", title="A net")
    assert text == (tmp_path / "other.html").read_bytes()
    assert text == gzip.decompress((tmp_path / "net.html.gz").read_bytes())
    assert b"<title>A net</title>" in text


def test_options_are_in_the_data() -> None:
    page = sample().to_html(depth=2, fold=False, params=True, rankdir="LR", wrap=500, style="dark", shapes="all")
    options = content(page)["options"]
    assert options == {
        "title": "", "depth": 2, "fold": False, "params": True, "shapes": "all", "direction": "LR", "wrap": 500,
        "theme": "dark", "colours": "family",
    }  # fmt: skip


def test_options_that_make_no_sense_are_refused() -> None:
    for options in (
        {"depth": -1},
        {"depth": True},
        {"rankdir": "up"},
        {"shapes": "some"},
        {"style": "pink"},
        {"wrap": -1},
    ):
        with pytest.raises(OptionError):
            sample().to_html(**options)


def test_colours_of_the_users_own() -> None:
    def large(graph: Graph, node: Node) -> Paint | None:
        return Paint("#112233", "#445566") if node.op == "cat" else None

    found = content(
        sample().to_html(style=Style(theme=DARK, colour_by=large, colours={"linear": Paint("#010203", "#040506")}))
    )
    (pair,) = found["colours"]["nodes"]
    assert sample().nodes[pair[0]].op == "cat"
    assert found["colours"]["paints"][pair[1]]["fill"] == "#112233"
    assert found["options"]["colours"] == "given"
    assert {theme["paints"]["linear"]["fill"] for theme in found["themes"].values()} == {"#010203"}


def test_sums_are_those_of_collapsed_calls() -> None:
    for graph in (sample(), blocks(4), blocks(4).fold()):
        scopes = content(graph.to_html())["scopes"]
        for index, scope in enumerate(graph.scopes[1:], start=1):
            if scope.kind != "module":
                continue
            collapsed = graph.collapse(only=[scope.path])
            node = next(node for node in collapsed.nodes if node.kind == "module" and node.name == scope.name)
            facts = collapsed.attrs_of(node)
            for name in ("ops", "params"):
                column = scopes[name]
                assert (column if isinstance(column, int) else column[index]) == facts[name], (graph, scope.name, name)
