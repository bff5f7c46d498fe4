// All of the picture, small, with what is seen of it; to be dragged.

import { element } from "./elements.js";

/** @typedef {import("./app.js").App} App */

const [WIDTH, HEIGHT] = [168, 132];
/** Part of the view that it may take. */
const SHARE = 0.22;
/** Boxes from which only frames are drawn, and boxes as far as they are large enough to be seen. */
const MANY = 20000;

/** @param {App} app */
export function mountMinimap(app) {
  const canvas = element("canvas", { class: "minimap", "aria-hidden": "true", title: "Drag to move" });
  const context = canvas.getContext("2d");
  const picture = document.createElement("canvas");
  const ink = picture.getContext("2d");
  if (!context || !ink) return;
  app.canvas.after(canvas);
  let scale = 1;
  let pending = 0;
  let isStale = true;

  const measure = () => {
    const { width, height } = app.state.scene;
    const ratio = globalThis.devicePixelRatio || 1;
    const { size } = app.stage;
    scale = Math.min(Math.min(WIDTH, size.width * SHARE) / Math.max(width, 1), Math.min(HEIGHT, size.height * SHARE) / Math.max(height, 1));
    const [across, along] = [Math.max(28, width * scale), Math.max(28, height * scale)];
    canvas.style.width = `${across}px`;
    canvas.style.height = `${along}px`;
    canvas.width = picture.width = Math.round(across * ratio);
    canvas.height = picture.height = Math.round(along * ratio);
    return ratio;
  };
  const paint = () => {
    const ratio = measure();
    const { scene } = app.state;
    const { boxes, frames } = app.stage.colours();
    ink.setTransform(ratio * scale, 0, 0, ratio * scale, 0, 0);
    ink.fillStyle = app.theme.background;
    ink.fillRect(0, 0, 1e9, 1e9);
    const draw = (/** @type {Float64Array} */ places, /** @type {(at: number) => import("./types.js").Paint} */ paintOf, /** @type {boolean} */ isFrame) => {
      const least = places.length / 4 > MANY ? 1 / scale : 0;
      for (let at = 0; 4 * at < places.length; at++) {
        if (places[4 * at + 2] < least) continue;
        const { fill, border } = paintOf(at);
        ink.fillStyle = isFrame ? fill : border;
        ink.fillRect(places[4 * at], places[4 * at + 1], places[4 * at + 2], places[4 * at + 3]);
      }
    };
    draw(scene.frames, (at) => frames[at], true);
    draw(scene.places, (at) => boxes[at], false);
  };
  const show = () => {
    pending = 0;
    const { scene, camera } = app.state;
    const seen = app.stage.part(camera);
    canvas.hidden = seen.left <= 0 && seen.top <= 0 && seen.right >= scene.width && seen.bottom >= scene.height;
    if (canvas.hidden) return;
    if (isStale) paint();
    isStale = false;
    const ratio = globalThis.devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(picture, 0, 0);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const [left, top] = [Math.max(seen.left * scale, 1), Math.max(seen.top * scale, 1)];
    const right = Math.min(seen.right * scale, canvas.width / ratio - 1);
    const bottom = Math.min(seen.bottom * scale, canvas.height / ratio - 1);
    context.strokeStyle = app.theme.paints.convolution.border;
    context.fillStyle = `${app.theme.paints.convolution.border}22`;
    context.lineWidth = 1.5;
    context.fillRect(left, top, Math.max(right - left, 3), Math.max(bottom - top, 3));
    context.strokeRect(left, top, Math.max(right - left, 3), Math.max(bottom - top, 3));
  };
  const request = () => (pending ||= window.setTimeout(() => requestAnimationFrame(show), 30));
  app.store.watch(["scene", "theme", "colourBy"], () => {
    isStale = true;
    request();
  });
  app.store.watch(["camera"], request);

  const drag = (/** @type {PointerEvent} */ event) => {
    if (!event.buttons) return;
    const { left, top } = canvas.getBoundingClientRect();
    const { camera } = app.state;
    const { width, height } = app.stage.size;
    const x = (event.clientX - left) / scale - width / 2 / camera.zoom;
    app.untouched = false;
    app.store.set({ camera: { ...camera, x, y: (event.clientY - top) / scale - height / 2 / camera.zoom } });
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag(event);
  });
  canvas.addEventListener("pointermove", drag);
  new ResizeObserver(() => {
    isStale = true;
    request();
  }).observe(app.canvas);
}
