"""Pages in the outputs of notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.samples import blocks, sample
from tests.backends.test_notebook import Frames
from tests.html.browser import play

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.browser
@pytest.mark.node
def test_several_pages_on_one_each_in_a_frame_without_rights(tmp_path: Path) -> None:
    frames = "\n".join(graph._repr_mimebundle_()["text/html"] for graph in (sample(), blocks(3)))
    frames = frames.replace('loading="lazy"', "")
    found = play(
        f"<!DOCTYPE html><meta charset=utf-8><body data-ready>{frames}",
        """const found = [];
        for (const frame of page.frames().slice(1)) {
          await frame.waitForSelector("[data-ready]");
          found.push(await frame.evaluate(async () => {
            await trec.openTo(Infinity);
            let reach = "none";
            try { reach = String(parent.document); } catch (error) { reach = error.name; }
            return [trec.graph.name, trec.state.scene.picture.boxes.length, reach];
          }));
        }
        return found;""",
        tmp_path,
    )
    assert found == [["SampleNet", 6, "SecurityError"], ["Blocks", 4, "SecurityError"]]


def test_nbconvert_keeps_the_page(tmp_path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbconvert = pytest.importorskip("nbconvert")
    bundle = sample()._repr_mimebundle_()
    output: Any = nbformat.v4.new_output("display_data", data=bundle)
    cell = nbformat.v4.new_code_cell("graph", outputs=[output])
    page, _ = nbconvert.HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=[cell]))
    (frame,) = Frames(page).found
    assert frame["srcdoc"] == sample().to_html()
