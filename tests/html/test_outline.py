"""The tree beside the picture, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import blocks
from tests.html.browser import play
from tests.html.test_page import TITLES, nested

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.node]

WIDE = {"viewport": {"width": 1400, "height": 700}}
ROWS = """const frame = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
const rows = async () => {
  await frame();
  return page.evaluate(() => [...document.querySelectorAll("[role=treeitem]")].map((row) => {
    const fact = (name) => row.getAttribute(`aria-${name}`);
    const place = `${fact("posinset")}/${fact("setsize")}`;
    return [row.querySelector("bdi").textContent, fact("level"), place, fact("expanded")];
  }));
};
const focused = () => page.evaluate(() => document.activeElement.querySelector("bdi")?.textContent);
const selected = () => page.evaluate(() => trec.state.selected < 0 ? null : trec.graph.nameOf(trec.state.selected));
const tree = () => page.locator("[role=treeitem][tabindex='0']").focus();
"""


def test_it_is_a_tree_of_what_is_open(tmp_path: Path) -> None:
    found = play(
        nested().to_html(depth=1),
        ROWS + "const closed = await rows(); await page.evaluate(() => trec.openTo(2)); return [closed, await rows()];",
        tmp_path,
        **WIDE,
    )
    assert found[0] == [
        ["x", "1", "1/4", None],
        ["encoder", "1", "2/4", "false"],
        ["decoder", "1", "3/4", "false"],
        ["y", "1", "4/4", None],
    ]
    assert [row[:2] for row in found[1]] == [
        ["x", "1"], ["encoder", "1"], ["act", "2"], ["gate", "2"], ["decoder", "1"], ["act", "2"], ["gate", "2"],
        ["y", "1"],
    ]  # fmt: skip


def test_keys_go_through_it_open_and_close(tmp_path: Path) -> None:
    script = """await tree();
      const seen = [];
      for (const press of ["Down", "Right", "Right", "Down", "Left", "Left", "End", "Home", "d"]) {
        const key = /^(Down|Right|Left)$/.test(press) ? `Arrow${press}` : press;
        await page.keyboard.press(key);
        seen.push([key, await focused(), await selected(), await frames()]);
      }
      await page.keyboard.press("Enter");
      return [seen, await frames()];"""
    seen, frames = play(nested().to_html(depth=1), ROWS + TITLES + script, tmp_path, **WIDE)
    assert seen == [
        ["ArrowDown", "encoder", "encoder", []],
        ["ArrowRight", "encoder", "encoder", ["encoder"]],
        ["ArrowRight", "act", "encoder.act", ["encoder"]],
        ["ArrowDown", "gate", "encoder.gate", ["encoder"]],
        ["ArrowLeft", "encoder", "encoder", ["encoder"]],
        ["ArrowLeft", "encoder", "encoder", []],
        ["End", "y", "y", []],
        ["Home", "x", "x", []],
        ["d", "decoder", "decoder", []],
    ]
    assert frames == ["decoder"]


def test_what_is_chosen_on_the_picture_is_chosen_in_it(tmp_path: Path) -> None:
    script = """await page.mouse.click(...await middle("decoder"));
      await settled();
      return page.evaluate(() => document.querySelector("[aria-selected=true]").textContent);"""
    assert play(nested().to_html(depth=1), TITLES + script, tmp_path, **WIDE) == "decoderStage"


def test_equal_calls_that_are_folded_are_one_row(tmp_path: Path) -> None:
    script = """const folded = await rows();
      await page.evaluate(() => trec.change({ folded: false }));
      return [folded, await rows()].map((all) => all.map((row) => row[0]));"""
    found = play(blocks(4).to_html(depth=1), ROWS + script, tmp_path, **WIDE)
    assert found == [["x", "layers.0", "y"], ["x", "layers.0", "layers.1", "layers.2", "layers.3", "y"]]


def test_modules_are_called_as_rename_calls_them_wherever_they_stand(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.go(trec.graph.find("Head")));
      await page.quiet();
      const facts = await page.locator(".side dl").innerText();
      const crumbs = await page.locator(".crumbs li").allInnerTexts();
      const closed = await titles();
      await page.evaluate(() => trec.openTo(2));
      const all = (await rows()).map((row) => row[0]);
      const head = await page.locator(".side h2").innerText();
      return [head, facts.split("\\n").slice(0, 2), crumbs, closed, await frames(), all];"""
    page = nested().rename({"decoder": "Head"}).to_html(depth=1)
    head, facts, crumbs, closed, frames, tree = play(page, ROWS + TITLES + script, tmp_path, **WIDE)
    assert (head, facts, crumbs) == ("Head", ["path", "decoder"], ["Nested", "Head"])
    assert closed == ["x", "encoder", "Head", "y"]
    assert frames == ["encoder", "Head"]
    assert tree == ["x", "encoder", "act", "gate", "Head", "act", "gate", "y"]


def test_only_rows_in_sight_are_elements(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.change({ folded: false }));
      await tree();
      const first = (await rows()).length;
      await page.keyboard.press("End");
      const scroll = await page.evaluate(() => document.querySelector(".tree").scrollTop);
      return [first, (await rows()).length, await focused(), scroll > 10000];"""
    found = play(blocks(1000).to_html(depth=1), ROWS + script, tmp_path, **WIDE)
    assert found[0] < 50
    assert found[1:] == [pytest.approx(found[0], abs=12), "y", True]


def test_narrow_windows_have_it_on_request(tmp_path: Path) -> None:
    script = """const shown = () => page.locator("[role=tree]").isVisible();
      const before = await shown();
      await page.click("[aria-label=Outline][aria-expanded]");
      return [before, await shown(), await page.getAttribute("button[aria-label=Outline]", "aria-expanded")];"""
    options = {"viewport": {"width": 400, "height": 700}}
    assert play(nested(), script, tmp_path, **options) == [False, True, "true"]


def test_what_is_open_has_the_colours_of_its_frame_where_colours_are_no_families(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.openTo(2));
      const marks = async () => {
        await frame();
        return page.evaluate(() => [...document.querySelectorAll("[role=treeitem]")].flatMap((row) =>
          row.getAttribute("aria-expanded") === "true" ? [row.querySelector(".swatch").style.backgroundColor] : []));
      };
      await page.evaluate(() => trec.store.set({ colourBy: "params" }));
      const { fill } = await page.evaluate(() => trec.stage.colours().frames[0]);
      return [await marks(), fill];"""
    found, fill = play(nested(), ROWS + script, tmp_path, **WIDE)
    channels = [int(fill[at : at + 2], 16) for at in (1, 3, 5)]
    assert found
    assert found[0] == f"rgb({', '.join(map(str, channels))})"
