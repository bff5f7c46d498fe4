"""The controls of the page, in a real browser."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import blocks, named, sample
from tests.html.browser import play
from tests.html.test_details import fork
from tests.html.test_opening import pit
from tests.html.test_page import TITLES, nested

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.node]

KEYS = """const keys = () => page.locator(".legend li").allInnerTexts();
const fills = () => page.evaluate(() => trec.stage.colours().boxes.map(({ fill }) => fill));
const colour = (by) => page.getByLabel("Colour by").selectOption(by);
"""
SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("by", ["kind", "class", "module", "dtype", "params", "flops", "memory"])
def test_colours_stand_for_facts_that_the_legend_names(by: str, tmp_path: Path) -> None:
    script = f"const before = await fills(); await colour('{by}'); return [before, await fills(), await keys()];"
    before, after, keys = play(blocks(2).to_html(depth=2, fold=False), KEYS + script, tmp_path)
    assert len(before) == len(after)
    assert keys
    assert before != after


def test_the_legend_follows_the_theme_and_what_is_shown(tmp_path: Path) -> None:
    script = """const swatch = () =>
        page.locator(".legend .swatch").first().evaluate((one) => getComputedStyle(one).backgroundColor);
      const light = [await keys(), await swatch()];
      await page.getByRole("button", { name: "Dark or light" }).click();
      const dark = [await keys(), await swatch()];
      await page.evaluate(() => trec.openTo(0));
      return [light, dark, await keys()];"""
    light, dark, closed = play(nested(), KEYS + script, tmp_path)
    assert light[0] == dark[0] == ["activation"]
    assert light[1] != dark[1]
    assert closed == ["other"]


def test_what_is_shown_can_be_chosen(tmp_path: Path) -> None:
    script = """await page.getByRole("button", { name: "Show", exact: true }).click();
      const seen = [await titles()];
      for (const name of ["Parameters and buffers", "Views and casts", "Fold equal calls"]) {
        await page.getByLabel(name).click();
        seen.push(await titles());
      }
      return seen;"""
    before, params, views, _ = play(fork("view").to_html(), TITLES + script, tmp_path)
    assert before == params == ["x", "relu", "view", "relu", "relu", "relu", "y", "w"]
    assert views == [title for title in before if title != "view"]
    before, params, _, folded = play(blocks(2).to_html(depth=2), TITLES + script, tmp_path)
    assert len(params) > len(before)
    assert len(folded) > len(params)


def test_depths_can_be_opened_to(tmp_path: Path) -> None:
    script = """const open = async (name) => {
        await page.getByRole("button", { name: "Depth", exact: true }).click();
        await page.getByRole("button", { name, exact: true }).click();
        return frames();
      };
      return [await open("Depth 2"), await open("Depth 1"), await open("Everything"), await open("Nothing")];"""
    found = play(nested(), TITLES + script, tmp_path)
    every = ["encoder", "act", "gate", "decoder", "act", "gate"]
    assert found == [["encoder", "decoder"], [], every, []]


def test_the_small_map_moves_the_view(tmp_path: Path) -> None:
    script = """const map = page.locator(".minimap");
      const hidden = await map.isHidden();
      await page.evaluate(() => trec.openTo(9));
      for (let step = 0; step < 12; step++) { await page.focus("canvas"); await page.keyboard.press("+"); }
      await page.quiet();
      const { x, y, width, height } = await map.boundingBox();
      await page.mouse.click(x + width / 2, y + height - 6);
      return [hidden, await page.evaluate(() => {
        const { camera, scene } = trec.state;
        return (camera.y + trec.stage.size.height / 2 / camera.zoom) / scene.height;
      })];"""
    hidden, share = play(nested(), script, tmp_path)
    assert hidden
    assert share == pytest.approx(0.95, abs=0.06)


def test_crumbs_say_where_what_is_chosen_is(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.go(trec.graph.find("encoder.gate.sigmoid")));
      await page.quiet();
      const crumbs = page.locator(".crumbs li");
      const seen = await crumbs.allInnerTexts();
      await crumbs.nth(1).locator("button").click();
      return [seen, await page.evaluate(() => trec.graph.nameOf(trec.state.selected))];"""
    assert play(nested(), script, tmp_path) == [["Nested", "encoder", "gate", "sigmoid"], "encoder"]


