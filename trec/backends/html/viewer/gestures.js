// What pointers, wheels and keys do with the canvas.

import { moved, zoomed } from "./camera.js";
import { farEnd, nearest } from "./neighbours.js";
import { wireAt } from "./tooltip.js";

/** @typedef {import("./app.js").App} App */

/** Pixels that a pointer may move and still have clicked. */
const STILL = 4;
/** Pixels from the top of a frame in which a click closes it. */
const TITLE = 24;

/** @param {App} app */
export function mountGestures(app) {
  const { canvas, store } = app;
  /** Pointers that are down, by id. @type {Map<number, { x: number, y: number }>} */
  const down = new Map();
  let way = 0;

  const at = (/** @type {MouseEvent} */ event) => {
    const { left, top } = canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };
  const look = (/** @type {import("./camera.js").Camera} */ camera) => {
    app.untouched = false;
    store.set({ camera });
  };

  canvas.addEventListener("wheel", (event) => {
    // In a notebook, a wheel that comes by goes on through the notebook until the picture has been clicked.
    if (parent !== window && document.activeElement !== canvas && !event.ctrlKey) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 16 : 1;
    const { x, y } = at(event);
    // A notch of a wheel is one large step; what comes from two fingers on a pad is many small ones, and moves.
    const isNotch = event.deltaMode === 1 || (event.deltaX === 0 && Math.abs(event.deltaY) >= 50);
    const { camera } = app.state;
    if (event.ctrlKey || event.metaKey) look(zoomed(camera, Math.exp(-event.deltaY * unit * 0.01), x, y));
    else if (isNotch && !event.shiftKey) look(zoomed(camera, Math.exp(-event.deltaY * unit * 0.0018), x, y));
    else look(moved(camera, -event.deltaX * unit, -event.deltaY * unit));
  }, { passive: false });

  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, at(event));
    way = 0;
  });

  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    const now = at(event);
    if (!before) {
      if (event.pointerType !== "touch") store.set({ hovered: app.itemAt(now.x, now.y) });
      return;
    }
    const middle = centre(down);
    const apart = spread(down);
    down.set(event.pointerId, now);
    way += Math.abs(now.x - before.x) + Math.abs(now.y - before.y);
    if (way < STILL) return;
    const next = centre(down);
    let camera = moved(app.state.camera, next.x - middle.x, next.y - middle.y);
    if (down.size > 1 && apart > 0) camera = zoomed(camera, spread(down) / apart, next.x, next.y);
    canvas.classList.add("dragged");
    look(camera);
  });

  const up = (/** @type {PointerEvent} */ event) => {
    const clicked = down.size === 1 && way < STILL && event.type === "pointerup" && event.button === 0;
    down.delete(event.pointerId);
    canvas.classList.remove("dragged");
    if (clicked) click(app, at(event), event);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  // Where a menu opens, nothing tells that the pointer is up again.
  canvas.addEventListener("contextmenu", () => down.clear());
  canvas.addEventListener("pointerleave", () => store.set({ hovered: -1 }));
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (press(app, event.key, look)) event.preventDefault();
  });
  store.watch(["hovered", "scene"], () => {
    canvas.classList.toggle("pointing", app.isModule(app.state.hovered) && !app.isOpen(app.state.hovered));
  });
}

/** @param {Map<number, { x: number, y: number }>} points */
function centre(points) {
  let [x, y] = [0, 0];
  for (const point of points.values()) [x, y] = [x + point.x / points.size, y + point.y / points.size];
  return { x, y };
}

/** @param {Map<number, { x: number, y: number }>} points */
function spread(points) {
  const [one, other] = [...points.values()];
  return other ? Math.hypot(one.x - other.x, one.y - other.y) : 0;
}

/** @param {App} app @param {{ x: number, y: number }} point @param {PointerEvent} event */
function click(app, point, event) {
  const item = app.itemAt(point.x, point.y);
  const wire = app.boxOf(item) < 0 ? wireAt(app, point.x, point.y) : -1;
  if (wire >= 0) {
    const end = farEnd(app, wire);
    app.select(end);
    app.show(end);
    return;
  }
  app.select(item);
  if (!app.isModule(item) || event.shiftKey) return;
  const place = app.placeOf(item);
  const { camera } = app.state;
  const isTitle = place && (point.y / camera.zoom + camera.y - place.top) < Math.max(TITLE, TITLE / camera.zoom);
  if (!app.isOpen(item) || isTitle) app.toggle(item);
}

/** Do what a key stands for; whether it stands for anything. @param {App} app @param {string} key @param {(camera: import("./camera.js").Camera) => void} look */
function press(app, key, look) {
  const { camera, selected } = app.state;
  const { width, height } = app.stage.size;
  if (key === "0" || key === "Home") app.seeAll();
  else if (key === "+" || key === "=") look(zoomed(camera, 1.25, width / 2, height / 2));
  else if (key === "-") look(zoomed(camera, 0.8, width / 2, height / 2));
  else if (key === "Enter" || key === " ") app.toggle(app.seenAs(selected));
  else if (key === "Escape") app.select(-1);
  else if (key.startsWith("Arrow")) {
    const next = nearest(app, key);
    if (next < 0) return true;
    app.select(next);
    app.show(next);
  } else return false;
  return true;
}
