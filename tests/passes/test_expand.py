"""Every node that a pass made can be traced to what it stands for, and opened again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.passes import samples
from trec import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

MAKERS: dict[str, tuple[Callable[[], Graph], dict[str, Any]]] = {
    "collapse": (samples.blocks, {"depth": 1}),
    "fold": (samples.stages, {}),
    "level": (samples.functions, {"level": "function"}),
    "roll": (samples.recurrent, {}),
}
"""Passes that make nodes of others, each with a graph in which it does."""


def _made(graph: Graph) -> list[str]:
    return list(graph.derivation.members) if graph.derivation is not None else []


@pytest.mark.parametrize("name", MAKERS)
def test_what_a_pass_made_one_by_one_is_opened_to_the_whole(name: str) -> None:
    make, options = MAKERS[name]
    graph = make()
    made = graph.apply(name, **options)
    assert _made(made)
    while _made(made):
        (opened, *_) = _made(made)
        stood_for = made.origin(opened)
        made = made.expand(opened).verify()
        assert opened not in made.index_of or len(made.origin(opened)) < len(stood_for)
    found = {node.name for node in made.nodes}
    assert found == {node.name for node in graph.nodes}


def test_the_module_level_opens_to_functions_and_then_to_operators() -> None:
    graph = samples.functions()
    coarse = graph.level("module")
    assert "fc" in coarse.index_of
    finer = coarse.expand("fc").verify()
    assert "fc.mix" in finer.index_of
    finest = finer.expand("fc.mix").verify()
    assert finest.origin("fc.mix.mm") == ("fc.mix.mm.aten.mm.default",)
    assert "fc.mix.mm.aten.mm.default" in finest.expand("fc.mix.mm").verify().index_of


def test_later_passes_are_gone_back_through() -> None:
    graph = samples.stages()
    made = (
        graph.collapse(depth=1)
        .rename(lambda row: row.name.upper())
        .tensors("all")
        .relabel({"conv": "c"}, missing_ok=True)
    )
    tensor = next(node.name for node in made.nodes if node.op == "tensor")
    for name in ("STAGES.0", tensor):
        opened = made.expand(name).verify()
        assert "STAGES.0.0.CONV" in opened.index_of
        assert "STAGES.1" in opened.index_of
        assert opened.nodes[opened.index_of["STAGES.0.0.CONV"]].op == "c"


def test_what_no_pass_made_cannot_be_opened() -> None:
    graph = samples.blocks()
    with pytest.raises(OptionError, match="no pass made this graph"):
        graph.expand()
    with pytest.raises(OptionError, match=r"no pass made 'layers\.0\.__add__'"):
        graph.prune().expand("layers.0.__add__")
    with pytest.raises(OptionError, match=r"no node 'layers\.0\.__ad__'; did you mean 'layers\.0\.__add__'"):
        graph.expand("layers.0.__ad__")
