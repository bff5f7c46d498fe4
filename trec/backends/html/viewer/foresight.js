// What the next click needs, made ready while nothing else is to be done: scenes in which one more scope is open.

import { afterFrame, whenIdle } from "./idle.js";
import { composing } from "./scene.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Scene} Scene */
/** @typedef {import("./types.js").View} View */

/** Scenes that are kept at most. */
const MANY = 24;
/** Boxes that all of them together have at most; more would take long, and much room. */
const MOST = 20000;

/** The scenes that are one click away. */
export class Foresight {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** The scene from which they are one click away. */
    this.scene = app.state.scene;
    /** Scenes by the scope that is opened or closed. @type {Map<Item, Scene>} */
    this.known = new Map();
    /** What is being made. @type {{ item: Item, steps: ReturnType<typeof composing> } | null} */
    this.making = null;
    this.isAtWork = false;
    app.store.watch(["scene", "camera", "hovered"], afterFrame(() => this.prepare()));
    this.prepare();
  }

  /** The view in which a scope is open that is closed, or closed if it is open. @param {Item} item @returns {View} */
  view(item) {
    const { view } = this.app.state;
    const open = view.open.slice();
    open[item - this.app.graph.count] ^= 1;
    return { ...view, open };
  }

  /** The scene of that view, if it is ready. @param {Item} item @returns {Scene | undefined} */
  sceneOf(item) {
    return this.scene === this.app.state.scene ? this.known.get(item) : undefined;
  }

  /** Keep the scene that a click on a scope has left, to which another click leads back. @param {Item} item @param {Scene} scene */
  keep(item, scene) {
    this.#leave(new Map([[item, scene]]));
  }

  prepare() {
    if (this.isAtWork) return;
    this.isAtWork = true;
    whenIdle(() => {
      this.isAtWork = this.step();
      return !this.isAtWork;
    });
  }

  /** Go on with making the scenes that are still to be made, and say whether there are any. */
  step() {
    const { app } = this;
    if (this.scene !== app.state.scene) this.#leave(new Map());
    if (!this.making) {
      const item = this.#next();
      if (item < 0) return false;
      this.making = { item, steps: composing(app.graph, this.view(item)) };
    }
    const { done, value } = this.making.steps.next();
    if (done) {
      this.known.set(this.making.item, value);
      this.making = null;
    }
    return true;
  }

  /** Leave the scene that was for the present one. @param {Map<Item, Scene>} known */
  #leave(known) {
    this.scene = this.app.state.scene;
    this.known = known;
    this.making = null;
  }

  /** The scope in sight that is to be next, that under the pointer before all others; -1 for none. @returns {Item} */
  #next() {
    const { state, stage } = this.app;
    const { boxes } = state.scene.picture;
    if (this.known.size >= MANY || (this.known.size + 1) * boxes.length > MOST) return -1;
    const isNew = (/** @type {Item} */ item) => this.app.isModule(item) && !this.known.has(item);
    if (isNew(state.hovered)) return state.hovered;
    let found = -1;
    const { left, top, right, bottom } = stage.part(state.camera);
    state.scene.boxIndex.within(left, top, right, bottom, (box) => {
      if (found < 0 && isNew(boxes[box])) found = boxes[box];
    });
    return found;
  }
}
