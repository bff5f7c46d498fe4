from __future__ import annotations

import pytest

from tests.passes import samples
from trec import OptionError
from trec.analysis.selectors import calls, path_glob

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
    ],
)
def test_path_globs(pattern: str, matched: list[str]) -> None:
    assert [path for path in PATHS if path_glob(pattern).fullmatch(path)] == matched


def test_globs_take_characters_as_they_are() -> None:
    assert path_glob("a+b(c).$").fullmatch("a+b(c).$")
    assert path_glob("x[*]y").fullmatch("x*y")
    assert not path_glob("x[*]y").fullmatch("xzy")
    assert path_glob("a\nb.*").fullmatch("a\nb.c")


def test_calls_by_path_and_class() -> None:
    graph = samples.blocks()
    names = [scope.name for scope in graph.scopes]
    assert calls(graph, "Linear", option="only") == {i for i, name in enumerate(names) if name.endswith(("fc", "head"))}
    assert calls(graph, ["layers.0", "layers.1"], option="only") == {names.index("layers.0"), names.index("layers.1")}
    assert calls(graph, "Blocks", option="only") == {0}
    assert calls(graph, "**", option="only") == set(range(1, len(names)))
    assert calls(graph, (), option="only") == frozenset()


@pytest.mark.parametrize("pattern", ["", 3, None])
def test_what_is_no_pattern_is_refused(pattern: object) -> None:
    with pytest.raises(OptionError, match="path globs and class names"):
        calls(samples.blocks(), [pattern], option="only")  # type: ignore[list-item]


def test_what_is_like_nothing_is_answered_with_examples() -> None:
    with pytest.raises(OptionError, match=r"there are, for example, 'Blocks', 'Block', 'Linear', 'layers\.0'"):
        calls(samples.blocks(), "zzzzzzzz", option="only")
    with pytest.raises(OptionError, match="no submodule was called"):
        calls(samples.blocks().collapse(depth=0), "zzzzzzzz", option="only")
