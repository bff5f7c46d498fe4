// The canvas: draws what the state says, once for each frame of the screen in which anything changed.

import { paintOfFrame, paintsOf } from "./colours.js";
import { between } from "./camera.js";
import { Drawer, litColour } from "./draw.js";
import { CanvasSurface } from "./surface.js";
import { Transition } from "./transition.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./camera.js").Camera} Camera */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Scene} Scene */
/** @typedef {import("./draw.js").Colours} Colours */

const DURATION = 220;
/** Pixels within which rings are told apart. */
const CELL = 3;
/** Opacity up to which nothing is seen. */
const FAINT = 1 / 256;
/** Boxes up to which a change is shown as a movement. */
const MOVABLE = 2500;

/** Shows the scene of an application. */
export class Stage {
  /** @param {App} app @param {HTMLCanvasElement} canvas */
  constructor(app, canvas) {
    this.app = app;
    this.canvas = canvas;
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser has no canvas");
    this.surface = new CanvasSurface(context, app.graph.data.style.font);
    this.size = { width: 0, height: 0 };
    this.ratio = 1;
    this.pending = 0;
    /** What is moved: a scene to another one, or none but the camera. @type {{ scenes: Transition | null, old: Scene, start: number, from: Camera, to: Camera, colours: Colours } | null} */
    this.moving = null;
    /** What was seen last. @type {Camera | null} */
    this.seen = null;
    /** @type {Colours | null} */
    this.known = null;
    app.store.watch(["camera", "selected", "hovered", "lit", "hits"], () => this.request());
    app.store.watch(["scene", "theme", "colourBy"], () => {
      this.known = null;
      this.request();
    });
    new ResizeObserver(() => this.resize()).observe(canvas);
    this.measure();
  }

  /** Take on the size that the page gives. */
  resize() {
    if (!this.measure()) return;
    if (this.app.untouched) this.app.fit(this.app.whole);
    this.draw();
  }

  /** Find out the size of the canvas, to draw in all its pixels, and say whether it has changed, which has emptied it. */
  measure() {
    const { clientWidth: width, clientHeight: height } = this.canvas;
    const ratio = globalThis.devicePixelRatio || 1;
    if (width === this.size.width && height === this.size.height && ratio === this.ratio) return false;
    this.size = { width, height };
    this.ratio = ratio;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    return true;
  }

  /** Draw in the next frame of the screen. */
  request() {
    this.pending ||= requestAnimationFrame((now) => {
      this.pending = 0;
      this.draw(now);
    });
  }

  /** The colours of the scene. @returns {Colours} */
  colours() {
    this.known ??= this.#coloursOf(this.app.state.scene);
    return this.known;
  }

  /** The colours that an item is drawn in, but those of its family where it is not or is a frame and they stand for families. @param {Item} item @returns {import("./types.js").Paint} */
  paintOf(item) {
    const { graph, state, theme } = this.app;
    const box = this.app.boxOf(item);
    const { boxes, frames, frameOf } = state.scene.picture;
    if (boxes[box] === item) return this.colours().boxes[box];
    const frame = item >= graph.count && state.colourBy !== "family" ? frameOf(item - graph.count) : -1;
    if (frame >= 0 && frames[frame] === item - graph.count) return this.colours().frames[frame];
    return theme.paints[graph.face(item).role] ?? theme.paints.other;
  }

