// What can be done with a graph on a page: open and close, choose and look, each in one place for all parts of the page.

import { begun, centred, EDGE, fitted, moved, pixelAt, pointAt, uncovered } from "./camera.js";
import { standIn } from "./folding.js";
import { Foresight } from "./foresight.js";
import { bySteps } from "./idle.js";
import { deepest, LEAST, openTo, readable } from "./opening.js";
import { canOpen } from "./content.js";
import { boxIn, placeIn, rectangle } from "./places.js";
import { compose, composing } from "./scene.js";
import { Stage } from "./stage.js";
import { Store } from "./store.js";
import { commonName } from "./terminals.js";

/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./camera.js").Rect} Rect */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Scene} Scene */
/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").View} View */

/** Boxes from which on a change is made in steps. */
const MANY = 4000;

/** A graph on a page. */
export class App {
  /** @param {Graph} graph @param {HTMLElement} root what holds all of the page, and the canvas among it */
  constructor(graph, root) {
    this.graph = graph;
    this.root = root;
    const canvas = root.querySelector("canvas");
    if (!canvas) throw new Error("the page has no canvas");
    this.canvas = canvas;
    const { options } = graph.data;
    const { view, scene } = firstScene(graph, { width: canvas.clientWidth, height: canvas.clientHeight });
    const theme = options.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    /** @type {State} */
    const state = {
      view,
      theme,
      colourBy: graph.diff && options.colours === "family" ? "change" : options.colours,
      selected: -1,
      hovered: -1,
      lit: null,
      hits: new Set(),
      scene,
      camera: { x: 0, y: 0, zoom: 1 },
    };
    this.store = new Store(state);
    this.stage = new Stage(this, canvas);
    this.foresight = new Foresight(this);
    /** What is to be changed of the view, and what makes the scene for that; null for nothing. @type {{ parts: Partial<View>, steps: ReturnType<typeof composing> } | null} */
    this.coming = null;
    /** The scopes that are to be opened or closed with that. @type {Set<Item>} */
    this.turning = new Set();
    /** Whether the view has not been moved yet, so that it follows the size of the window. */
    this.untouched = true;
    /** Whether all of the picture is shown then. */
    this.whole = options.depth !== null;
    this.fit(this.whole);
  }

  /** @returns {State} */
  get state() {
    return this.store.state;
  }

  /** @returns {import("./types.js").Theme} */
  get theme() {
    return this.graph.data.themes[this.state.theme];
  }

  // ---- what is seen

  /** Show all of the picture. @param {boolean} [whole] if not, no more of it than can be read, from where it begins */
  fit(whole = true) {
    const { scene } = this.state;
    this.untouched = true;
    this.whole = whole;
    this.store.set({ camera: begun(scene, rectangle(scene.places, 0), this.stage.size, whole ? 0 : LEAST) });
  }

  /** Show all of the picture, on a way that can be followed. */
  seeAll() {
    const from = this.state.camera;
    this.fit();
    this.stage.move(null, from);
  }

  /** Bring an item into the middle, near enough to be read. @param {Item} item */
  lookAt(item) {
    const rect = this.placeOf(item);
    if (!rect) return;
    const { size } = this.stage;
    const nearest = fitted(rect, size);
    const zoom = Math.min(nearest.zoom, Math.max(this.state.camera.zoom, 1));
    this.untouched = false;
    this.glide(centred(rect, size, zoom));
  }

  /** Take a look from elsewhere, on a way that can be followed. @param {Camera} camera */
  glide(camera) {
    const from = this.state.camera;
    this.store.set({ camera });
    this.stage.move(null, from);
  }

  /** Take on the size that the page gives, and keep in sight what was, an item first of all. @param {Item} item */
  makeRoom(item) {
    const before = this.stage.size;
    this.untouched = false;
    this.stage.measure();
    const { scene, camera } = this.state;
    this.glide(uncovered(camera, scene, before, this.stage.size));
    this.show(item);
  }

