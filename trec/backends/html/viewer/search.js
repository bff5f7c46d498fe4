// The field to search in: hits are counted, ringed on the picture, and gone through one by one.

import { button, element, sign } from "./elements.js";
import { rehearse } from "./idle.js";
import { QueryError } from "./query.js";
import { containing, isPlain, selected, whyNothing } from "./selection.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./terms.js").Masks} Masks */

const PAUSE = 120;
const HINT = "Find a name, operator, shape or class, or what a selector such as op:conv* and in:encoder selects; in a selector, names with spaces stand in quotes";

/**
 * What is gone through of what a search found, in program order: nothing that lies in another hit. A scope is one where
 * all in it was found as well, or, unless the search says what is not to be found, nothing in it.
 *
 * @param {Graph} graph
 * @param {Masks} found
 * @param {boolean} isNegative whether the search says what is not to be found
 * @returns {Item[]}
 */
export function stops(graph, { nodes, scopes }, isNegative) {
  const all = new Int32Array(graph.scopeCount);
  const hits = new Int32Array(graph.scopeCount);
  for (let node = 0; node < graph.count; node++) {
    all[graph.parent[node]]++;
    hits[graph.parent[node]] += nodes[node];
  }
  for (let scope = graph.scopeCount - 1; scope > 0; scope--) {
    all[graph.scopeParent[scope]] += all[scope];
    hits[graph.scopeParent[scope]] += hits[scope];
  }
  /** For each scope, the outermost hit that it is in or is; -1 for none. */
  const outermost = new Int32Array(graph.scopeCount).fill(-1);
  for (let scope = 1; scope < graph.scopeCount; scope++) {
    outermost[scope] = outermost[graph.scopeParent[scope]];
    const isWhole = hits[scope] === all[scope] || (!hits[scope] && !isNegative);
    if (outermost[scope] < 0 && scopes[scope] && isWhole) outermost[scope] = scope;
  }
  const met = new Uint8Array(graph.scopeCount);
  /** @type {Item[]} */
  const items = [];
  for (let node = 0; node < graph.count; node++) {
    const scope = outermost[graph.parent[node]];
    if (scope < 0) {
      if (nodes[node]) items.push(node);
    } else if (!met[scope]) {
      met[scope] = 1;
      items.push(graph.count + scope);
    }
  }
  return items;
}

/** What is drawn of an item: itself, or what reads it or is read by it where it is hidden. @param {App} app @param {Item} item @returns {Item} */
export function drawn(app, item) {
  const { graph } = app;
  if (item >= graph.count || app.boxOf(item) >= 0) return item;
  const { firstReader, firstOutput, readers } = graph;
  const near = [...readers.subarray(firstReader[firstOutput[item]], firstReader[firstOutput[item + 1]])];
  return [...near, ...[...graph.inputsOf(item)].map((value) => graph.producer[value])].find((other) => app.boxOf(other) >= 0) ?? item;
}

/** The search of one page. */
export class Search {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.text = "";
    /** @type {Item[]} */
    this.items = [];
    this.at = -1;
    this.timer = 0;
    this.input = element("input", {
      type: "search", "aria-label": HINT, title: HINT, placeholder: "Search", spellcheck: "false", autocomplete: "off", "aria-describedby": "fault",
      input: () => this.wait(), keydown: (/** @type {KeyboardEvent} */ event) => this.press(event),
    });
    this.count = element("span", { class: "count" });
    this.fault = element("div", { class: "fault", id: "fault", hidden: true });
    this.steps = [
      button(sign("M4 10l4-4 4 4"), "Previous hit (Shift Enter)", () => this.step(-1)),
      button(sign("M4 6l4 4 4-4"), "Next hit (Enter)", () => this.step(1)),
    ];
    this.form = element("div", { role: "search", class: "search" }, this.input, this.count, ...this.steps, this.fault);
    app.store.watch(["scene"], () => this.ring());
    this.tell("");
    rehearse(() => stops(app.graph, containing(app.graph, "0.0"), false));
  }

  wait() {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.find(this.input.value), PAUSE);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      if (this.text !== this.input.value.trim()) this.find(this.input.value);
      this.step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape") {
      event.stopPropagation();
      this.input.value = "";
      this.find("");
      this.app.canvas.focus();
    }
  }

  /** Search for a text. @param {string} text */
  find(text) {
    clearTimeout(this.timer);
    this.text = text.trim();
    if (this.input.value.trim() !== this.text) this.input.value = this.text;
    this.at = -1;
    this.items = [];
    let fault = "";
    if (this.text) {
      try {
        const { graph } = this.app;
        const found = isPlain(this.text) ? containing(graph, this.text) : selected(graph, this.text);
        this.items = stops(graph, found, /(^|[\s(])not\s/.test(this.text));
        if (!this.items.length) fault = isPlain(this.text) ? "Nothing found" : `Nothing found${whyNothing(graph, this.text)}`;
      } catch (error) {
        if (!(error instanceof QueryError)) throw error;
        fault = error.message;
      }
    }
    this.ring();
    this.tell(fault);
  }

  /** Say what was found. @param {string} fault */
  tell(fault) {
    const { length } = this.items;
    this.count.textContent = !length ? "" : this.at < 0 ? `${length}` : `${this.at + 1} / ${length}`;
    for (const step of this.steps) step.hidden = !length;
    this.fault.textContent = fault;
    this.fault.hidden = !fault;
    this.input.setAttribute("aria-invalid", String(Boolean(fault)));
    if (!this.text) return;
    const all = `${length} ${length === 1 ? "hit" : "hits"}`;
    const one = () => `Hit ${this.at + 1} of ${length}: ${this.app.graph.nameOf(this.items[this.at])}`;
    this.app.announce(fault || (this.at < 0 ? all : one()));
  }

  /** Ring what is drawn of the hits. */
  ring() {
    const { app } = this;
    const { picture } = app.state.scene;
    /** @type {Set<Item>} */
    const hits = new Set();
    for (const item of this.items) {
      const seen = drawn(app, item);
      const box = app.boxOf(seen);
      if (box >= 0) hits.add(picture.boxes[box]);
      else if (app.placeOf(seen)) hits.add(seen);
    }
    if (hits.size || app.state.hits.size) app.store.set({ hits });
  }

  /** Go to a hit beside the present one. @param {1 | -1} way */
  step(way) {
    const { app, items } = this;
    if (!items.length) return;
    this.at = this.at < 0 && way < 0 ? items.length - 1 : (this.at + way + items.length) % items.length;
    const item = items[this.at];
    app.reveal(item);
    app.select(item);
    app.lookAt(drawn(app, item));
    this.tell("");
  }
}