  /** @param {Scene} scene @returns {Colours} */
  #coloursOf({ picture }) {
    const { graph, state, theme } = this.app;
    return {
      theme,
      boxes: paintsOf(graph, picture, theme, state.colourBy),
      frames: picture.frames.map((_, frame) => paintOfFrame(graph, picture, theme, frame)),
      sizes: graph.data.style.sizes,
    };
  }

  /**
   * Move from one scene to the present one, and from one look to the present one.
   *
   * @param {Scene | null} before null where it is the same
   * @param {Camera} from
   */
  move(before, from) {
    const { graph, state } = this.app;
    const old = before ?? state.scene;
    const boxes = Math.max(old.picture.boxes.length, state.scene.picture.boxes.length);
    if (boxes > MOVABLE || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const scenes = before && new Transition(graph, before, state.scene);
    if (!this.seen) return;
    if (this.moving && !this.moving.scenes) from = this.seen;
    this.moving = { scenes, old, start: performance.now(), from, to: state.camera, colours: this.#coloursOf(old) };
    this.request();
  }

  /** @param {number} [now] */
  draw(now = performance.now()) {
    const { surface, moving } = this;
    const { state, theme } = this.app;
    const gone = moving ? Math.min(Math.max((now - moving.start) / DURATION, 0), 1) : 1;
    if (!moving || gone >= 1 || moving.to !== state.camera) this.moving = null;
    const part = gone < 0.5 ? 4 * gone ** 3 : 1 - (2 - 2 * gone) ** 3 / 2;
    this.seen = this.moving ? between(this.moving.from, this.moving.to, part) : state.camera;
    if (this.moving) this.request();
    if (this.moving?.scenes) return this.#between(this.seen, this.moving.scenes.at(part), part);
    surface.begin(theme.background, this.ratio, this.seen);
    new Drawer(surface, state.scene, this.colours(), state.lit).draw(this.part(this.seen));
    this.#rings(state.scene, this.seen);
  }

  /** @param {Camera} camera @param {[Scene, Scene]} scenes @param {number} part */
  #between(camera, [before, after], part) {
    const { surface, moving } = this;
    if (!moving) return;
    surface.begin(this.app.theme.background, this.ratio, camera);
    const seen = this.part(camera);
    const show = (/** @type {Scene} */ scene, /** @type {Colours} */ colours, /** @type {number} */ all, /** @type {number} */ wires) => {
      const drawer = new Drawer(surface, scene, colours, null);
      surface.opacity = all;
      surface.fade(1);
      drawer.place(seen);
      drawer.frames(seen);
      surface.opacity = wires;
      surface.fade(1);
      if (wires > 0) drawer.wires(seen);
      surface.opacity = all;
      surface.fade(1);
      drawer.boxes(seen);
      drawer.titles(seen);
      surface.opacity = 1;
      surface.fade(1);
    };
    show(before, moving.colours, 1, Math.max(0, 1 - 2 * part));
    if (part > FAINT) show(after, this.colours(), part, Math.max(0, 2 * part - 1));
  }

  /** What a camera sees, in points. @param {Camera} camera */
  part({ x, y, zoom }) {
    return { left: x, top: y, right: x + this.size.width / zoom, bottom: y + this.size.height / zoom, zoom };
  }

  /** Rings round what is selected, found, and under the pointer. @param {Scene} scene @param {Camera} camera */
  #rings(scene, camera) {
    const { state, theme } = this.app;
    const ring = (/** @type {Item} */ item, /** @type {string} */ colour, /** @type {number} */ width, /** @type {number} */ gap) => {
      const rect = this.app.placeOf(item);
      if (!rect) return;
      const away = gap / camera.zoom;
      const ink = { fill: "transparent", border: colour, width: width / camera.zoom, line: /** @type {const} */ ("solid") };
      this.surface.rectangle(rect.left - away, rect.top - away, rect.width + 2 * away, rect.height + 2 * away, 6 + away, ink);
    };
    this.#ringHits(camera, (item) => ring(item, theme.carried, 2, 1.5));
    if (state.hovered >= 0 && state.hovered !== state.selected) ring(state.hovered, theme.label, 1.5, 1);
    if (state.selected >= 0) ring(state.selected, litColour(theme, "up"), 2.5, 2.5);
  }

  /** Ring what was found, or what it is closed in, and is in sight. @param {Camera} camera @param {(item: Item) => void} ring */
  #ringHits(camera, ring) {
    const { scene, hits } = this.app.state;
    if (!hits.size) return;
    const { left, top, right, bottom } = this.part(camera);
    const { boxes, frames } = scene.picture;
    const { count } = this.app.graph;
    const found = this.#boxesOf(hits, scene);
    scene.frameIndex.within(left, top, right, bottom, (frame) => hits.has(count + frames[frame]) && ring(count + frames[frame]));
    // Of many rings at one place on the screen one is seen.
    const cells = new Set();
    scene.boxIndex.within(left, top, right, bottom, (box) => {
      if (!found.has(box)) return;
      const x = Math.round(((scene.places[4 * box] - left) * camera.zoom) / CELL);
      const cell = Math.round(((scene.places[4 * box + 1] - top) * camera.zoom) / CELL) * 65536 + x;
      if (!cells.has(cell)) ring(boxes[box]);
      cells.add(cell);
    });
  }

  /** @type {{ hits: Set<Item>, scene: Scene, boxes: Set<number> } | undefined} */
  #found;

  /** The boxes that what was found is drawn as or in. @param {Set<Item>} hits @param {Scene} scene */
  #boxesOf(hits, scene) {
    if (this.#found?.hits !== hits || this.#found.scene !== scene)
      this.#found = { hits, scene, boxes: new Set([...hits].map((item) => this.app.boxOf(item))) };
    return this.#found.boxes;
  }
}
