// The tree beside the canvas: all that is shown and open, as rows of which only those in sight are elements.

import { swatch, element } from "./elements.js";
import { standIn } from "./folding.js";
import { afterFrame } from "./idle.js";
import { rowsOf } from "./rows.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./rows.js").Row} Row */
/** @typedef {import("./types.js").Item} Item */

/** Pixels from row to row, as in the style sheet. */
const HEIGHT = 26;
const BEYOND = 8;
const PATIENCE = 700;

/** The tree of one page. */
class Outline {
  /** @param {App} app @param {HTMLElement} panel */
  constructor(app, panel) {
    this.app = app;
    this.panel = panel;
    this.tree = element("div", { role: "tree", "aria-label": "Modules and operators", class: "tree" });
    this.room = element("div", { role: "presentation", class: "rows" });
    this.tree.append(this.room);
    panel.append(this.tree);
    /** @type {Row[]} */
    this.rows = [];
    /** For each item its row; -1 for none. */
    this.rowOf = new Int32Array(app.graph.count + app.graph.scopeCount);
    /** The row that the focus is on, or comes to. */
    this.current = 0;
    /** The row of what is chosen; -1 for none. */
    this.chosen = -1;
    this.typed = "";
    this.typedAt = 0;
    /** Elements by row. @type {Map<number, HTMLElement>} */
    this.elements = new Map();
    this.tree.addEventListener("scroll", () => this.fill(), { passive: true });
    this.tree.addEventListener("keydown", (event) => this.press(event));
    this.tree.addEventListener("click", (event) => this.click(event));
    new ResizeObserver(() => this.fill()).observe(this.tree);
    /** What has changed since the rows were made. @type {Set<"rows" | "chosen" | "looks">} */
    this.due = new Set();
    const later = afterFrame(() => this.settle());
    const watch = (/** @type {"rows" | "chosen" | "looks"} */ what, /** @type {(keyof import("./types.js").State)[]} */ names) =>
      app.store.watch(names, () => {
        this.due.add(what);
        later();
      });
    watch("rows", ["view", "scene"]);
    watch("chosen", ["selected"]);
    watch("looks", ["theme", "colourBy", "hits"]);
    this.renew();
  }

  /** Make all rows anew. */
  renew() {
    this.due = new Set(["rows", "chosen"]);
    this.settle();
  }

  /** Catch up with what has changed, as far as the tree can be seen. */
  settle() {
    const { due } = this;
    if (!this.isSeen || !due.size) return;
    this.due = new Set();
    if (due.has("rows")) this.rebuild();
    if (due.has("chosen")) this.follow();
    this.refill();
  }

  /** Whether the tree can be seen. */
  get isSeen() {
    return !this.panel.hidden;
  }

  rebuild() {
    const item = this.rows[this.current]?.item ?? -1;
    this.rows = rowsOf(this.app);
    this.rowOf.fill(-1);
    this.rows.forEach((row, at) => (this.rowOf[row.item] = at));
    this.current = Math.max(0, this.nearest(item));
    this.choose();
    this.room.style.height = `${this.rows.length * HEIGHT}px`;
  }

  /** The row of an item, or of the innermost scope around it that has one; -1 for none. @param {Item} item */
  nearest(item) {
    const { graph, state } = this.app;
    item = standIn(graph, state.view, item);
    if (item >= 0 && this.rowOf[item] < 0) {
      const box = this.app.boxOf(item);
      if (box >= 0) item = state.scene.picture.boxes[box];
    }
    while (item >= 0 && this.rowOf[item] < 0) {
      const around = graph.around(item);
      item = around < 0 ? -1 : graph.count + around;
    }
    return item < 0 ? -1 : this.rowOf[item];
  }

  choose() {
    const { selected } = this.app.state;
    this.chosen = this.nearest(selected);
  }

  /** Go along with what was selected elsewhere. */
  follow() {
    this.choose();
    if (this.chosen >= 0) {
      this.current = this.chosen;
      this.scroll();
    }
  }

  scroll() {
    const { tree } = this;
    const top = this.current * HEIGHT;
    if (top < tree.scrollTop) tree.scrollTop = top - HEIGHT;
    else if (top + HEIGHT > tree.scrollTop + tree.clientHeight) tree.scrollTop = top + 2 * HEIGHT - tree.clientHeight;
  }

  refill() {
    const hadFocus = this.tree.contains(document.activeElement);
    for (const made of this.elements.values()) made.remove();
    this.elements.clear();
    this.fill();
    if (hadFocus) this.focus();
  }

  /** Make the elements of the rows in sight, and of the current one. */
  fill() {
    if (!this.isSeen) return;
    const { scrollTop, clientHeight } = this.tree;
    const first = Math.max(0, Math.floor(scrollTop / HEIGHT) - BEYOND);
    const last = Math.min(this.rows.length, Math.ceil((scrollTop + clientHeight) / HEIGHT) + BEYOND);
    const wanted = (/** @type {number} */ at) => (at >= first && at < last) || at === this.current;
    for (const [at, made] of this.elements) {
      if (wanted(at)) continue;
      made.remove();
      this.elements.delete(at);
    }
    const missing = [...this.elements.has(this.current) ? [] : [this.current]];
    for (let at = first; at < last; at++) if (!this.elements.has(at) && at !== this.current) missing.push(at);
    for (const at of missing.sort((one, other) => one - other)) if (this.rows[at]) this.place(at);
  }

