from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from tests.passes import samples
from trec import OptionError
from trec.ir.types import Carried

if TYPE_CHECKING:
    from collections.abc import Callable

    from trec.ir.graph import Graph

GOLDEN: dict[str, tuple[Callable[[], Graph], dict[str, Any]]] = {
    "blocks": (samples.blocks, {}),
    "blocks-collapsed": (lambda: samples.blocks().collapse(depth=1), {}),
    "functions-all": (samples.functions, {"which": "all"}),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str, golden: Callable[[str, str], None]) -> None:
    make, options = GOLDEN[name]
    before = make()
    golden(f"tensors-{name}.txt", f"{before}\n---\n{before.tensors(**options).verify()}\n")


def test_a_tensor_stands_for_its_producer() -> None:
    graph = samples.blocks().tensors()
    assert graph.origin("layers.0.fc.linear.tensor") == ("layers.0.fc.linear",)


def test_hiding_the_tensors_gives_the_graph_back() -> None:
    graph = samples.blocks()
    assert graph.tensors("all").hide("op:tensor") == graph


def test_what_a_loop_carries_is_the_tensor() -> None:
    graph = samples.mutual()
    graph = replace(graph, carried=(Carried(4, 1, 0),)).verify()
    result = graph.tensors("all").verify()
    (edge,) = result.carried
    assert (result.values[edge.value].name, result.nodes[edge.node].name) == ("b.relu_1.tensor", "a.relu")


def test_another_word_is_refused() -> None:
    with pytest.raises(OptionError, match="'boundaries', 'all', not 'some'"):
        samples.blocks().tensors("some")  # type: ignore[arg-type]
