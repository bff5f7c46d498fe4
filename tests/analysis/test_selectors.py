from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import aten, skip, twice
from tests.passes import samples
from tests.strategies import any_graph
from trec import OptionError
from trec.analysis.globs import name_glob, path_glob, shape_glob, shape_text
from trec.analysis.query import KEYS, parse
from trec.analysis.selectors import calls, nodes, scopes
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from trec.ir.graph import Graph

PATHS = ("layers", "layers.0", "layers.10", "layers.0.attn", "layers.0.mlp.fc", "head")


@pytest.mark.parametrize(
    ("pattern", "matched"),
    [
        ("head", ["head"]),
        ("layers.*", ["layers.0", "layers.10"]),
        ("layers.?", ["layers.0"]),
        ("*.0", ["layers.0"]),
        ("layers.[0-3]", ["layers.0"]),
        ("layers.[!0]*", ["layers.10"]),
        ("layers.**", ["layers", "layers.0", "layers.10", "layers.0.attn", "layers.0.mlp.fc"]),
        ("layers.*.**.fc", ["layers.0.mlp.fc"]),
        ("**.fc", ["layers.0.mlp.fc"]),
        ("**.head", ["head"]),
        ("**", list(PATHS)),
        ("**.**", list(PATHS)),
        ("layers.**.*", ["layers.0", "layers.10", "layers.0.attn", "layers.0.mlp.fc"]),
        ("*", ["layers", "head"]),
        ("layer", []),
        ("layers.0.", []),
        ("layers.[", []),
        ("layers.[z-a0]", ["layers.0"]),
        ("layers.[9-0]", []),
    ],
)
def test_path_globs(pattern: str, matched: list[str]) -> None:
    assert [path for path in PATHS if path_glob(pattern).fullmatch(path)] == matched


def test_globs_take_characters_as_they_are() -> None:
    assert path_glob("a+b(c).$").fullmatch("a+b(c).$")
    assert path_glob("x[*]y").fullmatch("x*y")
    assert not path_glob("x[*]y").fullmatch("xzy")
    assert path_glob("a\nb.*").fullmatch("a\nb.c")
    assert path_glob("x[^']").fullmatch("x^")


def test_what_is_written_as_it_is_matches_also_with_brackets() -> None:
    assert path_glob("heads[0].out").fullmatch("heads[0].out")
    assert path_glob("heads[0].out").fullmatch("heads0.out")
    assert name_glob("heads[0]").fullmatch("heads[0]")
    assert not name_glob("heads[0]").fullmatch("heads[1]")


@pytest.mark.parametrize(
    ("pattern", "shape", "matches"),
    [
        ("1x*x768", (1, 12, 768), True),
        ("1x*x768", (1, 12, 3, 768), False),
        ("1x**x768", (1, 12, 3, 768), True),
        ("1x**x768", (1, 768), True),
        ("**", (), True),
        ("", (), True),
        ("", (1,), False),
        ("1*", (12,), True),
        ("?xs0", ("?", "s0"), True),
        ("?xs0", (1, "s0"), False),
    ],
)
def test_shape_globs(pattern: str, shape: tuple[int | str, ...], matches: bool) -> None:
    assert bool(shape_glob(pattern).fullmatch(shape_text(shape))) == matches


def selected(graph: Graph, query: Any) -> list[str]:
    return [node.name for node, bit in zip(graph.nodes, nodes(graph, query), strict=True) if bit]


BIASES = [f"layers.{layer}.{name}.bias" for layer in (0, 1) for name in ("fc", "head")]
LINEARS = ["layers.0.fc.linear", "layers.0.head.linear", "layers.1.fc.linear", "layers.1.head.linear"]


