"""Names of any kind run nothing and are shown as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import HOSTILE, named
from tests.html.browser import play
from trec.backends.escape import printable
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

NAMES = [
    *HOSTILE,
    "</script><script>window.ran = 1</script>",
    "<!--<script>",
    "<img src=x onerror='window.ran = 1'>",
    "\"><svg onload='window.ran = 1'>",
    "javascript:window.ran=1",
    "${window.ran = 1}",
    "__proto__",
    "constructor",
    "nul\0here",
    "line\u2028and paragraph\u2029",
    "\u202eright to left\u202c",
    "שלום עולם",
    "x" * 100_000,
]


def together() -> Graph:
    """Return a graph in which everything that has a name has a hostile one."""
    builder = GraphBuilder(NAMES[-13])
    root = builder.scope("module", path="", cls=NAMES[-12])
    kind = builder.tensor_type(("s</script>", 2), "f<b>", "dev<i>")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    for name in NAMES:
        scope = builder.scope("module", path=name, cls=name, parent=root, attrs=((name, name),))
        for _ in range(2):
            (x,) = builder.node("op", name, parent=scope, inputs=[x], results=[kind], attrs=((name, name),))
    builder.node("output", parent=root, name="y", inputs=[x])
    return builder.build()


@pytest.mark.parametrize("compress", [True, False])
def test_no_text_ends_the_data_or_looks_like_markup(compress: bool) -> None:
    page = together().to_html(compress=compress)
    block = re.compile(r'<script type="application/[a-z-]+" id="[a-z]+">(.*?)</script>', re.DOTALL)
    for data in block.findall(page):
        assert "<" not in data
        assert "\u2028" not in data
    rest = block.sub("", page)
    assert "window.ran" not in rest.replace("&lt;script&gt;window.ran", "")
    assert len(block.findall(page)) == (2 if compress else 1)


@pytest.mark.browser
@pytest.mark.node
@pytest.mark.parametrize("compress", [True, False])
def test_names_run_nothing_and_are_shown(compress: bool, tmp_path: Path) -> None:
    found = play(
        together().to_html(compress=compress, depth=2),
        """return page.evaluate(async () => {
          const { graph } = trec;
          const tips = [];
          for (let scope = 1; scope < graph.scopeCount; scope++) {
            trec.go(graph.count + scope);
            trec.toggle(graph.count + scope);
            const { left, top, width } = trec.placeOf(graph.count + scope);
            const { x, y, zoom } = trec.state.camera;
            const origin = trec.canvas.getBoundingClientRect();
            const clientX = (left + width / 2 - x) * zoom + origin.left;
            const clientY = (top + 6 - y) * zoom + origin.top;
            trec.canvas.dispatchEvent(new PointerEvent("pointermove", { clientX, clientY }));
            tips.push(document.querySelector(".tip").firstChild.textContent);
          }
          await new Promise(requestAnimationFrame);
          return { ran: window.ran ?? null, tips, images: document.images.length, title: document.title };
        });""",
        tmp_path,
    )
    assert found["ran"] is None
    assert found["images"] == 0
    expected = [printable(name) for name in (scope.name for scope in together().scopes[1:])]
    for tip, name in zip(found["tips"], expected, strict=True):
        assert tip in (name, f"{name[:300]}…")


@pytest.mark.browser
@pytest.mark.node
def test_the_policy_lets_no_other_script_run(tmp_path: Path) -> None:
    script = """return page.evaluate(() => new Promise((done) => {
      document.addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "window.ran = 1";
      document.body.append(script);
    }));"""
    with pytest.raises(AssertionError, match="Content Security Policy"):
        play(named("x"), script, tmp_path)
