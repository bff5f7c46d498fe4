"""What people do with the page, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import blocks, marks, sample
from tests.html.browser import play
from trec.backends.lower import lower
from trec.ir.builder import GraphBuilder

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

pytestmark = [pytest.mark.browser, pytest.mark.node]

TITLES = """const titles = () => page.evaluate(() => trec.state.scene.picture.faces.map((face) => face.title));
const frames = () => page.evaluate(() => trec.state.scene.picture.titles.map((face) => face.title));
const place = (name) => page.evaluate((name) => {
  const { left, top, width, height } = trec.placeOf(trec.graph.find(name));
  const { x, y, zoom } = trec.state.camera;
  const canvas = trec.canvas.getBoundingClientRect();
  const screen = { left: (left - x) * zoom + canvas.left, top: (top - y) * zoom + canvas.top };
  return { ...screen, width: width * zoom, height: height * zoom };
}, name);
const middle = async (name) => {
  const { left, top, width, height } = await place(name);
  return [left + width / 2, top + height / 2];
};
const settled = () => page.waitForFunction(() => !trec.stage.moving);
"""
"""What scripts use: what is on the picture, and where on the screen."""


def nested() -> Graph:
    """Return a graph of two stages of two layers each."""
    builder = GraphBuilder("Nested", (("level", "function"),))
    root = builder.scope("module", path="", cls="Nested")
    kind = builder.tensor_type((2, 8), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind], attrs=(("index", 0),))
    for stage in ("encoder", "decoder"):
        outer = builder.scope("module", path=stage, cls="Stage", parent=root)
        for layer, op in (("act", "relu"), ("gate", "sigmoid")):
            inner = builder.scope("module", path=f"{stage}.{layer}", cls="Layer", parent=outer)
            (y,) = builder.node("op", op, parent=inner, inputs=[x], results=[kind])
            (x,) = builder.node("op", "__add__", parent=inner, inputs=[y, x], results=[kind])
    builder.node("output", parent=root, name="y", inputs=[x], attrs=(("index", 0),))
    return builder.build()


def test_it_opens_as_far_as_can_be_read_and_fits(tmp_path: Path) -> None:
    found = play(
        nested(),
        """return page.evaluate(() => {
          const { scene, camera } = trec.state;
          const { width, height } = trec.stage.size;
          return {
            frames: scene.picture.titles.map((face) => face.title),
            right: (scene.width - camera.x) * camera.zoom - width,
            bottom: (scene.height - camera.y) * camera.zoom - height,
            left: camera.x, top: camera.y,
          };
        });""",
        tmp_path,
    )
    assert found["frames"] == ["encoder", "act", "gate", "decoder", "act", "gate"]
    assert max(found["left"], found["top"], found["right"], found["bottom"]) < 0


def test_a_module_opens_from_where_the_flow_enters_it(tmp_path: Path) -> None:
    script = """const before = await place("encoder");
      await page.evaluate(() => trec.toggle(trec.graph.find("encoder")));
      await settled();
      return [before, await place("encoder")];"""
    upright, sideways = ("top", "height", "left", "width"), ("left", "width", "top", "height")
    pages = ((nested().to_html(), upright), (nested().to_html(rankdir="LR"), sideways))
    for page, (start, length, side, breadth) in pages:
        before, after = play(page, TITLES + script, tmp_path)
        assert after[start] == pytest.approx(before[start])
        assert after[length] != before[length]
        middles = [row[side] + row[breadth] / 2 for row in (before, after)]
        assert middles[0] == pytest.approx(middles[1])


def test_a_click_opens_and_closes_in_place_with_the_view_held_still(tmp_path: Path) -> None:
    graph = nested()
    page = graph.to_html(depth=1)
    found = play(
        page,
        TITLES
        + """
        const before = await place("encoder");
        await page.mouse.click(...await middle("encoder"));
        await settled();
        const open = { frames: await frames(), titles: await titles(), place: await place("encoder") };
        await page.mouse.click(open.place.left + 12, open.place.top + 8);
        await settled();
        return { before, open, titles: await titles(), after: await place("encoder") };""",
        tmp_path,
    )
    before, after, inside = found["before"], found["after"], found["open"]["place"]
    assert found["open"]["frames"] == ["encoder"]
    assert found["open"]["titles"] == ["x", "act", "gate", "decoder", "y"]
    assert found["titles"] == ["x", "encoder", "decoder", "y"]
    assert inside["top"] == pytest.approx(before["top"], abs=0.5)
    assert inside["left"] + inside["width"] / 2 == pytest.approx(before["left"] + before["width"] / 2, abs=0.5)
    assert after == pytest.approx(before, abs=0.5)


def test_enter_opens_what_the_arrow_keys_lead_to(tmp_path: Path) -> None:
    found = play(
        nested().to_html(depth=1),
        TITLES
        + """
        await page.focus("canvas");
        for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
        await settled();
        return frames();""",
        tmp_path,
    )
    assert found == ["decoder"]


@pytest.mark.parametrize(
    ("chosen", "opened"), [("layers.3", "layers.0"), ("layers.0.linear", "layers.0")], ids=["folded", "closed in"]
)
def test_enter_opens_what_is_seen_of_what_is_chosen(chosen: str, opened: str, tmp_path: Path) -> None:
    script = f"""await page.evaluate(() => trec.select(trec.graph.find({chosen!r})));
      await page.focus("canvas");
      await page.keyboard.press("Enter");
      return frames();"""
    assert play(blocks(4).to_html(depth=1), TITLES + script, tmp_path) == [opened]


def test_a_menu_at_the_pointer_leaves_the_picture_where_it_is(tmp_path: Path) -> None:
    script = """const before = await page.evaluate(() => trec.state.camera);
      await page.mouse.move(600, 400);
      await page.mouse.down({ button: "right" });
      await page.mouse.move(700, 500, { steps: 3 });
      return [before, await page.evaluate(() => trec.state.camera)];"""
    before, after = play(nested().to_html(depth=1), script, tmp_path)
    assert after == before


def test_wheel_drag_and_keys_move_the_view(tmp_path: Path) -> None:
    found = play(
        nested(),
        """const camera = () => page.evaluate(() => trec.state.camera);
        const seen = [await camera()];
        const { left } = await page.evaluate(() => trec.canvas.getBoundingClientRect());
        await page.mouse.move(left + 300, 400);
        await page.mouse.wheel(0, -200);
        await page.waitForFunction((zoom) => trec.state.camera.zoom > zoom, seen[0].zoom);
        seen.push(await camera());
        await page.mouse.move(left + 20, 500);
        await page.mouse.down();
        await page.mouse.move(left + 60, 480, { steps: 4 });
        await page.mouse.up();
        seen.push(await camera());
        await page.focus("canvas");
        await page.keyboard.press("0");
        seen.push(await camera());
        return seen;""",
        tmp_path,
    )
    first, near, moved, whole = found
    assert near["zoom"] > first["zoom"] * 1.2
    assert near["x"] + 300 / near["zoom"] == pytest.approx(first["x"] + 300 / first["zoom"], abs=1)
    assert (moved["x"] - near["x"]) * near["zoom"] == pytest.approx(-40, abs=0.5)
    assert (moved["y"] - near["y"]) * near["zoom"] == pytest.approx(20, abs=0.5)
    assert whole == pytest.approx(first)


def test_two_fingers_zoom(tmp_path: Path) -> None:
    found = play(
        nested(),
        """const cdp = await page.context().newCDPSession(page);
        const touch = (type, ...points) =>
          cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(([x, y], id) => ({ x, y, id })) });
        const zoom = () => page.evaluate(() => trec.state.camera.zoom);
        const before = await zoom();
        await touch("touchStart", [500, 400], [600, 400]);
        for (let step = 1; step <= 5; step++) await touch("touchMove", [500 - 10 * step, 400], [600 + 10 * step, 400]);
        await touch("touchEnd");
        return [before, await zoom()];""",
        tmp_path,
        hasTouch=True,
    )
    assert found[1] == pytest.approx(2 * found[0], rel=0.1)


def test_the_tooltip_says_what_is_under_the_pointer(tmp_path: Path) -> None:
    found = play(
        sample(),
        TITLES
        + """await page.mouse.move(...await middle("linear_1"));
        return page.locator(".tip:not([hidden])").innerText();""",
        tmp_path,
    )
    assert found.splitlines()[0] == "linear_1"
    assert "1×3, float32, cpu" in found
    assert "12 params" in found
    assert "net.py:7" in found


def test_what_is_folded_is_one_stack_until_it_is_unfolded(tmp_path: Path) -> None:
    found = play(
        blocks(4).to_html(depth=1),
        TITLES
        + """const folded = await page.evaluate(() => trec.state.scene.picture.faces.map((face) => face.times));
        await page.evaluate(() => trec.change({ folded: false }));
        return [folded, await titles()];""",
        tmp_path,
    )
    assert found == [[1, 4, 1], ["x", "layers.0", "layers.1", "layers.2", "layers.3", "y"]]


def test_pixels_are_those_of_the_screen(tmp_path: Path) -> None:
    found = play(
        sample(),
        """return page.evaluate(() => {
          const { width, clientWidth, height, clientHeight } = trec.canvas;
          return [width, clientWidth, height, clientHeight];
        });""",
        tmp_path,
        deviceScaleFactor=2,
    )
    assert found[0] == 2 * found[1]
    assert found[2] == 2 * found[3]


def test_colours_follow_the_reader_and_the_options(tmp_path: Path) -> None:
    script = """return page.evaluate(() => {
      const [red, green, blue] = trec.canvas.getContext("2d").getImageData(2, 2, 1, 1).data;
      return [trec.state.theme, red + green + blue > 384, getComputedStyle(document.body).backgroundColor];
    });"""
    assert play(sample(), script, tmp_path, colorScheme="dark") == ["dark", False, "rgb(20, 24, 31)"]
    assert play(sample(), script, tmp_path, colorScheme="light") == ["light", True, "rgb(255, 255, 255)"]
    assert play(sample().to_html(style="dark"), script, tmp_path, colorScheme="light")[0] == "dark"


def test_every_kind_of_node_is_drawn(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.openTo(Infinity));
      return page.evaluate(() => trec.state.scene.picture.boxes.length);"""
    assert play(marks().to_html(fold=False), script, tmp_path) == len(lower(marks(), params=False).boxes)
