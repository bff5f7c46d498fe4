"""The state of the page in its address, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import blocks
from tests.html.browser import play
from tests.html.test_page import nested

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.node]

STATE = """const state = () => page.evaluate(() => {
  const { view, camera, selected, colourBy, theme, hits } = trec.state;
  const { width, height } = trec.stage.size;
  const { x, y, zoom } = camera;
  const middle = [x + width / 2 / zoom, y + height / 2 / zoom, zoom].map((length) => Math.round(length * 100) / 100);
  const { state, views } = view;
  return { open: [...view.open], state, views, selected, colourBy, theme, hits: hits.size, middle };
});
"""
ENTER = """const enter = (hash) => page.evaluate((hash) => new Promise((done) => {
  addEventListener("hashchange", done, { once: true });
  location.hash = hash;
}), hash);
"""
CHANGE = """await page.evaluate(async () => {
  await trec.openTo(2);
  trec.change({ state: true });
  trec.store.set({ theme: "dark", colourBy: "class" });
  trec.go(trec.graph.find("decoder"));
});
await page.getByRole("searchbox").fill("op:relu");
await page.quiet();
"""


def test_an_address_brings_back_what_was_seen(tmp_path: Path) -> None:
    page = nested().to_html(depth=1)
    script = f"""const length = await page.evaluate(() => history.length);
      {CHANGE}
      const [hash, grown] = await page.evaluate((length) => [location.hash, history.length - length], length);
      return [await state(), hash, grown];"""
    before, hash_, grown = play(page, STATE + script, tmp_path)
    after = play(page, STATE + "await page.quiet(); return state();", tmp_path, hash=hash_)
    assert before["selected"] >= 0
    assert before["hits"] == 2
    assert before["middle"] == pytest.approx(after["middle"], abs=1)
    assert {**before, "middle": None} == {**after, "middle": None}
    assert grown == 0
    assert "select=decoder" in hash_
    assert len(hash_) < 150


def test_an_address_brings_back_what_is_highlighted(tmp_path: Path) -> None:
    trace = """const trace = () => page.evaluate(() => {
        const { lit } = trec.state;
        return [[...lit.wires.keys()], [...lit.wires.values()], document.querySelector(".side .steps").textContent];
      });"""
    page = nested()
    path = """await page.evaluate(() => trec.select(trec.graph.find("x")));
      await page.getByRole("button", { name: "Find a path" }).click();
      await page.evaluate(() => trec.select(trec.graph.find("decoder")));"""
    steps = """await page.evaluate(() => trec.select(trec.graph.find("decoder")));
      await page.getByRole("button", { name: "Downstream" }).click();
      for (let click = 0; click < 3; click++) await page.getByRole("button", { name: "One edge more" }).click();"""
    for act, way in ((path, "path"), (steps, "up")):
        script = f"{act} await page.quiet(); return [await trace(), await page.evaluate(() => location.hash)];"
        before, hash_ = play(page, trace + script, tmp_path)
        assert set(before[1]) == {way}
        assert play(page, trace + "return trace();", tmp_path, hash=hash_) == before


def test_a_page_as_it_was_at_first_has_no_such_address(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.toggle(trec.graph.find("encoder")));
      await page.quiet();
      const open = await page.evaluate(() => location.hash);
      await page.evaluate(() => { trec.toggle(trec.graph.find("encoder")); trec.fit(); });
      await page.quiet();
      return [open, await page.evaluate(() => location.hash)];"""
    found = play(nested().to_html(depth=1), script, tmp_path)
    assert "open=" in found[0]
    assert found[1] == ""


HASHES = [
    "#open=zz.1.2&at=1_2&select=nobody&colour=nothing&theme=pink&show=xyz&shapes=round",
    "#open=0.99999999&at=NaN_1_1", "#at=1_1_1e99", "#open=-1.5", "#%E0%A4%A", "#find=((", "#open=",
    "#<img src=x onerror=alert(1)>",
    "#select=%00&find=" + "a" * 5000,
]  # fmt: skip


def test_addresses_of_other_pages_do_no_harm(tmp_path: Path) -> None:
    script = f"""const seen = [await state()];
      for (const hash of {HASHES!r}) {{
        await enter(hash);
        await page.quiet();
        seen.push(await state());
      }}
      return seen.map(({{ hits, ...all }}) => all);"""
    first, *others = play(nested().to_html(depth=1), STATE + ENTER + script, tmp_path)
    assert others == [first] * len(HASHES)


def test_an_address_that_is_entered_is_gone_to(tmp_path: Path) -> None:
    script = """await page.evaluate(() => { location.hash = "#select=decoder&theme=dark"; });
      await page.waitForFunction(() => trec.state.selected >= 0);
      return page.evaluate(() => [trec.graph.nameOf(trec.state.selected), trec.state.theme]);"""
    assert play(nested(), script, tmp_path) == ["decoder", "dark"]


MIDDLE = """const middle = () => page.evaluate(() => {
    const { camera: { x, y, zoom } } = trec.state;
    const { width, height } = trec.stage.size;
    return [x + width / 2 / zoom, y + height / 2 / zoom, 100 * zoom].map(Math.round);
  });
  await page.quiet();
"""


def test_the_way_back_leads_through_all_that_was_seen(tmp_path: Path) -> None:
    script = """const seen = [];
      const look = async () => {
        await page.quiet();
        seen.push([await state(), await page.evaluate(() => location.hash)]);
      };
      await look();
      const other = "#select=decoder&theme=dark&find=relu&open=0.3.4&at=100_100_1.000";
      await enter(other);
      await look();
      await page.goBack();
      await page.waitForFunction(() => trec.state.theme === "light");
      await look();
      await page.goForward();
      await page.waitForFunction(() => trec.state.theme === "dark");
      await look();
      return seen;"""
    first, other, back, again = play(nested().to_html(depth=1), STATE + ENTER + script, tmp_path)
    assert other[0]["theme"] != first[0]["theme"]
    assert back == first
    assert again == other


@pytest.mark.parametrize(
    "act",
    [
        "await page.evaluate(() => trec.toggle(trec.graph.find('encoder')));",
        "await page.evaluate(() => { trec.select(trec.graph.find('decoder')); trec.fit(); });",
        "await page.evaluate(() => trec.openTo(null));",
    ],
    ids=["opened", "chosen and all seen", "as much as can be read"],
)
def test_an_address_brings_back_a_look_that_nobody_moved(act: str, tmp_path: Path) -> None:
    page = nested().to_html(depth=1)
    script = f"{act} await page.quiet(); return [await middle(), await page.evaluate(() => location.hash)];"
    before, hash_ = play(page, MIDDLE + script, tmp_path)
    assert play(page, MIDDLE + "return middle();", tmp_path, hash=hash_) == pytest.approx(before, abs=1)


def test_an_address_brings_back_the_look_of_a_narrow_page(tmp_path: Path) -> None:
    look = "#at=100_1000_0.0800"
    found = play(
        nested().to_html(), MIDDLE + "return middle();", tmp_path, hash=look, viewport={"width": 360, "height": 640}
    )
    assert found == pytest.approx([100, 1000, 8], abs=2)


def test_many_open_scopes_are_a_short_address(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.change({ folded: false }));
      await page.evaluate(() => trec.openTo(Infinity));
      await page.quiet();
      return page.evaluate(() => [trec.state.view.open.reduce((sum, bit) => sum + bit, 0), location.hash.length]);"""
    opened, length = play(blocks(300).to_html(depth=1), script, tmp_path)
    assert opened > 300
    assert length < 80