@pytest.mark.parametrize(
    ("make", "query", "names"),
    [
        (samples.blocks, "op:lin*", LINEARS),
        (samples.blocks, "layers.1 and op:linear", LINEARS[2:]),
        (samples.blocks, "class:Block and op:linear and not **.head", LINEARS[::2]),
        (samples.blocks, "not (class:Block or kind:input) and not kind:output", ["shared.weight"]),
        (samples.blocks, "in:layers.0 and op:linear", LINEARS[:2]),
        (samples.blocks, "op:linear or op:__add__ and layers.0", [*LINEARS[:2], "layers.0.__add__", *LINEARS[2:]]),
        (samples.blocks, "dtype:f16 or shape:3", ["shared.weight", *BIASES]),
        (samples.blocks, "name:'layers.0.fc.linear'", LINEARS[:1]),
        (samples.blocks, "layers.0.fc.linear", LINEARS[:1]),
        (samples.blocks, ["layers.0.fc.linear", lambda node: node.kind == "output"], [LINEARS[0], "output0"]),
        (twice, "scope:block#2", ["block#2.mul", "block.act#2.relu"]),
        (twice, "block.act#2", ["block.act#2.relu"]),
        (twice, "device:cuda* and kind:op and not Block", ["topk"]),
        (twice, "shape:4x* and not class:Block", ["x", "topk", "output0"]),
        (aten, "op:mm", ["fc.linear.aten.mm.default"]),
        (aten, "is:view", ["fc.linear.aten.t.default"]),
        (aten, "is:identity or op:aten.mm*", ["fc.linear.aten.mm.default", "fc.pass"]),
        (skip, "shape:", []),
    ],
)  # fmt: skip
def test_nodes(make: Callable[[], Graph], query: Any, names: list[str]) -> None:
    if names:
        assert sorted(selected(make(), query)) == sorted(names)
    else:
        with pytest.raises(OptionError, match="matches no node"):
            selected(make(), query)


def test_scopes_are_selected_themselves() -> None:
    graph = samples.blocks()
    names = [scope.name for scope, bit in zip(graph.scopes, scopes(graph, "layers.*"), strict=True) if bit]
    assert names == ["layers.0", "layers.1"]
    names = [scope.name for scope, bit in zip(graph.scopes, scopes(graph, "in:Block and **.fc"), strict=True) if bit]
    assert names == ["layers.0.fc", "layers.1.fc"]
    assert sum(scopes(aten(), "op:linear")) == sum(scopes(aten(), "kind:function")) == 1


def test_a_collapsed_node_is_at_the_path_of_its_call() -> None:
    graph = samples.blocks().collapse(depth=1)
    assert selected(graph, "layers.1") == selected(graph, "class:Block and name:*1") == ["layers.1"]


def test_calls_by_path_and_class() -> None:
    graph = samples.blocks()
    names = [scope.name for scope in graph.scopes]
    assert calls(graph, "Linear", option="only") == {i for i, name in enumerate(names) if name.endswith(("fc", "head"))}
    assert calls(graph, ["layers.0", "layers.1"], option="only") == {names.index("layers.0"), names.index("layers.1")}
    assert calls(graph, "Blocks", option="only") == {0}
    assert calls(graph, "**", option="only") == set(range(1, len(names)))
    assert calls(graph, (), option="only") == frozenset()
    assert calls(graph, lambda scope: scope.cls == "Block", option="only") == calls(graph, "class:B*k", option="only")


@pytest.mark.parametrize("pattern", ["", 3, None])
def test_what_is_no_selector_is_refused(pattern: Any) -> None:
    with pytest.raises(OptionError, match="path globs and class names"):
        calls(samples.blocks(), [pattern], option="only")
    with pytest.raises(OptionError, match="only takes path globs"):
        nodes(samples.blocks(), pattern, option="only")


