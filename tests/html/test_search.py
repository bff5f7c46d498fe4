"""Searching on the page, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import blocks, sample
from tests.html.browser import play
from tests.html.test_page import TITLES, nested

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.node]

SEARCH = """const field = page.getByRole("searchbox");
const find = async (text) => { await field.fill(text); await page.quiet(); };
const count = () => page.locator(".count").innerText();
const hits = () => page.evaluate(() => [...trec.state.hits].map((item) => trec.graph.nameOf(item)));
const said = () => page.locator("[aria-live]").innerText();
"""


def test_hits_are_counted_and_marked_where_they_are_closed_in(tmp_path: Path) -> None:
    script = """await find("op:sigmoid");
      const closed = [await count(), await hits(), await said()];
      await page.evaluate(() => trec.openTo(3));
      return [closed, await hits()];"""
    found = play(nested().to_html(depth=1), SEARCH + script, tmp_path)
    assert found == [
        ["2", ["encoder", "decoder"], "2 hits"],
        ["encoder.gate.sigmoid", "decoder.gate.sigmoid"],
    ]


def test_going_to_a_hit_opens_what_it_is_in_and_brings_it_into_the_middle(tmp_path: Path) -> None:
    script = """await find("op:sigmoid");
      await field.press("Enter");
      await field.press("Enter");
      const [x, y] = await middle("decoder.gate.sigmoid");
      const { left, top, width, height } = await page.evaluate(() => trec.canvas.getBoundingClientRect().toJSON());
      const second = [await count(), await frames(), await said()];
      await field.press("Shift+Enter");
      return [second, [x - left - width / 2, y - top - height / 2], await count()];"""
    found = play(nested().to_html(depth=1), SEARCH + TITLES + script, tmp_path)
    assert found[0] == ["2 / 2", ["encoder", "gate", "decoder", "gate"], "Hit 2 of 2: decoder.gate.sigmoid"]
    assert found[1] == pytest.approx([0, 0], abs=1)
    assert found[2] == "1 / 2"


def test_words_are_looked_for_in_names_operators_classes_and_shapes(tmp_path: Path) -> None:
    script = """const seen = [];
      for (const text of ["linear_1", "RELU", "Lay", "1x3", "nowhere"]) {
        await find(text);
        seen.push((await hits()).length > 0);
      }
      return seen;"""
    assert play(sample(), SEARCH + script, tmp_path) == [True, True, False, True, False]
    assert play(nested(), SEARCH + script, tmp_path) == [False, True, True, False, False]


def test_words_are_found_where_they_go_over_from_one_name_to_the_one_below(tmp_path: Path) -> None:
    script = """const seen = [];
      for (const text of ["coder.ga", ".gate.s", "encoder.act.relu", "ACT.", "act.gate"]) {
        await find(text);
        seen.push([await count(), (await hits()).join()]);
      }
      return seen;"""
    assert play(nested().to_html(depth=1), SEARCH + script, tmp_path) == [
        ["2", "encoder,decoder"], ["2", "encoder,decoder"], ["1", "encoder"], ["4", "encoder,decoder"], ["", ""],
    ]  # fmt: skip


def test_a_module_is_a_hit_rather_than_all_that_is_in_it(tmp_path: Path) -> None:
    script = """await find("class:Layer");
      const layers = await count();
      await find("not op:sigmoid");
      return [layers, await count()];"""
    assert play(nested(), SEARCH + script, tmp_path) == ["4", "6"]


def test_a_wrong_query_is_explained(tmp_path: Path) -> None:
    script = """await find("clas:Layer");
      const wrong = [await page.locator(".fault").innerText(), await field.getAttribute("aria-invalid")];
      await find("class:Layr");
      const nothing = await page.locator(".fault").innerText();
      await field.press("Escape");
      return [wrong, nothing, await page.locator(".fault").isVisible(), await hits()];"""
    wrong, nothing, shown, hits = play(nested(), SEARCH + script, tmp_path)
    assert "did you mean class:?" in wrong[0]
    assert wrong[1] == "true"
    assert nothing == "Nothing found; did you mean 'Layer'?"
    assert (shown, hits) == (False, [])


def test_hidden_parameters_are_found_where_they_are_read(tmp_path: Path) -> None:
    script = """await find("kind:param");
      await field.press("Enter");
      const kind = await page.evaluate(() => trec.graph.kindOf(trec.state.selected));
      return [kind, (await hits()).length > 0];"""
    assert play(blocks(2), SEARCH + script, tmp_path) == ["param", True]
