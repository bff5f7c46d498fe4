from __future__ import annotations

from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from tests.backends.samples import deep, named, sample
from trec.backends import notebook, svg
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from trec.ir.graph import Graph


class Frames(HTMLParser):
    """The attributes of the frames in a text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[dict[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "iframe":
            self.found.append(dict(attrs))


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


def test_a_page_is_in_a_frame_of_its_own() -> None:
    graph = named('"><script>alert(1)</script>')
    shown = graph._repr_mimebundle_()["text/html"]
    (frame,) = Frames(shown).found
    assert frame["srcdoc"] == graph.to_html()
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert frame["title"] == graph.name


def test_a_page_that_is_too_large_becomes_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(notebook, "_LARGEST", 1000)
    shown = sample()._repr_mimebundle_()["text/html"]
    assert '<a href="trec-SampleNet.html"' in shown
    assert "<svg" in shown
    assert (tmp_path / "trec-SampleNet.html").read_text(encoding="utf-8") == sample().to_html()


def test_a_page_that_cannot_be_written_is_only_mentioned(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any) -> None:
        raise OSError

    monkeypatch.setattr(notebook, "_LARGEST", 1000)
    monkeypatch.setattr(notebook, "write_text", refuse)
    assert "too large for a notebook" in sample()._repr_mimebundle_()["text/html"]


def test_it_never_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **kwargs: Any) -> str:
        raise RuntimeError

    assert notebook.mimebundle(deep(200)).keys() >= {"text/plain"}
    assert notebook.mimebundle(named("\0")).keys() == {"text/plain", "image/svg+xml", "text/html"}
    monkeypatch.setattr(svg, "arrange", broken)
    assert notebook.mimebundle(sample()).keys() == {"text/plain"}
