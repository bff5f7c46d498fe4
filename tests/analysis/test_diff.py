from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import trec
from tests.analysis.mutations import CHANGES
from tests.conftest import TINY
from tests.passes import samples
from tests.passes.samples import ended, started
from tests.strategies import any_graph, repeating
from trec.errors import OptionError
from trec.ir.graph import Graph

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.types import Attr, Node, Scope

EDITS = {
    "a-layer-more": 1,
    "activation-exchanged": 2,
    "module-renamed": 4,
    "weights-untied": 3,
    "norm-before-attention": 4,
    "wider": 95,
    "adapter-inserted": 1,
    "out-of-place": 2,
    "list-permuted": 4,
    "the-same": 0,
    "wrapped": 3,
    "low-rank-wrapper": 5,
    "grouped": 7,
    "blocks-exchanged": 4,
    "function-to-module": 2,
    "bias-left-out": 4,
    "norm-to-the-end": 5,
    "norm-exchanged": 8,
    "norms-last": 6,
    "gate-added": 10,
    "attention-fused": 14,
    "heads-fewer": 34,
    "dropout-added": 2,
    "stride-wider": 7,
    "a-layer-taken-out": 7,
}
"""How many edits each pair of models has, every one of which one would name oneself."""

TRAINED = {
    "a-block-more": 2,
    "bias-left-out": 3,
    "norm-without-bias": 12,
    "activation-exchanged": 2,
    "attention-fused": 16,
    "norms-last": 10,
    "weights-untied": 5,
}
"""The same of pairs that are compared with their backward passes."""


@pytest.mark.torch
@pytest.mark.parametrize("name", EDITS)
def test_pairs_of_models_in_pictures(name: str) -> None:
    pytest.importorskip("torch")
    from tests.analysis.pairs import IDS, PAIRS

    for level in ("function", "aten"):
        before, after = (trec.capture(make().eval(), args=(IDS,), level=level) for make in PAIRS[name])
        for one, other in ((before, after), (after, before), (before.collapse(depth=1), after.fold())):
            found = one.diff(other)
            picture = found.to_graph().verify()
            rows: list[Scope | Node] = [*picture.scopes, *picture.nodes]
            marked = {row.name: picture.attrs_of(row)["diff"] for row in rows if "diff" in picture.attrs_of(row)}
            assert bool(marked) == bool(found)
            assert {edit.name for edit in found.edits if edit.kind != "removed"} <= marked.keys()
            gone = bool(found.removed) or any(edit.kind == "removed" for edit in found.edits)
            assert ("removed" in marked.values()) == gone


@pytest.mark.torch
@pytest.mark.parametrize("name", EDITS)
def test_pairs_of_models(name: str, golden: Callable[[str, str], None]) -> None:
    pytest.importorskip("torch")
    from tests.analysis.pairs import IDS, PAIRS

    before, after = (trec.capture(make().eval(), args=(IDS,)) for make in PAIRS[name])
    found = trec.diff(before, after)
    golden(f"diff-{name}.txt", f"{found}\n")
    assert len(found.edits) == EDITS[name]
    back = after.diff(before)
    assert len(back.edits) == len(found.edits)
    assert back.params == found.params[::-1]


@pytest.mark.torch
@pytest.mark.parametrize("name", TRAINED)
def test_pairs_of_models_with_their_backward_passes(name: str, golden: Callable[[str, str], None]) -> None:
    pytest.importorskip("torch")
    from tests.analysis.pairs import IDS
    from tests.analysis.pairs import TRAINED as MODELS

    before, after = (trec.capture(make(), args=(IDS,), backward=True) for make in MODELS[name])
    found, back = before.diff(after), after.diff(before)
    golden(f"diff-{name}-trained.txt", f"{found}\n")
    assert len(found.edits) == len(back.edits) == TRAINED[name]
    for picture in (found.to_graph().verify(), back.to_graph().verify()):
        assert picture.phases == ("forward", "backward")
    assert not after.diff(after)


@pytest.mark.parametrize("name", TINY)
def test_a_graph_does_not_differ_from_itself(name: str) -> None:
    graph = TINY[name]()
    assert not graph.diff(graph)
    assert graph.diff(graph).rows() == []


@settings(max_examples=300)
@given(st.one_of(any_graph(), repeating()))
def test_no_graph_differs_from_itself(graph: Graph) -> None:
    assert not graph.diff(graph)
    folded = graph.fold()
    assert not folded.diff(folded)


@settings(max_examples=300)
@given(repeating())
def test_other_names_are_no_difference_if_names_are_left_aside(graph: Graph) -> None:
    renamed = graph.rename(lambda row: f"z{row.name}")
    scopes = [replace(scope, path=f"z{scope.path}" if scope.path else "") for scope in renamed.scopes]
    assert graph.diff(replace(renamed, scopes=tuple(scopes)), names=False).edits == ()


