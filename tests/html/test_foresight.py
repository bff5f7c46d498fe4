"""What the page makes ready before a click, and what it does while something large is opened, in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.backends.samples import blocks
from tests.html.browser import play
from tests.html.test_page import TITLES, nested

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.browser, pytest.mark.node]

READY = """const ready = () => page.waitForFunction(() => trec.foresight.known.size > 0 && !trec.foresight.isAtWork);
const known = () => page.evaluate(() => [...trec.foresight.known.keys()].map((item) => trec.graph.nameOf(item)));
"""


def test_a_click_shows_what_was_made_ready_and_that_is_what_it_would_make(tmp_path: Path) -> None:
    script = """await ready();
      return [await known(), await page.evaluate(() => {
        const item = trec.graph.find("decoder");
        const made = trec.foresight.known.get(item);
        const places = () => [...trec.state.scene.places, ...trec.state.scene.frames];
        trec.toggle(item);
        const shown = [trec.state.scene === made, places()];
        trec.change({});
        return [shown[0], trec.state.scene === made, String(shown[1]) === String(places())];
      })];"""
    found = play(nested().to_html(depth=1), READY + script, tmp_path)
    assert found == [["encoder", "decoder"], [True, False, True]]


def test_a_second_click_leads_back_to_the_scene_that_was(tmp_path: Path) -> None:
    script = """return page.evaluate(() => {
        const { scene } = trec.state;
        const item = trec.graph.find("decoder");
        trec.toggle(item);
        const other = trec.state.scene;
        trec.toggle(item);
        return [other === scene, trec.state.scene === scene];
      });"""
    assert play(nested().to_html(depth=1), script, tmp_path) == [False, True]


def test_what_was_made_ready_for_another_view_is_not_shown(tmp_path: Path) -> None:
    script = """await ready();
      await page.evaluate(() => {
        trec.change({ folded: false });
        trec.toggle(trec.graph.find("layers.1"));
      });
      return frames();"""
    assert play(blocks(4).to_html(depth=1), READY + TITLES + script, tmp_path) == ["layers.1"]


def test_what_is_opened_while_a_depth_is_coming_is_opened_at_once_and_the_depth_follows(tmp_path: Path) -> None:
    script = """return page.evaluate(async () => {
        const titles = () => trec.state.scene.picture.titles.map((face) => face.title);
        const seen = [];
        for (const name of ["decoder", "encoder"]) {
          const all = trec.openTo(Infinity);
          trec.toggle(trec.graph.find(name));
          seen.push(titles());
          await all;
          seen.push(titles());
        }
        return seen;
      });"""
    every = ["encoder", "act", "gate", "decoder", "act", "gate"]
    found = play(nested().to_html(depth=1), TITLES + script, tmp_path)
    assert found == [["decoder"], every, every[3:], every[3:]]


def test_an_address_is_obeyed_though_a_depth_is_coming(tmp_path: Path) -> None:
    script = """return page.evaluate(async () => {
        const all = trec.openTo(Infinity);
        location.hash = "#show=pc";
        dispatchEvent(new Event("hashchange"));
        await all;
        return [trec.state.view.state, trec.state.scene.picture.titles.length];
      });"""
    assert play(nested().to_html(depth=1), script, tmp_path) == [True, 0]


def test_what_is_changed_one_after_the_other_is_all_changed(tmp_path: Path) -> None:
    script = """return page.evaluate(async () => {
        const done = await Promise.all([trec.become({ state: true }), trec.openTo(3), trec.become({ shapes: "none" })]);
        const { open, state, shapes } = trec.state.view;
        return [done, open.reduce((sum, bit) => sum + bit, 0), state, shapes];
      });"""
    found = play(nested().to_html(depth=1), script, tmp_path)
    assert found == [[False, None, True], 7, True, "none"]


def test_what_is_opened_while_something_is_switched_is_opened_at_once_and_the_switch_follows(tmp_path: Path) -> None:
    script = """return page.evaluate(async () => {
        const seen = () => [trec.state.scene.picture.titles.map((face) => face.title), trec.state.view.columns];
        const box = document.querySelector("[data-view=columns]");
        box.click();
        trec.toggle(trec.graph.find("decoder"));
        const soon = [...seen(), box.checked];
        await new Promise((done) => trec.store.watch(["view"], done));
        const { places } = trec.state.scene;
        const later = [...seen(), box.checked];
        trec.change({});
        return [soon, later, String(places) === String(trec.state.scene.places)];
      });"""
    found = play(nested().to_html(depth=1), script, tmp_path)
    assert found == [[["decoder"], False, True], [["decoder"], True, True], True]


def test_the_page_answers_while_much_is_opened(tmp_path: Path) -> None:
    script = """return page.evaluate(async () => {
        trec.change({ folded: false });
        let answers = 0;
        const { port1, port2 } = new MessageChannel();
        port2.onmessage = () => port1.postMessage(++answers);
        port1.onmessage = () => port2.postMessage(0);
        port1.postMessage(0);
        await trec.openTo(Infinity);
        const { length } = trec.state.scene.picture.boxes;
        port1.close();
        return [length, answers > 0];
      });"""
    boxes, answered = play(blocks(6000).to_html(depth=1), script, tmp_path)
    assert boxes > 6000
    assert answered


def test_modules_are_opened_and_closed_among_many_boxes_while_the_page_answers(tmp_path: Path) -> None:
    script = """return page.evaluate(async () => {
        const item = (at) => trec.graph.find(`layers.${at}`);
        const seen = () => [7, 8, 9].map((at) => trec.isOpen(item(at)));
        const shown = () => new Promise((done) => trec.store.watch(["view"], done));
        trec.change({ folded: false });
        for (const at of [7, 8, 9, 9]) trec.toggle(item(at));
        const soon = seen();
        await shown();
        const later = seen();
        trec.toggle(item(7));
        await shown();
        const last = seen();
        trec.openTo(Infinity);
        trec.toggle(item(8));
        await shown();
        return [soon, later, last, seen()];
      });"""
    found = play(blocks(5000).to_html(depth=1), script, tmp_path)
    assert found == [[False, False, False], [True, True, False], [False, True, False], [True, False, True]]


def test_what_is_kept_of_earlier_pictures_does_not_grow_without_end(tmp_path: Path) -> None:
    script = """await page.evaluate(() => trec.become({ folded: false }));
      await page.evaluate(() => {
        globalThis.seen = new Set();
        for (let at = 0; at < 200; at++) {
          const layer = trec.graph.find(`layers.${at}`);
          trec.toggle(layer);
          const { scene } = trec.state;
          for (const part of [scene, scene.picture, scene.places]) seen.add(new WeakRef(part));
          trec.toggle(layer);
        }
      });
      await page.quiet();
      const tools = await page.context().newCDPSession(page);
      await tools.send("HeapProfiler.collectGarbage");
      return page.evaluate(() => [seen.size, [...seen].filter((part) => part.deref()).length]);"""
    seen, kept = play(blocks(300).to_html(depth=1), script, tmp_path)
    assert seen == 600
    assert 0 < kept < 20