  /** Move the view as little as shows all of an item. @param {Item} item */
  show(item) {
    const rect = this.placeOf(item);
    if (!rect) return;
    const { camera } = this.state;
    const { width, height } = this.stage.size;
    const start = pixelAt(camera, rect.left, rect.top);
    const end = pixelAt(camera, rect.left + rect.width, rect.top + rect.height);
    const x = Math.max(EDGE - start.x, 0) || Math.min(width - EDGE - end.x, 0);
    const y = Math.max(EDGE - start.y, 0) || Math.min(height - EDGE - end.y, 0);
    if (x || y) this.glide(moved(camera, x, y));
  }

  /** The item at a pixel of the canvas: a box, else a frame; -1 for none. @param {number} x @param {number} y @returns {Item} */
  itemAt(x, y) {
    const { scene, camera } = this.state;
    const point = pointAt(camera, x, y);
    let found = -1;
    const { boxes, frames } = scene.picture;
    scene.frameIndex.within(point.x, point.y, point.x, point.y, (frame) => (found = this.graph.count + frames[frame]));
    scene.boxIndex.within(point.x, point.y, point.x, point.y, (box) => (found = boxes[box]));
    return found;
  }

  /** The box that an item is drawn as or in; -1 if it is a frame or hidden. @param {Item} item */
  boxOf(item) {
    return boxIn(this.graph, this.state, item);
  }

  /** What is seen of an item: the box that it is drawn as or in, or the open scope that it is. @param {Item} item @returns {Item} */
  seenAs(item) {
    const { scene, view } = this.state;
    return scene.picture.boxes[this.boxOf(item)] ?? standIn(this.graph, view, item);
  }

  /** Where an item is, or what it is closed in; null if it is hidden. @param {Item} item @returns {Rect | null} */
  placeOf(item) {
    return placeIn(this.graph, this.state, item);
  }

  // ---- what is open

  /** Whether an item is a scope that can be opened or closed. @param {Item} item */
  isModule(item) {
    return item > this.graph.count && canOpen(this.graph, this.state.view, item - this.graph.count);
  }

  /** @param {Item} item a scope */
  isOpen(item) {
    return this.state.view.open[item - this.graph.count] === 1;
  }

  /** Open a closed scope, or close an open one, in place; where much is shown, as soon as that is made. @param {Item} item */
  toggle(item) {
    if (!this.isModule(item)) return;
    const { scene: old, view } = this.state;
    const ready = this.foresight.sceneOf(item);
    const boxes = old.picture.boxes.length + this.graph.members[item - this.graph.count].length;
    if (this.turning.size || (!ready && boxes > MANY)) {
      const isBack = this.turning.delete(item);
      if (!isBack) this.turning.add(item);
      const open = (this.coming?.parts.open ?? view.open).slice();
      const scope = item - this.graph.count;
      open[scope] = isBack ? view.open[scope] : 1 - view.open[scope];
      this.become({ open }, item);
      return;
    }
    const { open } = this.foresight.view(item);
    this.turn({ open }, ready, item);
    this.foresight.keep(item, old);
  }

  /** Open all scopes with fewer modules around them than a depth; null for what can be read at once. @param {number | null} depth */
  async openTo(depth) {
    const { graph, state } = this;
    const open = depth === null ? readable(graph, state.view, this.stage.size) : openTo(graph, depth);
    this.turning.clear();
    if (await this.become({ open })) this.fit(depth !== null);
  }

  /** The greatest depth that can be opened to. */
  get deepest() {
    return deepest(this.graph);
  }

  /** Open all that an item is in, so that it is shown. @param {Item} item */
  reveal(item) {
    const { graph } = this;
    const { view } = this.state;
    const open = view.open.slice();
    let changed = false;
    for (let scope = graph.around(item); scope > 0; scope = graph.scopeParent[scope]) {
      const own = standIn(graph, view, graph.count + scope) - graph.count;
      changed ||= !open[own];
      open[own] = 1;
    }
    if (changed) this.change({ open });
  }

  /** Change what is shown. @param {Partial<View>} parts @param {Item} [anchor] what stays in its place on the screen */
  change(parts, anchor) {
    this.turn(parts, undefined, anchor);
  }

