"""What is said and shown of what is chosen, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import sample
from tests.html.browser import play
from tests.html.test_page import TITLES, nested
from tests.html.test_projection import fed
from trec.ir.builder import GraphBuilder
from trec.ir.types import Derivative

if TYPE_CHECKING:
    from pathlib import Path

    from trec.ir.graph import Graph

pytestmark = [pytest.mark.browser, pytest.mark.node]

LIT = """const choose = (name) => page.evaluate((name) => trec.select(trec.graph.find(name)), name);
const lit = () => page.evaluate(() => {
  const { lit, scene } = trec.state;
  if (!lit) return null;
  const { boxes, wires } = scene.picture;
  const name = (box) => trec.graph.nameOf(boxes[box]);
  return [...lit.wires].map(([wire, way]) => `${name(wires[wire].source)} > ${name(wires[wire].target)} ${way}`).sort();
});
"""


def fork(hidden: str = "relu") -> Graph:
    """Return a graph in which two ways lead from `x` to `add`, and one past it.

    x -> a -> b -> add -> y
    x -> c ------> add
    x -> z
    """
    builder = GraphBuilder("Fork", (("level", "function"),))
    root = builder.scope("module", path="", cls="Fork")
    kind = builder.tensor_type((2,), "float32")

    def step(op: str, name: str, *inputs: int) -> int:
        (value,) = builder.node("op", op, parent=root, name=name, inputs=list(inputs), results=[kind])
        return value

    (x,) = builder.node("input", parent=root, name="x", results=[kind], attrs=(("index", 0),))
    a = step("relu", "a", x)
    b = step(hidden, "b", a)
    c = step("relu", "c", x)
    y = step("relu", "sum", b, c)
    z = step("relu", "z", x)
    builder.node("output", parent=root, name="y", inputs=[y], attrs=(("index", 0),))
    builder.node("output", parent=root, name="w", inputs=[z], attrs=(("index", 1),))
    return builder.build()


def test_a_click_pins_all_that_is_known(tmp_path: Path) -> None:
    script = """await page.mouse.click(...await middle("linear_1"));
      const side = page.locator(".side");
      return { all: await side.innerText(), links: await side.locator("button.link").allInnerTexts() };"""
    found = play(sample(), TITLES + script, tmp_path)
    for text in ("linear_1", "linear", "parameters\n12", "net.py:7", "Inputs", "Outputs", "1×3, float32, cpu"):
        assert text in found["all"], text
    assert len(found["links"]) >= 3


SIDES = """const sides = () => page.evaluate(() => {
  const { scene, camera } = trec.state;
  const chosen = trec.placeOf(trec.state.selected);
  const at = (x) => (x - camera.x) * camera.zoom;
  return { left: at(0), right: at(scene.width), width: trec.stage.size.width, zoom: camera.zoom,
    chosen: chosen && [at(chosen.left), at(chosen.left + chosen.width)] };
});
"""


def test_the_panel_covers_nothing_that_there_is_room_for_beside_it(tmp_path: Path) -> None:
    script = """const before = await sides();
      await page.mouse.click(...await middle("a"));
      await settled();
      const during = await sides();
      await page.keyboard.press("Escape");
      await settled();
      return { before, during, after: await sides() };"""
    page = fork().to_html(rankdir="LR")
    found = play(page, TITLES + SIDES + script, tmp_path, viewport={"width": 800, "height": 600})
    before, during, after = found["before"], found["during"], found["after"]
    assert before["right"] > during["width"]
    assert 0 <= during["left"] < during["right"] <= during["width"]
    assert during["zoom"] == before["zoom"]
    assert after["left"] == during["left"]


def test_of_a_picture_with_no_room_beside_the_panel_what_is_chosen_is_seen(tmp_path: Path) -> None:
    script = """await page.locator("canvas").first().focus();
      for (let press = 0; press < 3; press++) await page.keyboard.press("+");
      const before = await sides();
      await page.mouse.click(...await middle("y"));
      await settled();
      return { before, during: await sides() };"""
    page = fork().to_html(rankdir="LR")
    found = play(page, TITLES + SIDES + script, tmp_path, viewport={"width": 800, "height": 600})
    before, during = found["before"], found["during"]
    assert before["right"] <= before["width"]
    assert during["right"] - during["left"] > during["width"]
    assert 0 <= during["chosen"][0] < during["chosen"][1] <= during["width"]


def test_inputs_that_are_drawn_as_one_are_all_told(tmp_path: Path) -> None:
    script = """await page.mouse.move(...await middle("past.0.keys"));
      const tip = await page.locator(".tip").innerText();
      await page.mouse.click(...await middle("past.0.keys"));
      const side = page.locator(".side");
      await page.waitForFunction(() => /past/.test(document.querySelector(".crumbs").innerText));
      const found = { tip, all: await side.innerText(), said: await page.locator("[aria-live]").innerText(),
        rows: await page.locator(".row").allInnerTexts() };
      for (let click = 0; click < 3; click++) await page.getByRole("button", { name: "One edge more" }).click();
      found.lit = (await lit()).length;
      await side.getByRole("button", { name: "past.5.values", exact: true }).click();
      return { ...found, one: await side.innerText() };"""
    found = play(fed(6), TITLES + LIT + script, tmp_path, viewport={"width": 1400, "height": 900})
    assert found["tip"].split("\n")[:3] == ["past", "12 inputs", "past.0.keys: 2×8, float32, cpu"]
    assert "and 8 more" in found["tip"]
    assert found["all"].startswith("past\n")
    assert "past.3.values" in found["all"]
    assert found["said"].startswith("past, ")
    assert [row.split("\n")[0] for row in found["rows"]][:3] == ["x", "past", "state"]
    assert found["lit"] > 6
    assert found["one"].startswith("past.5.values\n")


def test_what_a_step_differentiates_is_told_at_both_ends(tmp_path: Path) -> None:
    builder = GraphBuilder("Step", (("level", "function"),))
    root = builder.scope("module", path="", cls="Step")
    later = builder.scope("region", path="", cls="backward", parent=root, name="backward", phase="backward")
    kind = builder.tensor_type((2,), "float32")
    (x,) = builder.node("input", parent=root, name="x", results=[kind])
    (y,) = builder.node("op", "tanh", parent=root, name="tanh", inputs=[x], results=[kind])
    for name in ("slope", "rest"):
        (y,) = builder.node("op", name, parent=later, name=name, inputs=[y], results=[kind])
        builder.derivatives.append(Derivative(len(builder.nodes) - 1, 1))
    script = """const side = page.locator(".side");
      await choose("slope");
      const facts = await side.locator("dl").innerText();
      await side.locator("section", { hasText: "Differentiates" }).getByRole("button", { name: "tanh" }).click();
      const ends = await side.locator("section", { hasText: "Differentiated by" }).getByRole("button").allInnerTexts();
      await page.evaluate(() => trec.select(-1));
      await page.mouse.move(...await middle("slope"));
      return { facts, ends, tip: await page.locator(".tip").innerText(), columns: await page.evaluate(() => {
        const { places, picture } = trec.state.scene;
        return picture.boxes.map((_, box) => places[4 * box] > places[0] + places[2]);
      }) };"""
    found = play(builder.build().verify(), TITLES + LIT + script, tmp_path)
    assert "phase\nbackward" in found["facts"]
    assert found["ends"] == ["slope", "rest"]
    assert "backward, differentiates tanh" in found["tip"]
    assert found["columns"] == [False, False, True, True]


def test_members_lead_to_what_is_inside(tmp_path: Path) -> None:
    script = """await choose("encoder");
      await page.locator(".side section", { hasText: "Members" }).getByRole("button", { name: "gate" }).click();
      const chosen = await page.evaluate(() => trec.graph.nameOf(trec.state.selected));
      return [chosen, await frames(), await page.locator(".side h2").innerText()];"""
    found = play(nested().to_html(depth=1), TITLES + LIT + script, tmp_path)
    assert found == ["encoder.gate", ["encoder"], "encoder.gate"]


def test_the_picture_stays_where_it_is_when_the_panel_opens(tmp_path: Path) -> None:
    script = """const before = await place("decoder");
      await choose("encoder");
      await page.quiet();
      return [before, await place("decoder")];"""
    found = play(nested().to_html(depth=1), TITLES + LIT + script, tmp_path)
    assert found[0] == pytest.approx(found[1])


def test_edges_are_lit_one_after_the_other(tmp_path: Path) -> None:
    script = """await choose("b");
      const seen = [await lit()];
      const more = page.getByRole("button", { name: "One edge more" });
      await more.click();
      seen.push(await lit());
      await more.click();
      await more.click();
      seen.push(await lit());
      await page.getByRole("button", { name: "Downstream" }).click();
      seen.push(await lit());
      await page.getByRole("button", { name: "Upstream" }).click();
      seen.push(await lit());
      return seen;"""
    one, two, every, up, none = play(fork(), LIT + script, tmp_path)
    assert one == ["a > b up", "b > sum down"]
    assert two == ["a > b up", "b > sum down", "sum > y down", "x > a up"]
    assert every == two
    assert up == ["a > b up", "x > a up"]
    assert none is None


def test_brackets_step_along_edges(tmp_path: Path) -> None:
    script = """await choose("b");
      await page.focus("canvas");
      const seen = [];
      for (const key of ["]", "]", "]", "[", "["]) {
        await page.keyboard.press(key);
        seen.push(await page.evaluate(() => trec.graph.nameOf(trec.state.selected)));
      }
      return seen;"""
    assert play(fork(), LIT + script, tmp_path) == ["sum", "y", "y", "sum", "b"]


PATH = """await choose("x");
  await page.getByRole("button", { name: "Find a path from here" }).click();
  await choose(END);
  return [await lit(), await page.locator(".path").innerText(), await page.locator("[aria-live]").innerText()];
