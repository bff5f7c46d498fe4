from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.passes import samples
from trec import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable


def test_golden(golden: Callable[[str, str], None]) -> None:
    before = samples.blocks().collapse(depth=1)
    renamed = before.rename(lambda row: row.name.replace("layers", "block")).verify()
    relabeled = renamed.relabel({"Block": "Residual", "Blocks": "Net"}).verify()
    golden("rename-blocks.txt", f"{before}\n---\n{renamed}\n---\n{relabeled}\n")


def test_names_stay_unique_and_a_collapsed_node_keeps_that_of_its_call() -> None:
    graph = samples.mutual().collapse(depth=1)
    result = graph.rename(lambda _: "n").verify()
    assert [scope.name for scope in result.scopes] == ["n", "n_1", "n_2"]
    assert [node.name for node in result.nodes] == ["n_3", "n_1", "n_2", "n_4", "n_5", "n_6"]
    assert result.origin("n_4") == ("a.relu_1",)


def test_values_of_several_results_keep_their_ports() -> None:
    graph = samples.functions().rename({"fc.mix.aten.split.Tensor": "halves"})
    assert [value.name for value in graph.values if value.name.startswith("halves")] == ["halves:0", "halves:1"]
    assert graph.values[graph.nodes[graph.index_of["x"]].outputs[0]].name == "x"


def test_only_what_may_be_called_anything_is_asked() -> None:
    asked: list[str] = []

    def label(row: Any) -> str:
        asked.append(row.name)
        return "word"

    samples.functions().relabel(label)
    assert not {"x", "fc.weight", "output0"} & set(asked)
    assert {"fc.mix", "item", "fc.mix.mm.aten.mm.default"} <= set(asked)


@pytest.mark.parametrize("names", [{"x": 3}, lambda row: None])
def test_what_is_no_text_is_refused(names: Any) -> None:
    with pytest.raises(OptionError, match="names must give text"):
        samples.blocks().rename(names)
    with pytest.raises(OptionError, match="labels must give text"):
        samples.blocks().relabel(names if callable(names) else {"linear": names["x"]})


def test_labels_that_are_neither_words_nor_a_function_are_refused() -> None:
    labels: Any = 3
    with pytest.raises(OptionError, match="new words by old ones, or a function, not 3"):
        samples.blocks().relabel(labels)
