// What leads to what: the boxes and wires before and behind a chosen item, edge by edge or to the ends, and the ways between two.

import { standIn } from "./folding.js";
import { within } from "./terms.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Lit} Lit */
/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {"up" | "down" | "path"} Way */

/** The nodes that an item is, is drawn together with or holds, marked. @param {Graph} graph @param {Item} item @param {Picture} [picture] */
export function nodesOf(graph, item, picture) {
  const own = new Uint8Array(item < graph.count ? graph.count : graph.scopeCount);
  if (item >= graph.count) {
    own[item - graph.count] = 1;
    return within(graph, own).nodes;
  }
  for (const node of picture?.together.get(item) ?? [item]) own[node] = 1;
  return own;
}

/** The marked nodes and all that are reached from them along or against the flow. @param {Graph} graph @param {Uint8Array} starts @param {boolean} up */
export function reached(graph, starts, up) {
  const found = starts.slice();
  const { firstOutput, firstReader, readers, producer } = graph;
  const todo = [];
  for (let node = 0; node < graph.count; node++) if (found[node]) todo.push(node);
  const visit = (/** @type {number} */ node) => {
    if (!found[node]) todo.push(node);
    found[node] = 1;
  };
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    if (up) for (const value of graph.inputsOf(node)) visit(producer[value]);
    else for (let at = firstReader[firstOutput[node]]; at < firstReader[firstOutput[node + 1]]; at++) visit(readers[at]);
  }
  return found;
}

/** The nodes on any way from one item to another, both among them; null if there is none. @param {Graph} graph @param {Picture} picture @param {Item} from @param {Item} to */
export function between(graph, picture, from, to) {
  const [starts, ends] = [nodesOf(graph, from, picture), nodesOf(graph, to, picture)];
  const down = reached(graph, starts, false);
  if (!ends.some((end, node) => end && down[node] && !starts[node])) return null;
  const up = reached(graph, ends, true);
  return down.map((bit, node) => bit & up[node]);
}

/** @type {WeakMap<Picture, Map<number, number[]>>} */
const joined = new WeakMap();

/** The wires of a picture by source and target. @param {Picture} picture */
function wiresBetween(picture) {
  let found = joined.get(picture);
  if (found) return found;
  joined.set(picture, (found = new Map()));
  for (const [wire, { source, target }] of picture.wires.entries()) {
    const key = source * picture.boxes.length + target;
    const known = found.get(key);
    if (known) known.push(wire);
    else found.set(key, [wire]);
  }
  return found;
}

/**
 * Light the boxes of marked nodes, and the wires by which one is used by another, unless both are where the way starts.
 *
 * @param {App} app
 * @param {Uint8Array} marked
 * @param {Way} way
 * @param {Lit} lit
 * @param {Uint8Array} [starts]
 */
function light(app, marked, way, lit, starts) {
  const { graph, state } = app;
  const { picture } = state.scene;
  const wires = wiresBetween(picture);
  const boxOf = (/** @type {number} */ node) => picture.boxOf(standIn(graph, state.view, node));
  /** Boxes that are seen through hidden nodes. @type {Map<number, number[]>} */
  const passed = new Map();
  /** @param {number} node @returns {number[]} */
  const origins = (node) => {
    const box = boxOf(node);
    if (box >= 0) return [box];
    let found = passed.get(node);
    if (found) return found;
    passed.set(node, (found = []));
    for (const value of graph.inputsOf(node)) if (marked[graph.producer[value]]) found.push(...origins(graph.producer[value]));
    return found;
  };
  for (let node = 0; node < graph.count; node++) {
    const target = marked[node] ? boxOf(node) : -1;
    if (target < 0) continue;
    if (!lit.boxes.has(target)) lit.boxes.set(target, way);
    for (const value of graph.inputsOf(node)) {
      if (!marked[graph.producer[value]] || (starts?.[node] && starts[graph.producer[value]])) continue;
      for (const source of origins(graph.producer[value]))
        for (const wire of wires.get(source * picture.boxes.length + target) ?? []) lit.wires.set(wire, way);
    }
  }
}

/** The boxes that an item is drawn as. @param {App} app @param {Item} item @returns {Set<number>} */
function boxesOf(app, item) {
  const box = app.boxOf(item);
  if (box >= 0 || item < app.graph.count) return new Set(box < 0 ? [] : [box]);
  const { view, scene } = app.state;
  const { picture } = scene;
  const own = picture.frameOf(standIn(app.graph, view, item) - app.graph.count);
  const inside = picture.frames.map(() => false);
  picture.outer.forEach((outer, frame) => (inside[frame] = frame === own || (outer >= 0 && inside[outer])));
  return new Set([...picture.boxes.keys()].filter((at) => inside[picture.around[at]]));
}