def test_what_is_like_nothing_is_answered_with_examples() -> None:
    with pytest.raises(OptionError, match=r"there are, for example, 'Blocks', 'Block', 'Linear', 'layers\.0'"):
        calls(samples.blocks(), "zzzzzzzz", option="only")
    with pytest.raises(OptionError, match="no submodule was called"):
        calls(samples.blocks().collapse(depth=0), "zzzzzzzz", option="only")
    with pytest.raises(OptionError, match="op: is about nodes, modules are selected by path:, class:, in: or scope:"):
        calls(samples.blocks(), "op:linear", option="only")
    with pytest.raises(OptionError, match=r"matches no call; op: is about nodes, modules are selected by"):
        scopes(samples.blocks(), "op:linear")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("op:linaer", r"did you mean 'linear'"),
        ("path:s.0", r"did you mean 'layers\.0'"),
        ("layers.0.fc.liner", r"did you mean 'layers\.0\.fc\.linear'"),
        ("class:Blok and op:linear", r"'class:Blok' is nowhere; did you mean 'Block', 'Blocks'"),
        ("layers.0 and layers.1", "its terms never meet"),
        ("dtype:float64", r"did you mean 'float16', 'float32'"),
        ("kind:parm", r"'kind:parm' is not known; did you mean 'param'"),
        ("is:views", r"did you mean 'view'"),
        ("opp:linear", r"unknown key 'opp:'; did you mean op:"),
        ("op:", "a pattern that is empty"),
        ("op:linear and", "an end where a term should be"),
        ("op:linear layers.0", r"layers\.0 where 'and' or 'or' could follow.*'op:linear >>> layers\.0'"),
        ("(op:linear", "an opening parenthesis without a closing one"),
        ("rank 0.relu", "a name with spaces stands in quotes"),
        ("rank:0", r"put names in quotes\. Known keys"),
        ("op:linear)", r"\) where 'and' or 'or' could follow"),
        ("or", "'or' where a term should be"),
        ("name:'x", "a quote that is not closed"),
        ("(" * 200 + "x" + ")" * 200, "more than a hundred levels"),
        (lambda _: False, "the function is true for none"),
    ],
)
def test_a_wrong_selector_is_answered_with_what_it_could_have_been(query: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        (calls if callable(query) else nodes)(samples.blocks(), query, option="only")


def test_a_shape_is_told_as_it_is_written() -> None:
    builder = GraphBuilder("Net")
    root = builder.scope("module", path="", cls="Net")
    builder.node("op", "relu", parent=root, results=[builder.tensor_type(("max_len", 4), "float32")])
    with pytest.raises(OptionError, match="did you mean 'ma__lenx4'"):
        nodes(builder.build(), "shape:max_lenx4")
    assert list(nodes(builder.build(), "shape:ma__lenx4")) == [1]


def test_what_is_known_may_select_nothing() -> None:
    assert not any(nodes(skip(), "kind:buffer or is:dropout"))
    assert not any(nodes(skip(), "op:conv*", missing_ok=True))


words = st.sampled_from(["x", "layers.*", "**", "kind:op", "op:*u", "class:*", "not x", "shape:*x*", "is:view", "in:*"])
queries = st.recursive(
    words, lambda inner: st.one_of(inner.map("not ({})".format), st.lists(inner, min_size=2, max_size=3).flatmap(
        lambda parts: st.sampled_from([f"({' and '.join(parts)})", f"({' or '.join(parts)})"])))
)  # fmt: skip


@settings(max_examples=300)
@given(any_graph(), queries, queries)
def test_queries_are_boolean_algebra(graph: Graph, one: str, other: str) -> None:
    def mask(query: str) -> bytes:
        return nodes(graph, query, missing_ok=True)

    assert mask(f"({one}) and ({other})") == bytes(a & b for a, b in zip(mask(one), mask(other), strict=True))
    assert mask(f"not ({one}) or ({other})") == mask(f"not (({one}) and not ({other}))")
    assert mask(f"{one} or {other} and {one}") == mask(f"({one}) or ({other} and {one})")


@given(
    st.text(max_size=30) | st.lists(st.sampled_from([*KEYS, ":", "(", ")", "and", "not", "'", "x", " "])).map("".join)
)
def test_any_text_is_a_query_or_is_refused(text: str) -> None:
    with suppress(OptionError):
        parse(text)


def test_thousands_of_terms_are_joined() -> None:
    graph = samples.blocks()
    names = " or ".join([f'name:"{node.name}"' for node in graph.nodes] * 200)
    assert all(nodes(graph, names))
    assert not any(nodes(graph, " and ".join(["kind:op", "kind:input"] * 1000), missing_ok=True))