"""


@pytest.mark.parametrize("hidden", ["relu", "view"])
def test_all_ways_between_two_nodes_are_lit_and_counted(hidden: str, tmp_path: Path) -> None:
    script = "await page.evaluate(() => trec.change({ views: false }));" + PATH.replace("END", "'sum'")
    wires, text, said = play(fork(hidden), LIT + script, tmp_path)
    through = ["a > b path", "b > sum path"] if hidden == "relu" else ["a > sum path"]
    assert wires == sorted([*through, "c > sum path", "x > a path", "x > c path"])
    assert text == said == "5 nodes are on a path from x to sum."


def test_that_no_path_joins_two_nodes_is_said(tmp_path: Path) -> None:
    script = PATH.replace("END", "'z'").replace('choose("x")', 'choose("sum")')
    wires, text, said = play(fork(), LIT + script, tmp_path)
    assert wires == []
    assert text == said == "No path joins sum and z."


def test_escape_closes_the_panel_and_what_is_lit(tmp_path: Path) -> None:
    script = """await choose("b");
      await page.focus("canvas");
      await page.keyboard.press("Escape");
      return [await lit(), await page.locator(".side").isVisible()];"""
    assert play(fork(), LIT + script, tmp_path) == [None, False]


def test_the_first_crumb_tells_of_the_whole_model(tmp_path: Path) -> None:
    script = """await page.locator(".crumbs button").first().click();
      const chosen = await page.locator("[role=treeitem][aria-selected=true]").count();
      return [await page.locator(".side").innerText(), chosen, await lit()];"""
    text, chosen, lit = play(nested().to_html(depth=1), LIT + script, tmp_path, viewport={"width": 1400, "height": 700})
    assert text.startswith("Nested\n")
    assert "Members · 4" in text
    assert (chosen, lit) == (0, None)


def test_a_click_on_an_edge_goes_to_its_other_end(tmp_path: Path) -> None:
    script = """const click = async (from, to) => {
        const [x, y] = await page.evaluate(([from, to]) => {
          const { picture, routes } = trec.state.scene;
          const box = (name) => trec.boxOf(trec.graph.find(name));
          const wire = picture.wires.findIndex(({ source, target }) => source === box(from) && target === box(to));
          const [[x, y], [toX, toY]] = routes.line(wire);
          const { camera } = trec.state;
          const { left, top } = trec.canvas.getBoundingClientRect();
          return [((x + toX) / 2 - camera.x) * camera.zoom + left, ((y + toY) / 2 - camera.y) * camera.zoom + top];
        }, [from, to]);
        await page.mouse.click(x, y);
        return page.evaluate(() => trec.graph.nameOf(trec.state.selected));
      };
      return [await click("a", "b"), await click("a", "b"), await click("a", "b")];"""
    assert play(fork(), script, tmp_path) == ["a", "b", "a"]
