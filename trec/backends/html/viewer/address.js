// The state of the page in its address, so that it can be shared: only what is not as at first, each part on its own.

import { centred } from "./camera.js";
import { COLOURINGS } from "./colours.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./search.js").Search} Search */
/** @typedef {import("./trace.js").Trace} Trace */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").View} View */

const PAUSE = 300;
/** @type {[keyof View, string][]} */
const SWITCHES = [["state", "p"], ["views", "v"], ["constants", "c"], ["folded", "f"], ["columns", "w"]];

/** Looks that follow the size of the window: as much as can be read, and all of the picture. */
const fits = ["start", "all"];

/** Lengths of runs of equal bits, of zeros first, to the base of 36. @param {Uint8Array} bits */
export function packed(bits) {
  const runs = [];
  let [last, length] = [0, 0];
  for (const bit of bits) {
    if (bit !== last) {
      runs.push(length);
      [last, length] = [bit, 0];
    }
    length++;
  }
  return [...runs, length].map((run) => run.toString(36)).join(".");
}

/** The bits that runs stand for; null if they are not so many. @param {string} text @param {number} count */
export function unpacked(text, count) {
  const bits = new Uint8Array(count);
  let at = 0;
  for (const [index, run] of text.split(".").entries()) {
    if (!/^[0-9a-z]{1,7}$/.test(run)) return null;
    const end = at + parseInt(run, 36);
    if (end > count) return null;
    bits.fill(index % 2, at, end);
    at = end;
  }
  return at === count ? bits : null;
}

/** The name of an item in an address. @param {App} app @param {Item} item -1 for none */
function written({ graph }, item) {
  return item < 0 ? "" : graph.nameOf(item) || ".";
}

/** The item of a name; -1 for none. @param {App} app @param {string | null} name */
function named({ graph }, name) {
  return name === "." ? graph.count : name ? graph.find(name) : -1;
}

/** The parts of the state, as text. @param {App} app @param {Search} search @param {Trace} trace @returns {Map<string, string>} */
function parts(app, search, trace) {
  const { view, camera, colourBy, theme, selected } = app.state;
  const { size } = app.stage;
  const middle = [camera.x + size.width / 2 / camera.zoom, camera.y + size.height / 2 / camera.zoom];
  return new Map([
    ["open", packed(view.open)],
    ["show", SWITCHES.flatMap(([name, letter]) => (view[name] ? [letter] : [])).join("")],
    ["shapes", view.shapes],
    ["colour", colourBy],
    ["theme", theme],
    ["at", app.untouched ? fits[Number(app.whole)] : [...middle.map((length) => Math.round(length)), camera.zoom.toPrecision(4)].join("_")],
    ["select", written(app, selected)],
    ["edges", `${trace.up ? "u" : ""}${trace.down ? "d" : ""}${trace.steps < Infinity ? trace.steps : ""}`],
    ["from", written(app, trace.from)],
    ["to", written(app, trace.to)],
    ["find", search.text],
  ]);
}

/**
 * Take on what an address says: what it says nothing of is as at first; what it says wrongly, or of another graph, is
 * passed over.
 *
 * @param {App} app
 * @param {Search} search
 * @param {Trace} trace
 * @param {Map<string, string>} first
 * @param {URLSearchParams} found
 */
function take(app, search, trace, first, found) {
  const said = (/** @type {string} */ name) => found.get(name) ?? first.get(name) ?? "";
  const theme = said("theme");
  if (theme === "light" || theme === "dark") app.store.set({ theme });
  if (COLOURINGS.has(said("colour"))) app.store.set({ colourBy: said("colour") });
  app.forget();
  const now = parts(app, search, trace);
  if (["open", "show", "shapes"].some((name) => said(name) !== now.get(name))) {
    app.change(viewed(app, said));
    app.fit();
  }
  app.select(named(app, said("select")));
  const [, up, down, steps] = /^(u?)(d?)(\d?)$/.exec(said("edges")) ?? [];
  const ends = { from: named(app, said("from")), to: named(app, said("to")) };
  if (steps !== undefined) trace.set({ up: Boolean(up), down: Boolean(down), steps: Number(steps) || Infinity, ...ends });
  if (said("find") !== search.text) search.find(said("find"));
  look(app, found.get("at") ?? (app.state.selected < 0 ? said("at") : ""));
}

/** What an address says of what is shown. @param {App} app @param {(name: string) => string} said @returns {Partial<View>} */
function viewed({ graph }, said) {
  /** @type {Partial<View>} */
  const change = {};
  const open = unpacked(said("open"), graph.scopeCount);
  if (open) change.open = open;
  const show = said("show");
  if (/^p?v?c?f?w?$/.test(show)) for (const [name, letter] of SWITCHES) Object.assign(change, { [name]: show.includes(letter) });
  const shapes = said("shapes");
  if (shapes === "all" || shapes === "none" || shapes === "changes") change.shapes = shapes;
  return change;
}

/** Look where an address says. @param {App} app @param {string} text */
function look(app, text) {
  if (fits.includes(text)) return app.fit(text === fits[1]);
  const at = text.split("_").map(Number);
  if (at.length !== 3 || !at.every(Number.isFinite) || at[2] < 1e-4 || at[2] > 8) return;
  app.untouched = false;
  app.stage.measure(); // other parts of the page have taken their room since
  app.store.set({ camera: centred({ left: at[0], top: at[1], width: 0, height: 0 }, app.stage.size, at[2]) });
}

/** @param {App} app @param {Search} search @param {Trace} trace */
export function mountAddress(app, search, trace) {
  const first = parts(app, search, trace);
  let last = location.hash;
  let timer = 0;
  const read = () => {
    try {
      take(app, search, trace, first, new URLSearchParams(location.hash.slice(1)));
    } catch (error) {
      if (!(error instanceof URIError)) throw error;
    }
  };
  const write = () => {
    if (location.hash !== last) return; // another one has been entered, and is read next
    // The panel of what is chosen moves the view when it opens, unless the address says where to look.
    const isMoved = (/** @type {string} */ name) => name === "at" && app.state.selected >= 0;
    const changed = [...parts(app, search, trace)].filter(([name, text]) => text !== first.get(name) || isMoved(name));
    const hash = changed.map(([name, text]) => `${name}=${encodeURIComponent(text)}`).join("&");
    if (`#${hash}` === (location.hash || "#")) return;
    try {
      history.replaceState(history.state, "", hash ? `#${hash}` : location.href.split("#")[0]);
      last = location.hash;
    } catch (error) {
      // A page inside another one may have no address of its own.
      if (!(error instanceof DOMException)) throw error;
    }
  };
  if (location.hash.length > 1) read();
  addEventListener("hashchange", () => {
    if (location.hash === last) return;
    last = location.hash;
    read();
  });
  app.store.watch(["view", "camera", "colourBy", "theme", "selected", "hits", "lit"], () => {
    clearTimeout(timer);
    timer = window.setTimeout(write, PAUSE);
  });
}
