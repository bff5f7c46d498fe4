// The panels beside the canvas, which open and close without moving what is seen.

import { button, sign } from "./elements.js";

/** @typedef {import("./app.js").App} App */

/** Width of a window from which there is room for the tree at first. */
const WIDE = 1280;

/** Open the tree where there is room for it, before the picture is made for what room is left. @param {HTMLElement} root */
export function makeRoom(root) {
  /** @type {HTMLElement | null} */
  const outline = root.querySelector(".outline");
  if (outline) outline.hidden = root.clientWidth < WIDE;
}

/** A button that opens and closes the tree. @param {App} app @param {() => void} opened */
export function outlineButton(app, opened) {
  const panel = /** @type {HTMLElement} */ (app.root.querySelector(".outline"));
  const made = button(sign("M2 3.5h3M7.5 3.5H14M4.5 8h3M10 8h4M4.5 12.5h3M10 12.5h4"), "Outline", () => {
    const before = app.canvas.getBoundingClientRect().left;
    panel.hidden = !panel.hidden;
    made.setAttribute("aria-expanded", String(!panel.hidden));
    const { camera } = app.state;
    const moved = app.canvas.getBoundingClientRect().left - before;
    if (!app.untouched) app.store.set({ camera: { ...camera, x: camera.x + moved / camera.zoom } });
    if (!panel.hidden) opened();
  });
  made.setAttribute("aria-expanded", String(!panel.hidden));
  return made;
}