@pytest.mark.parametrize("name", CHANGES)
@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(st.one_of(any_graph(), repeating(), repeating().map(Graph.fold)), st.data())
def test_every_change_is_seen(name: str, graph: Graph, data: st.DataObject) -> None:
    changed = CHANGES[name](graph, data)
    assume(changed not in (None, graph))
    assert changed is not None
    for one, other in ((graph, changed.verify()), (changed, graph)):
        found = one.diff(other)
        assert found
        assert str(found)
        found.to_graph().verify()


def test_marks_are_for_pictures() -> None:
    before, after = samples.blocks(), samples.blocks().relabel({"linear": "conv"})
    found = before.diff(after)
    assert set(found.marks.values()) == {"retyped"}
    assert found.removed == ()
    shorter = before.focus("layers.0")
    assert "layers.1.fc.linear" in before.diff(shorter).removed


def test_lines_of_source_and_facts_are_not_compared() -> None:
    graph = samples.blocks()
    sources = tuple([replace(source, line=source.line + 1) for source in graph.sources])
    assert not graph.diff(replace(graph, sources=sources, meta=(("level", "aten"),)))


def net(dtype: str, *sizes: int, **attrs: Attr) -> Graph:
    builder, _, x = started("Net")
    for size in sizes:
        type_ = builder.tensor_type((size,), dtype)
        (x,) = builder.node("op", "exp", parent=0, inputs=[x], results=[type_], attrs=tuple(attrs.items()))
    return ended(builder, x)


def test_other_elements_are_one_line_whatever_the_sizes() -> None:
    found = net("float32", 2, 3, 4, 5).diff(net("bfloat16", 2, 3, 4, 5))
    assert str(found).splitlines()[1:] == ["~ exp, exp_1, exp_2 and 1 more: f32, then bf16"]
    assert [row["after"] for row in found.rows()] == ["bf16[2]", "bf16[3]", "bf16[4]", "bf16[5]"]
    found = net("float32", 2, 3).diff(net("bfloat16", 2, 4))
    assert str(found).splitlines()[1:] == ["~ exp: f32[2], then bf16[2]", "~ exp_1: f32[3], then bf16[4]"]


def test_an_argument_that_was_not_given_is_new() -> None:
    plain, given, none = net("float32", 2), net("float32", 2, base=2), net("float32", 2, base=None)
    assert str(plain.diff(given)).splitlines()[1:] == ["~ exp: base=2 is new"]
    assert str(given.diff(plain)).splitlines()[1:] == ["~ exp: base=2 is gone"]
    assert str(none.diff(given)).splitlines()[1:] == ["~ exp: base=None, then base=2"]
    assert not plain.diff(none)
    assert given.diff(plain).to_graph().attrs_of(given.diff(plain).to_graph().nodes[1])["was"] == "base=2"


@pytest.mark.parametrize("deep", [False, True])
def test_hundreds_of_calls_around_what_stood_in_none(deep: bool) -> None:
    def chain(calls: int) -> Graph:
        builder, type_, x = started("Net")
        call, path = 0, ""
        for at in range(600):
            if at < calls:
                path = f"{path}.{at}" if path and deep else f"g{at}"
                call = builder.scope("module", path=path, cls=f"Group{at}", parent=call if deep else 0)
            row = (("at", at),)
            (x,) = builder.node("op", "exp", parent=call, inputs=[x], results=[type_], attrs=row)
        return ended(builder, x)

    one, other = chain(0), chain(600)
    for found in (one.diff(other), other.diff(one)):
        assert len(found.edits) == 600
        assert not found.removed


def test_a_hundred_thousand_nodes() -> None:
    def model(op: str) -> Graph:
        builder, type_, x = started("Net")
        for number in range(10_000):
            layer = builder.scope("module", path=f"layers.{number}", cls="Layer", parent=0)
            for at in range(9):
                name = op if (number, at) == (5000, 4) else "relu"
                (x,) = builder.node("op", name, parent=layer, inputs=[x], results=[type_])
        for _ in range(10_000):
            (x,) = builder.node("op", "relu", parent=0, inputs=[x], results=[type_])
        return ended(builder, x)

    (edit,) = model("relu").diff(model("gelu")).edits
    assert (edit.kind, edit.name, edit.before, edit.after) == ("retyped", "layers.5000.gelu", "relu", "gelu")


@pytest.mark.parametrize("other", [None, "net.trec", 3, [samples.blocks()]])
def test_what_is_no_graph_is_refused(other: Any) -> None:
    for graphs in ((samples.blocks(), other), (other, samples.blocks())):
        with pytest.raises(OptionError, match=rf"number [01] is an object of type {type(other).__name__}"):
            trec.diff(*graphs)
        with pytest.raises(OptionError, match="expected graphs"):
            trec.union(graphs)
        with pytest.raises(OptionError, match="expected graphs"):
            trec.merge(graphs)
    with pytest.raises(OptionError, match="in a list, not a single graph"):
        trec.union(samples.blocks())  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="names=3 is no list of names"):
        trec.union([samples.blocks()], names=3)  # type: ignore[arg-type]