  /** Make the element of a row, in the order of rows. @param {number} at */
  place(at) {
    const made = this.make(this.rows[at], at);
    let next = null;
    for (let after = at + 1; after <= at + 2 * BEYOND && !next; after++) next = this.elements.get(after) ?? null;
    next ??= [...this.elements].filter(([other]) => other > at).sort(([one], [other]) => one - other)[0]?.[1] ?? null;
    this.room.insertBefore(made, next);
    this.elements.set(at, made);
  }

  /** @param {Row} row @param {number} at */
  make({ item, level, place, among, opens }, at) {
    const { app } = this;
    const { graph, state } = app;
    const box = app.boxOf(item);
    const { boxes, faces } = state.scene.picture;
    const face = boxes[box] === item ? faces[box] : graph.face(item);
    const made = element("div", {
      role: "treeitem", class: "row", "aria-level": level, "aria-setsize": among, "aria-posinset": place,
      "aria-selected": at === this.chosen, tabindex: at === this.current ? 0 : -1, "data-row": at,
    });
    if (opens) made.setAttribute("aria-expanded", String(app.isOpen(item)));
    made.classList.toggle("hit", state.hits.has(item));
    made.style.top = `${at * HEIGHT}px`;
    made.style.paddingInlineStart = `${(level - 1) * 14 + 4}px`;
    const title = element("bdi", {}, face.title || graph.opOf(item));
    made.append(element("span", { class: opens ? "twist" : "twist none", "aria-hidden": "true" }), swatch(app.stage.paintOf(item)), title);
    if (face.subtitle) made.append(element("small", {}, face.subtitle));
    return made;
  }

  // ---- keys and clicks

  focus() {
    this.elements.get(this.current)?.focus({ preventScroll: true });
  }

  /** Come to a row, and choose what it stands for. @param {number} at */
  go(at) {
    this.current = Math.max(0, Math.min(at, this.rows.length - 1));
    const row = this.rows[this.current];
    if (!row) return;
    this.app.select(row.item);
    this.app.show(row.item);
    this.due.add("chosen");
    this.settle();
    this.focus();
  }

  /** @param {MouseEvent} event */
  click(event) {
    this.settle();
    const made = /** @type {HTMLElement} */ (event.target).closest("[data-row]");
    if (!made) return;
    const at = Number(made.getAttribute("data-row"));
    const onTwist = /** @type {HTMLElement} */ (event.target).classList.contains("twist");
    if (onTwist && this.rows[at].opens) {
      this.current = at;
      this.app.toggle(this.rows[at].item);
      this.focus();
    } else this.go(at);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    this.settle();
    const row = this.rows[this.current];
    if (!row) return;
    const { key } = event;
    const isOpen = row.opens && this.app.isOpen(row.item);
    const page = Math.max(1, Math.floor(this.tree.clientHeight / HEIGHT) - 1);
    const steps = new Map([["ArrowDown", 1], ["ArrowUp", -1], ["PageDown", page], ["PageUp", -page], ["Home", -Infinity], ["End", Infinity]]);
    if (steps.has(key)) this.go(this.current + (steps.get(key) ?? 0));
    else if (key === "ArrowRight" && row.opens) isOpen ? this.go(this.current + 1) : this.toggle(row);
    else if (key === "ArrowLeft") isOpen ? this.toggle(row) : this.go(this.outer());
    else if (key === "Enter" || key === " ") row.opens ? this.toggle(row) : this.app.go(row.item);
    else if (key === "Escape") this.app.select(-1);
    else if (key === "*") this.openBeside(row);
    else if (key.length === 1 && key !== "?" && key !== "/") this.type(key);
    else return;
    event.preventDefault();
  }

  /** @param {Row} row */
  toggle(row) {
    this.app.toggle(row.item);
    this.focus();
  }

  /** Open all scopes around which the same scope is. @param {Row} row */
  openBeside(row) {
    const { graph, state } = this.app;
    const open = state.view.open.slice();
    for (const item of graph.members[graph.around(row.item)]) if (item >= graph.count) open[item - graph.count] = 1;
    this.app.change({ open }, row.item);
    this.focus();
  }

  /** The row around the current one. */
  outer() {
    let at = this.current;
    while (at > 0 && this.rows[at].level >= this.rows[this.current].level) at--;
    return this.rows[at].level < this.rows[this.current].level ? at : this.current;
  }

  /** Go to the next row that begins with what is typed. @param {string} letter */
  type(letter) {
    const now = performance.now();
    const isNew = now - this.typedAt > PATIENCE;
    this.typed = (isNew ? "" : this.typed) + letter.toLowerCase();
    this.typedAt = now;
    const { graph } = this.app;
    for (let step = isNew ? 1 : 0; step < this.rows.length; step++) {
      const at = (this.current + step) % this.rows.length;
      if (graph.face(this.rows[at].item).title.toLowerCase().startsWith(this.typed)) return this.go(at);
    }
  }
}

/** @param {App} app @returns {{ show: () => void } | null} what to call when the panel has been opened */
export function mountOutline(app) {
  /** @type {HTMLElement | null} */
  const panel = app.root.querySelector(".outline");
  if (!panel) return null;
  const outline = new Outline(app, panel);
  return { show: () => outline.renew() };
}
