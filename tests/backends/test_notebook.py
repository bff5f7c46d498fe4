from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.backends.samples import deep, named, sample
from trec.backends import notebook, svg
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    import pytest

    from trec.ir.graph import Graph


def wide(modules: int) -> Graph:
    builder = GraphBuilder("Wide")
    root = builder.scope("module", path="", cls="Wide")
    kind = builder.tensor_type((2,), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    for index in range(modules):
        scope = builder.scope("module", path=f"layers.{index}", cls="Layer", parent=root)
        for _ in range(20):
            (x,) = builder.node("op", "relu", parent=scope, inputs=[x], results=[kind])
    builder.node("output", parent=root, name="y", inputs=[x])
    return builder.build()


def test_a_small_graph_is_shown_whole() -> None:
    bundle = sample()._repr_mimebundle_()
    assert bundle["text/plain"] == repr(sample())
    assert "my_special_relu" in bundle["image/svg+xml"]


def test_a_large_graph_is_collapsed_to_what_can_be_read() -> None:
    assert notebook.readable(wide(2)) == wide(2)
    assert len(notebook.readable(wide(30)).nodes) == 32
    assert len(notebook.readable(wide(200)).nodes) == 3
    assert "depth 1" in wide(30)._repr_mimebundle_()["image/svg+xml"]


def test_it_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> str:
        raise RuntimeError

    assert notebook.mimebundle(deep(200)).keys() >= {"text/plain"}
    assert notebook.mimebundle(named("\0")).keys() == {"text/plain", "image/svg+xml"}
    monkeypatch.setattr(svg, "arrange", broken)
    assert notebook.mimebundle(sample()).keys() == {"text/plain"}
