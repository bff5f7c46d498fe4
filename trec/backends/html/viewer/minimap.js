// All of the picture, small, with what is seen of it; to be dragged.

import { element } from "./elements.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.js").Paint} Paint */

const [WIDTH, HEIGHT] = [168, 132];
/** Part of the view that it may take. */
const SHARE = 0.22;
const SMALLEST = 28;
/** Boxes from which only those are drawn that are large enough to be seen. */
const MANY = 20000;
/** Milliseconds in which changes are gathered. */
const PAUSE = 30;

/** The small picture of one page. */
class Minimap {
  /**
   * @param {App} app
   * @param {HTMLCanvasElement} canvas
   * @param {CanvasRenderingContext2D} context
   * @param {CanvasRenderingContext2D} ink of a picture on which what is seen is not marked
   */
  constructor(app, canvas, context, ink) {
    this.app = app;
    this.canvas = canvas;
    this.context = context;
    this.ink = ink;
    this.scale = this.ratio = 1;
    this.pending = 0;
    /** Whether the picture is not that of the scene any more. */
    this.isStale = true;
    app.store.watch(["scene", "theme", "colourBy"], () => this.renew());
    app.store.watch(["camera"], () => this.request());
    new ResizeObserver(() => this.renew()).observe(app.canvas);
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.drag(event);
    });
    canvas.addEventListener("pointermove", (event) => this.drag(event));
  }

  renew() {
    this.isStale = true;
    this.request();
  }

  request() {
    this.pending ||= window.setTimeout(() => requestAnimationFrame(() => this.show()), PAUSE);
  }

  show() {
    this.pending = 0;
    const { scene, camera } = this.app.state;
    const { left, top, right, bottom } = this.app.stage.part(camera);
    this.canvas.hidden = left <= 0 && top <= 0 && right >= scene.width && bottom >= scene.height;
    if (this.canvas.hidden) return;
    if (this.isStale) this.paint();
    this.isStale = false;
    const { context, scale, ratio, canvas } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.ink.canvas, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [x, y] = [Math.max(left * scale, 1), Math.max(top * scale, 1)];
    const width = Math.max(Math.min(right * scale, canvas.width / ratio - 1) - x, 3);
    const height = Math.max(Math.min(bottom * scale, canvas.height / ratio - 1) - y, 3);
    const { border } = this.app.theme.paints.convolution;
    context.strokeStyle = border;
    context.fillStyle = `${border}22`;
    context.lineWidth = 1.5;
    context.fillRect(x, y, width, height);
    context.strokeRect(x, y, width, height);
  }

  /** Draw all of the scene, as large as there is room. */
  paint() {
    const { app, canvas, ink } = this;
    const { scene } = app.state;
    const room = app.stage.size;
    const across = Math.min(WIDTH, room.width * SHARE) / Math.max(scene.width, 1);
    this.scale = Math.min(across, Math.min(HEIGHT, room.height * SHARE) / Math.max(scene.height, 1));
    this.ratio = globalThis.devicePixelRatio || 1;
    const [width, height] = [scene.width, scene.height].map((length) => Math.max(SMALLEST, length * this.scale));
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    canvas.width = ink.canvas.width = Math.round(width * this.ratio);
    canvas.height = ink.canvas.height = Math.round(height * this.ratio);
    const zoom = this.ratio * this.scale;
    ink.setTransform(zoom, 0, 0, zoom, 0, 0);
    ink.fillStyle = app.theme.background;
    ink.fillRect(0, 0, width / this.scale, height / this.scale);
    const { boxes, frames } = app.stage.colours();
    this.rectangles(scene.frames, (at) => frames[at].fill);
    this.rectangles(scene.places, (at) => boxes[at].border);
  }

  /** @param {Float64Array} places @param {(at: number) => string} colour */
  rectangles(places, colour) {
    const least = places.length / 4 > MANY ? 1 / this.scale : 0;
    for (let at = 0; 4 * at < places.length; at++) {
      if (places[4 * at + 2] < least) continue;
      this.ink.fillStyle = colour(at);
      this.ink.fillRect(places[4 * at], places[4 * at + 1], places[4 * at + 2], places[4 * at + 3]);
    }
  }

  /** Bring what is under the pointer into the middle of the view. @param {PointerEvent} event */
  drag({ buttons, clientX, clientY }) {
    if (!buttons) return;
    const { app, scale } = this;
    const { left, top } = this.canvas.getBoundingClientRect();
    const { camera } = app.state;
    const { width, height } = app.stage.size;
    const [x, y] = [(clientX - left) / scale - width / 2 / camera.zoom, (clientY - top) / scale - height / 2 / camera.zoom];
    app.untouched = false;
    app.store.set({ camera: { ...camera, x, y } });
  }
}

/** @param {App} app */
export function mountMinimap(app) {
  const canvas = element("canvas", { class: "minimap", "aria-hidden": "true", title: "Drag to move" });
  canvas.hidden = true; // until it is known that not all is seen
  const context = canvas.getContext("2d");
  const ink = document.createElement("canvas").getContext("2d");
  if (!context || !ink) return;
  app.canvas.after(canvas);
  new Minimap(app, canvas, context, ink);
}
