"""The page for everyone: by keyboard, by ear, enlarged, in forced colours, on paper, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.backends.node import FOLDER
from tests.backends.samples import blocks, sample
from tests.html.browser import play
from tests.html.test_page import TITLES, nested

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.node]

AXE = """await page.evaluate(AXE_SOURCE);
const faults = async () => {
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
};
"""


def axe() -> str:
    """Return a script that looks for faults as axe-core defines them."""
    path = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
    return AXE.replace("AXE_SOURCE", f"(await import('node:fs')).readFileSync({str(path)!r}, 'utf8')")


@pytest.mark.parametrize(
    "options",
    [
        {"colorScheme": "light"},
        {"colorScheme": "dark"},
        {"viewport": {"width": 400, "height": 700}},
        {"viewport": {"width": 640, "height": 400}, "deviceScaleFactor": 2},
        {"forcedColors": "active"},
    ],
    ids=["light", "dark", "narrow", "enlarged", "forced"],
)
def test_axe_finds_no_fault(options: dict[str, Any], tmp_path: Path) -> None:
    script = """const found = [...await faults()];
      if (await page.locator("[role=tree]").isHidden()) await page.click("button[aria-label=Outline]");
      await page.getByRole("searchbox").fill("(op:relu");
      await page.evaluate(() => trec.go(trec.graph.find("encoder")));
      await page.quiet();
      found.push(...await faults());
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Show", exact: true }).click({ force: true });
      found.push(...await faults());
      await page.keyboard.press("Escape");
      await page.focus("canvas");
      await page.keyboard.press("?");
      found.push(...await faults());
      return found;"""
    page = nested().to_html(depth=2)
    assert play(page, axe() + script, tmp_path, **{"viewport": {"width": 1300, "height": 800}, **options}) == []


SMALL = """return page.evaluate(() => [...document.querySelectorAll("button, select, input, [role=treeitem], a")]
  .filter((one) => one.checkVisibility())
  .map((one) => [one.textContent || one.ariaLabel, (one.closest("label") ?? one).getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 23.9 || height < 23.9)
  .map(([name, { width, height }]) => `${name} ${width}x${height}`));
"""


def test_all_that_is_touched_is_large_enough(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.go(trec.graph.find("encoder")));
      await page.getByRole("button", { name: "Show", exact: true }).click();
      """
    wide = {"viewport": {"width": 1400, "height": 800}}
    assert play(nested().to_html(depth=2), script + SMALL, tmp_path, **wide) == []


def test_what_happens_is_said(tmp_path: Path) -> None:
    script = """const said = () => page.locator("[aria-live]").innerText();
      const seen = [];
      await page.focus("canvas");
      for (const key of ["ArrowDown", "ArrowDown", "Enter", "Enter", "Escape"]) {
        await page.keyboard.press(key);
        seen.push(await said());
      }
      return seen;"""
    assert play(nested().to_html(depth=1), script, tmp_path) == [
        "x, input", "encoder, Stage, closed", "encoder open, 5 boxes", "encoder closed, 4 boxes", "Nothing chosen",
    ]  # fmt: skip


def test_every_control_is_reached_by_tab_with_a_ring(tmp_path: Path) -> None:
    script = """const seen = [];
      await page.evaluate(() => document.activeElement.blur());
      for (let press = 0; press < 30; press++) {
        await page.keyboard.press("Tab");
        const found = await page.evaluate(() => {
          const { activeElement: one } = document;
          const { outlineStyle, outlineWidth } = getComputedStyle(one);
          const hasRing = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
          return one === document.body ? null : [one.ariaLabel ?? one.textContent, one.tagName, hasRing];
        });
        if (found) seen.push(found);
      }
      return seen;"""
    found = play(nested().to_html(depth=1), script, tmp_path)
    names = [name for name, *_ in found]
    for name in ("Outline", "Depth", "Show", "Colour by", "Save", "Keys (?)"):
        assert name in names
    assert any(tag == "CANVAS" for _, tag, _ in found)
    assert all(ring for *_, ring in found), found


def test_the_help_opens_by_key_and_closes(tmp_path: Path) -> None:
    script = """await page.focus("canvas");
      await page.keyboard.press("?");
      const isOpen = () => page.getByRole("dialog", { name: "Keys" }).isVisible();
      const open = await isOpen();
      await page.keyboard.press("Escape");
      await page.keyboard.press("/");
      return [open, await isOpen(), await page.evaluate(() => document.activeElement.type)];"""
    assert play(sample(), script, tmp_path) == [True, False, "search"]


FOCUSED = """const focused = () => page.evaluate(() => document.activeElement.textContent);
"""


def test_the_focus_goes_along_with_what_a_link_leads_to(tmp_path: Path) -> None:
    script = """const seen = [];
      await page.evaluate(() => trec.go(trec.graph.find("encoder")));
      const links = [page.locator(".side section .link").first(), page.locator(".crumbs button").first()];
      for (const link of links) {
        await page.quiet();
        await link.focus();
        await page.keyboard.press("Enter");
        await page.quiet();
        seen.push(await focused());
      }
      return seen;"""
    assert play(nested().to_html(depth=1), FOCUSED + script, tmp_path) == ["x", "Nested"]


def test_the_focus_goes_to_what_more_is_shown(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.select(trec.graph.count));
      await page.getByTitle("Show more").first().focus();
      await page.keyboard.press("Enter");
      return focused();"""
    assert play(blocks(20), FOCUSED + script, tmp_path) == "layers.11"


def test_nothing_moves_for_those_who_want_it_still(tmp_path: Path) -> None:
    script = (
        "return page.evaluate(() => { trec.toggle(trec.graph.find('encoder')); return trec.stage.moving === null; });"
    )
    page = nested().to_html(depth=1)
    assert play(page, script, tmp_path, reducedMotion="reduce") is True
    assert play(page, script, tmp_path) is False


def test_forced_colours_reach_the_picture(tmp_path: Path) -> None:
    script = """return page.evaluate(() => {
      const { width, height } = trec.canvas;
      const { data } = trec.canvas.getContext("2d").getImageData(0, 0, width, height);
      for (let at = 0; at < data.length; at += 4) {
        const channels = data.slice(at, at + 3);
        if (Math.max(...channels) - Math.min(...channels) > 40) return true;
      }
      return false;
    });"""
    page = nested().to_html(depth=1)
    assert play(page, script, tmp_path, forcedColors="active") is False
    assert play(page, "await page.evaluate(() => trec.openTo(3)); await page.quiet();" + script, tmp_path) is True


def test_nothing_is_lost_at_twice_the_size(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.go(trec.graph.find("encoder")));
      return page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        const outside = [...document.querySelectorAll(".toolbar > *, .foot > *")].filter((one) => one.checkVisibility())
          .filter((one) => one.getBoundingClientRect().right > clientWidth + 1).map((one) => one.textContent);
        return [scrollWidth - clientWidth, outside, trec.stage.size.height > 80];
      });"""
    for width in (640, 400):
        size = {"viewport": {"width": width, "height": 400}}
        assert play(nested(), script, tmp_path, **size) == [0, [], True]


def test_paper_has_the_picture_in_strokes_and_its_name(tmp_path: Path) -> None:
    script = """await page.emulateMedia({ media: "print" });
      for (let look = 0; look < 2; look++) await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
      const theme = () => page.evaluate(() => trec.state.theme);
      const isSeen = (name) => page.locator(name).isVisible();
      const sheet = await page.locator(".sheet").innerText();
      const seen = [await isSeen(".sheet svg"), await isSeen(".toolbar"), await theme()];
      await page.evaluate(() => dispatchEvent(new Event("afterprint")));
      return [sheet, seen, await page.locator(".sheet").count(), await theme(), await titles()];"""
    sheet, seen, left, theme, titles = play(sample(), TITLES + script, tmp_path, colorScheme="dark")
    assert "SampleNet · 31 parameters" in sheet
    assert set(titles) <= set(sheet.split())
    assert seen == [True, False, "light"]
    assert (left, theme) == (0, "dark")
