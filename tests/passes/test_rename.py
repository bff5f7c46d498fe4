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


def test_words_for_what_is_not_there_are_refused_all_at_once() -> None:
    graph = samples.blocks()
    wrong = {"layers.0.f": "a", "output0": "b", "zzz": "c", 3: "d"}
    with pytest.raises(OptionError) as caught:
        graph.rename(wrong)  # type: ignore[arg-type]
    assert "names has 'layers.0.f', which is nowhere; did you mean 'layers.0.fc'" in str(caught.value)
    assert "'zzz', which is nowhere; there are, for example, 'Blocks'" in str(caught.value)
    assert "; 3, which is nowhere" in str(caught.value)
    assert "'output0'" not in str(caught.value)
    with pytest.raises(OptionError, match="'Linaer', which is nowhere; did you mean 'Linear', 'linear'"):
        graph.relabel({"Linaer": "Dense", "Block": "Residual"})


@pytest.mark.parametrize("kind", ["input", "param", "output"])
def test_there_is_no_other_word_for_what_is_what_it_is(kind: str) -> None:
    with pytest.raises(OptionError, match=f"'{kind}', which is nowhere"):
        samples.blocks().relabel({kind: "word"})


def test_words_for_several_graphs_may_be_for_what_is_not_there() -> None:
    graph = samples.blocks()
    assert graph.rename({"zzz": "a", "x": "y"}, missing_ok=True) == graph.rename({"x": "y"})
    assert graph.relabel({"zzz": "a", "linear": "b"}, missing_ok=True) == graph.relabel({"linear": "b"})


@pytest.mark.parametrize("words", [None, "linear", 3, [("linear", "conv")]])
def test_what_is_neither_words_nor_a_function_is_refused(words: Any) -> None:
    with pytest.raises(OptionError, match="takes a mapping from old words to new ones, or a function, not"):
        samples.blocks().rename(words)
    with pytest.raises(OptionError, match="takes a mapping from old words to new ones, or a function, not"):
        samples.blocks().relabel(words)