  /**
   * Change what is shown as `change` does, but so that the page answers meanwhile, which matters where all is open.
   *
   * @param {Partial<View>} parts
   * @param {Item} [anchor]
   * @returns {Promise<boolean>} whether it is shown now; if not, the same was changed in another way, or with something else
   */
  async become(parts, anchor) {
    const before = this.state.view;
    const all = { ...this.coming?.parts, ...parts };
    this.coming?.steps.return(this.state.scene);
    const coming = (this.coming = { parts: all, steps: composing(this.graph, { ...before, ...all }) });
    const scene = await bySteps(coming.steps);
    if (this.coming !== coming) return false;
    this.coming = null;
    if (this.state.view !== before) return this.become(coming.parts, anchor);
    this.turn(coming.parts, scene, anchor);
    return true;
  }

  /** Let nothing come any more that was to be changed. */
  forget() {
    this.turning.clear();
    this.coming?.steps.return(this.state.scene);
    this.coming = null;
  }

  /**
   * Leave what is to come to be made anew, without parts that are changed before it is there; of what is to be open,
   * without the scopes that are opened or closed before.
   *
   * @param {Partial<View>} changed
   */
  #withdraw(changed) {
    if (!this.coming) return this.turning.clear();
    const { parts, steps } = this.coming;
    const { open } = this.state.view;
    const merged = changed.open && parts.open?.map((bit, scope) => (changed.open?.[scope] === open[scope] ? bit : 1 - open[scope]));
    for (const name of /** @type {(keyof View)[]} */ (Object.keys(changed))) delete parts[name];
    if (merged) parts.open = merged;
    steps.return(this.state.scene);
    if (!Object.keys(parts).length) this.coming = null;
  }

  /** Change what is shown. @param {Partial<View>} parts @param {Scene} [scene] that of the view with these parts @param {Item} [anchor] what stays in its place on the screen */
  turn(parts, scene, anchor = -1) {
    const view = { ...this.state.view, ...parts };
    const before = anchor < 0 ? null : this.placeOf(anchor);
    scene ??= compose(this.graph, view);
    const { scene: old, camera } = this.state;
    this.#withdraw(parts);
    const after = anchor < 0 ? null : placeIn(this.graph, { scene, view }, anchor);
    const held = { ...camera };
    if (before && after) {
      this.untouched = false;
      // What grows along the flow begins where it was, and grows across it to both sides.
      const [across, along] = scene.sideways ? [0, 0.5] : [0.5, 0];
      held.x += after.left - before.left + across * (after.width - before.width);
      held.y += after.top - before.top + along * (after.height - before.height);
    }
    this.store.set({ view, scene, camera: held, lit: null });
    this.stage.move(old, camera);
  }

  // ---- what is chosen

  /** The inputs or outputs that are drawn in the box of an item. @param {Item} item */
  together(item) {
    return this.state.scene.picture.together.get(item);
  }

  /** What is called so on the page. @param {Item} item */
  nameOf(item) {
    const all = this.together(item);
    return (all ? commonName(this.graph, all) : this.graph.nameOf(item)) || this.graph.title;
  }

  /** @param {Item} item -1 for none */
  select(item) {
    this.store.set({ selected: item });
  }

  /** Show an item wherever it is, and choose it. @param {Item} item */
  go(item) {
    this.reveal(item);
    this.select(item);
    this.lookAt(item);
  }

  /** Say something to those who listen rather than look. @param {string} text */
  announce(text) {
    const live = this.root.querySelector("[aria-live]");
    if (live) live.textContent = text;
  }
}

/** What is shown at first. @param {Graph} graph @param {{ width: number, height: number }} size of the canvas */
function firstScene(graph, size) {
  const { options } = graph.data;
  /** @type {View} */
  const view = {
    open: new Uint8Array(graph.scopeCount),
    folded: options.fold,
    state: options.params,
    constants: true,
    views: true,
    columns: options.wrap > 0,
    shapes: options.shapes,
  };
  view.open = options.depth === null ? readable(graph, view, size) : openTo(graph, options.depth);
  return { view, scene: compose(graph, view) };
}