def test_crumbs_of_what_is_deep_name_the_outermost_and_the_innermost(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.go(trec.graph.find(Array(100).fill("a").join("."))));
      await page.quiet();
      return page.locator(".crumbs li").allInnerTexts();"""
    assert play(pit(300), script, tmp_path) == ["Pit", "a", "a", "…", *["a"] * 17]


def exported(page: object, tmp_path: Path, script: str = "", suffix: str = "SVG") -> Path:
    """Return the file of what a page shows."""
    target = tmp_path / f"picture.{suffix.lower()}"
    script += f"""await page.getByRole("button", {{ name: "Save", exact: true }}).click();
      const file = page.waitForEvent("download");
      await page.getByRole("button", {{ name: "{suffix}" }}).click();
      await (await file).saveAs("{target}");"""
    play(page, script, tmp_path)  # type: ignore[arg-type]
    return target


def test_the_picture_is_saved_as_svg_with_its_texts(tmp_path: Path) -> None:
    root = ElementTree.fromstring(exported(sample(), tmp_path).read_text(encoding="utf-8"))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"linear_1", "relu"} & set(texts) or len(texts) > 3
    assert root.find(f"{SVG}title") is not None
    assert not [node for node in root.iter() if "href" in str(node.attrib)]


def words(path: Path) -> list[str | None]:
    """Return the texts of a picture."""
    return [text.text for text in ElementTree.fromstring(path.read_text(encoding="utf-8")).iter(f"{SVG}text")]


def test_a_saved_picture_has_its_title_and_what_its_colours_stand_for(tmp_path: Path) -> None:
    plain = words(exported(sample(), tmp_path))
    assert not {"parameters", "none", sample().name} & set(plain)
    script = "await page.evaluate(() => trec.store.set({ colourBy: 'params' }));"
    page = sample().to_html(title="My net")
    found = words(exported(page, tmp_path, script))
    assert found.count("My net") == 1
    assert {"parameters", "none", "12"} <= set(found)
    assert len(found) > len(plain)
    head = exported(page, tmp_path, script, suffix="PNG").read_bytes()[16:24]
    root = ElementTree.fromstring(exported(page, tmp_path, script).read_text(encoding="utf-8"))
    for at, side in enumerate(("width", "height")):
        assert int.from_bytes(head[4 * at : 4 * at + 4], "big") == pytest.approx(2 * float(root.attrib[side]), abs=1)


@pytest.mark.parametrize("name", ["</text><script>alert(1)</script>", '" onload="alert(1)', "a\0b\ufffe & <b>", "‮left"])
def test_hostile_names_are_texts_in_the_file(name: str, tmp_path: Path) -> None:
    root = ElementTree.fromstring(exported(named(name), tmp_path).read_text(encoding="utf-8"))
    assert not list(root.iter(f"{SVG}script"))
    assert {attribute for node in root.iter() for attribute in node.attrib if attribute.startswith("on")} == set()


def test_the_picture_is_saved_as_png_twice_as_large(tmp_path: Path) -> None:
    target = exported(sample(), tmp_path, suffix="PNG")
    head = target.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    size = play(sample(), "return page.evaluate(() => [trec.state.scene.width, trec.state.scene.height]);", tmp_path)
    assert int.from_bytes(head[16:20], "big") == pytest.approx(2 * (size[0] + 32), abs=1)
    assert int.from_bytes(head[20:24], "big") == pytest.approx(2 * (size[1] + 32), abs=1)


def test_paper_shows_the_screen_where_a_picture_is_too_large_for_strokes(tmp_path: Path) -> None:
    script = """await page.emulateMedia({ media: "print" });
      return page.evaluate(() => [document.querySelector(".sheet"), trec.canvas.clientHeight]);"""
    sheet, height = play(sample(), script, tmp_path)
    assert sheet is None
    assert height > 300


@pytest.mark.parametrize("width", [360, 400])
def test_under_fingers_the_tools_of_a_narrow_page_are_two_rows(width: int, tmp_path: Path) -> None:
    script = """const { right, bottom } = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll(".toolbar > *")].map((made) => made.getBoundingClientRect());
        const far = (side) => Math.max(...boxes.map((box) => box[side]));
        return { bottom: far("bottom"), right: far("right") };
      });
      return [right, bottom];"""
    size = {"width": width, "height": 700}
    right, bottom = play(sample(), script, tmp_path, viewport=size, hasTouch=True, isMobile=True)
    assert right <= width
    assert bottom < 100
