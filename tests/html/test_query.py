"""What a query finds on the page is what it selects in Python."""

from __future__ import annotations

import json
import random
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.backends.node import FOLDER
from tests.backends.samples import aten, marks, named, sample
from tests.conftest import aten as with_passes
from tests.conftest import twice
from tests.passes import samples
from tests.strategies import any_graph
from trec import OptionError
from trec.analysis.query import KEYS, Term
from trec.analysis.selectors import nodes, scopes
from trec.analysis.terms import vocabulary
from trec.backends.escape import printable
from trec.backends.html.data import data
from trec.backends.style import Style

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

pytestmark = pytest.mark.node

QUERIES = (
    "op:conv* and class:Bottleneck", "kind:param", "shape:1x*x768", "shape:", "shape:**", "shape:4x*", "layers.*.**",
    "**", "*", "layers.0", "layers.[!0]", "layers.[0-3]", "not layers.1", "class:Bl[a-o]ck", "class:[!B]*",
    "name:*.bias",
    "name:[]x]*", "name:[z-a]*", "layers.[9-0]", "layers.[z-a0]", "layers.[^-']*",
    "op:mm", "op:aten.*", "is:view", "is:cast or is:identity", "is:dropout", "is:inplace",
    "is:*", "dtype:f*", "dtype:float32", "device:c*", "scope:*#2", "block.act#2", "in:layers.0 and op:linear",
    "not (kind:input or kind:output) and not is:view", "name:'layers.0.fc.linear'", "kind:[mo]*", "a or b and c",
)  # fmt: skip
WRONG = (
    "op:", "op:conv and", "(op:conv", "op:conv)", "foo:bar", "'open", "and", "not", "a b", "kind:paramm", "is:vue",
    "()",
    "op:conv or not and x", 'name:"x', "(" * 120 + "a" + ")" * 120,
)  # fmt: skip
PIECES = ("", "*", "?", "**", "[a-z]*", "[!a]*", "0", "x", ".")


def answers(pairs: list[tuple[Graph, list[str]]], path: Path, *, why: bool = False) -> list[list[Any]]:
    """Return what the page answers to queries about graphs, or why they select nothing."""
    pages = []
    for graph, queries in pairs:
        columns = data(graph, Style())
        columns["options"] = {"title": ""}
        pages.append([columns, queries])
    path.write_text(json.dumps(pages), encoding="utf-8")
    done = subprocess.run(
        ["node", str(FOLDER / "query.mjs"), str(path), *["why"] * why], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    found: list[list[Any]] = json.loads(done.stdout)
    return found


def expected(graph: Graph, query: str) -> list[str] | str:
    """Return what Python answers, what it says where the query is wrong."""
    try:
        found = [select(graph, query, missing_ok=True) for select in (nodes, scopes)]
    except OptionError as error:
        return str(error)
    return ["".join(map(str, mask)) for mask in found]


def compare(pairs: list[tuple[Graph, list[str]]], path: Path) -> None:
    for (graph, queries), found in zip(pairs, answers(pairs, path), strict=True):
        for query, answer in zip(queries, found, strict=True):
            assert answer == expected(graph, query), (query, str(graph))


def is_plain(word: str) -> bool:
    """Return whether a word stands for itself in quotes, and for nothing else on a page, where U+FFFD replaces much."""
    return not set(word) & set("\"'*?[\ufffd") and printable(word) == word


def terms_of(graph: Graph, chance: random.Random) -> str:
    """Return a condition on a word of the graph, or on one like it."""
    key = chance.choice(("", *KEYS))
    words = [word for word in vocabulary(graph, Term(key, "")) if is_plain(word)] or ["a"]
    word = chance.choice(words)
    cut = chance.randrange(len(word) + 1)
    word = word if key in ("is", "kind") else chance.choice((word, word[:cut] + chance.choice(PIECES)))
    return f'{key}:"{word or "*"}"' if key else f'"{word or "*"}"'


def query_of(graph: Graph, chance: random.Random) -> str:
    """Return a query that may select something."""
    found = terms_of(graph, chance)
    for _ in range(chance.randrange(3)):
        no = "not " if chance.random() < 0.3 else ""
        found = f"{no}({found}) {chance.choice(('and', 'or'))} {terms_of(graph, chance)}"
    return found


def test_the_page_finds_what_python_selects(tmp_path: Path) -> None:
    graphs = [sample(), marks(), aten(), named("a.b"), samples.blocks(), twice(), with_passes()]
    compare([(graph, [*QUERIES, *WRONG]) for graph in graphs], tmp_path / "pages.json")


def test_the_page_finds_what_python_selects_in_random_graphs(tmp_path: Path) -> None:
    pairs: list[tuple[Graph, list[str]]] = []

    @settings(max_examples=60, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))
    @given(any_graph())
    def collect(graph: Graph) -> None:
        chance = random.Random(len(pairs))
        pairs.append((graph, [query_of(graph, chance) for _ in range(30)]))

    collect()
    compare(pairs, tmp_path / "pages.json")
    hits = [sum("1" in mask for mask in expected(graph, query)) for graph, queries in pairs for query in queries]
    assert sum(hits) > len(hits) / 4


def test_what_a_query_could_have_been_is_what_python_says(tmp_path: Path) -> None:
    queries = [
        "op:lineer",
        "class:Lin",
        "blocks.7",
        "name:x9 and op:mm",
        "op:linear and op:relu",
        "shape:9x9",
        "scope:#",
    ]
    pairs = [(graph, queries) for graph in (samples.blocks(), sample(), aten(), twice())]
    for (graph, _), found in zip(pairs, answers(pairs, tmp_path / "pages.json", why=True), strict=True):
        for query, answer in zip(queries, found, strict=True):
            with pytest.raises(OptionError) as raised:
                nodes(graph, query)
            assert str(raised.value) == f"selector={query!r} matches no node{answer}"
