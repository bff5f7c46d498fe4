"""The first picture of a page can be read: little is open, or it begins where the flow does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.test_stages import steps
from tests.html.browser import play
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

pytestmark = [pytest.mark.browser, pytest.mark.node]

SEEN = """return page.evaluate(() => {
    const { scene, camera } = trec.state;
    const { width, height } = trec.stage.size;
    const [left, top] = scene.places;
    return {
        name: 11 * camera.zoom,
        boxes: scene.picture.boxes.length,
        first: [(left - camera.x) * camera.zoom / width, (top - camera.y) * camera.zoom / height],
        fits: scene.width * camera.zoom <= width && scene.height * camera.zoom <= height,
    };
})"""
LEGIBLE = 9
"""Pixels of a name that can be read."""


def chain(count: int, *, around: bool) -> Graph:
    """Return layers in a row, none like another, in one module or not, each of which returns a tensor as well."""
    builder = GraphBuilder("Chain", (("level", "function"),))
    scope = root = builder.scope("module", path="", cls="Chain")
    kind = builder.tensor_type((2, 8), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    if around:
        scope = builder.scope("module", path="net", cls="Net", parent=root)
    kept: list[int] = []
    for index in range(count):
        path = f"net.{index}"
        layer = builder.scope("module", path=path, cls="Layer", parent=scope, attrs=(("width", index),))
        (y,) = builder.node("op", "linear", parent=layer, inputs=[x], results=[kind])
        (x,) = builder.node("op", "__add__", parent=layer, inputs=[x, y], results=[kind])
        kept.append(y)
    for index, value in enumerate(kept):
        builder.node("output", parent=root, name=f"cache.{index}", inputs=[value])
    builder.node("output", parent=root, name="y", inputs=[x])
    return builder.build()


def opened(graph: Graph, folder: Path) -> dict[str, Any]:
    """Return what is seen of a graph at first."""
    found: dict[str, Any] = play(graph, SEEN, folder)
    assert found["name"] >= LEGIBLE
    return found


def test_what_can_be_read_at_once_is_open_and_fits(tmp_path: Path) -> None:
    found = opened(chain(6, around=True), tmp_path)
    assert found["fits"]
    assert found["boxes"] == 9


def test_a_module_that_is_all_of_the_model_is_open_and_begins_at_the_top(tmp_path: Path) -> None:
    found = opened(chain(60, around=True), tmp_path)
    assert not found["fits"]
    assert found["boxes"] == 63
    assert 0 <= found["first"][0] <= 1
    assert 0 <= found["first"][1] <= 0.1


def test_a_long_row_that_nothing_closes_begins_at_the_top(tmp_path: Path) -> None:
    found = opened(chain(60, around=False), tmp_path)
    assert 0 <= found["first"][0] <= 1
    assert 0 <= found["first"][1] <= 0.1


def test_a_backward_pass_is_open_beside_the_forward_one(tmp_path: Path) -> None:
    script = """return page.evaluate(() => {
        const { picture, frames, places } = trec.state.scene;
        const at = picture.titles.findIndex(({ title }) => title === "backward");
        const left = frames[4 * at];
        const beside = picture.around.filter((frame, box) => frame !== at && places[4 * box] < left);
        return { found: at >= 0, beside: beside.length };
    })"""
    found = play(steps(1), script, tmp_path)
    assert found["found"]
    assert found["beside"] > 1


def pit(depth: int) -> Graph:
    """Return two operators in so many modules, each in the one before."""
    builder = GraphBuilder("Pit", (("level", "function"),))
    scope = root = builder.scope("module", path="", cls="Pit")
    kind = builder.tensor_type((2, 8), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    for level in range(1, depth + 1):
        scope = builder.scope("module", path=".".join("a" * level), cls="Inner", parent=scope)
    for op in ("relu", "tanh"):
        (x,) = builder.node("op", op, parent=scope, inputs=[x], results=[kind])
    builder.node("output", parent=root, name="y", inputs=[x])
    return builder.build()


def test_modules_in_modules_open_however_deep_they_are(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.openTo(Infinity));
      await page.quiet();
      return page.evaluate(() => {
        const { picture } = trec.state.scene;
        trec.select(trec.graph.count + 1);
        const isTold = document.querySelector(".side").textContent.includes("Members · 1");
        const nodes = [...trec.graph.nodesIn(0)].length;
        return [picture.frames.length, nodes, isTold, document.querySelectorAll("[role=treeitem]").length > 9];
      });"""
    found = play(pit(5000).to_html(depth=1), script, tmp_path, viewport={"width": 1400, "height": 700})
    assert found == [5000, 4, True, True]