/** Light so many edges from boxes. @param {Picture} picture @param {Set<number>} starts @param {number} steps @param {Way} way @param {Lit} lit */
function lightSteps(picture, starts, steps, way, lit) {
  const seen = new Set(starts);
  let edge = seen;
  for (let step = 0; step < steps && edge.size; step++) {
    /** @type {Set<number>} */
    const next = new Set();
    picture.wires.forEach(({ source, target }, wire) => {
      const [near, far] = way === "up" ? [target, source] : [source, target];
      if (!edge.has(near) || starts.has(far)) return;
      lit.wires.set(wire, way);
      if (!seen.has(far)) next.add(far);
    });
    for (const box of next) {
      seen.add(box);
      if (!lit.boxes.has(box)) lit.boxes.set(box, way);
    }
    edge = next;
  }
}

/** What is highlighted of a page, and why. */
export class Trace {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.up = true;
    this.down = true;
    /** Edges to go from the chosen item; infinitely many for all. */
    this.steps = 1;
    /** Where ways begin; -1 for none. @type {Item} */
    this.from = -1;
    /** Where they are to end; -1 for none. @type {Item} */
    this.to = -1;
    /** @type {Set<() => void>} */
    this.watchers = new Set();
    app.store.watch(["selected"], () => {
      if (this.from >= 0 && app.state.selected >= 0 && app.state.selected !== this.from) this.to = app.state.selected;
      this.show();
    });
    app.store.watch(["scene"], () => this.show());
  }

  /** @param {Partial<Pick<Trace, "up" | "down" | "steps" | "from" | "to">>} parts */
  set(parts) {
    Object.assign(this, parts);
    this.show();
    for (const tell of this.watchers) tell();
  }

  /** The nodes on the ways between the two chosen ends, in either direction; null if there is none. */
  ways() {
    const { graph, state } = this.app;
    if (this.from < 0 || this.to < 0) return null;
    const { picture } = state.scene;
    const ahead = between(graph, picture, this.from, this.to);
    if (ahead) return { nodes: ahead, from: this.from, to: this.to };
    const back = between(graph, picture, this.to, this.from);
    return back && { nodes: back, from: this.to, to: this.from };
  }

  /** Highlight what is to be. */
  show() {
    const { app } = this;
    const { graph, state } = app;
    /** @type {Lit} */
    const lit = { boxes: new Map(), wires: new Map(), dims: this.steps > 1 || this.to >= 0 };
    if (this.from >= 0 && this.to >= 0) {
      const ways = this.ways();
      if (ways) light(app, ways.nodes, "path", lit);
      for (const end of [this.from, this.to]) for (const box of boxesOf(app, end)) lit.boxes.set(box, "path");
    } else if (state.selected >= 0 && (this.up || this.down)) {
      const starts = boxesOf(app, state.selected);
      for (const box of starts) lit.boxes.set(box, "path");
      for (const way of /** @type {const} */ (["up", "down"])) {
        if (!this[way]) continue;
        if (this.steps === Infinity) {
          const nodes = nodesOf(graph, state.selected, state.scene.picture);
          light(app, reached(graph, nodes, way === "up"), way, lit, nodes);
        } else lightSteps(state.scene.picture, starts, this.steps, way, lit);
      }
    }
    app.store.set({ lit: lit.wires.size || this.to >= 0 ? lit : null });
  }

  /** Go one edge on, to a box that the chosen one reads or that reads it. @param {Way} way */
  step(way) {
    const { app } = this;
    const { picture } = app.state.scene;
    const starts = boxesOf(app, app.state.selected);
    const wire = picture.wires.find(({ source, target }) => starts.has(way === "up" ? target : source) && !starts.has(way === "up" ? source : target));
    if (!wire) return app.announce(way === "up" ? "Nothing leads here" : "Nothing reads this");
    const item = picture.boxes[way === "up" ? wire.source : wire.target];
    app.select(item);
    app.show(item);
  }
}

/** @param {App} app @returns {Trace} */
export function mountTrace(app) {
  const trace = new Trace(app);
  app.canvas.addEventListener("keydown", ({ key }) => {
    if (key === "[" || key === "]") trace.step(key === "[" ? "up" : "down");
    else if (key === "Escape") trace.set({ from: -1, to: -1 });
  });
  return trace;
}
