// Which part of the picture is seen: the point at the top left of the view, and pixels for each point.

/** @typedef {{ x: number, y: number, zoom: number }} Camera */
/** @typedef {{ left: number, top: number, width: number, height: number }} Rect */
/** @typedef {{ width: number, height: number }} Size */

/** Pixels that are left between what is shown and the edge of the view. */
export const EDGE = 20;
const CLOSEST = 8;
const MARGIN = 24;
/** A picture that is small is not blown up. */
const LARGEST = 1.4;

/** @param {Camera} camera @param {number} x @param {number} y pixels from the top left of the view */
export function pointAt(camera, x, y) {
  return { x: camera.x + x / camera.zoom, y: camera.y + y / camera.zoom };
}

/** @param {Camera} camera @param {number} x @param {number} y in points */
export function pixelAt(camera, x, y) {
  return { x: (x - camera.x) * camera.zoom, y: (y - camera.y) * camera.zoom };
}

/** A camera nearer by a factor, a pixel of the view held still. @param {Camera} camera @param {number} factor @param {number} x @param {number} y @returns {Camera} */
export function zoomed(camera, factor, x, y) {
  const zoom = Math.min(CLOSEST, Math.max(1e-4, camera.zoom * factor));
  return { x: camera.x + x / camera.zoom - x / zoom, y: camera.y + y / camera.zoom - y / zoom, zoom };
}

/** @param {Camera} camera @param {number} dx @param {number} dy pixels that the picture moves @returns {Camera} */
export function moved(camera, dx, dy) {
  return { ...camera, x: camera.x - dx / camera.zoom, y: camera.y - dy / camera.zoom };
}

/** A camera that sees all of a rectangle. @param {Rect} rect @param {Size} view @param {number} [largest] @returns {Camera} */
export function fitted(rect, view, largest = LARGEST) {
  const room = { width: Math.max(view.width - 2 * MARGIN, 50), height: Math.max(view.height - 2 * MARGIN, 50) };
  const zoom = Math.min(room.width / Math.max(rect.width, 1), room.height / Math.max(rect.height, 1), largest);
  return centred(rect, view, zoom);
}

/** A camera with a rectangle in its middle. @param {Rect} rect @param {Size} view @param {number} zoom @returns {Camera} */
export function centred(rect, view, zoom) {
  const [x, y] = [rect.left + rect.width / 2, rect.top + rect.height / 2];
  return { x: x - view.width / 2 / zoom, y: y - view.height / 2 / zoom, zoom };
}

/**
 * A camera that sees all of a picture; or of one too large to be read then, its shorter side, from where it begins.
 *
 * @param {Size} picture
 * @param {Rect} first the box that it begins with
 * @param {Size} view
 * @param {number} least zoom at which it can be read
 * @returns {Camera}
 */
export function begun({ width, height }, first, view, least) {
  const camera = fitted({ left: 0, top: 0, width, height }, view);
  if (camera.zoom >= least) return camera;
  const sides = [(view.width - 2 * MARGIN) / width, (view.height - 2 * MARGIN) / height];
  const zoom = Math.max(least, Math.min(1, Math.max(...sides)));
  const { x, y } = centred(first, view, zoom);
  const margin = MARGIN / zoom;
  return { x: held(x, width, view.width / zoom, margin), y: held(y, height, view.height / zoom, margin), zoom };
}

/** Where a view begins that shows no more than a margin of what is beyond its picture. @param {number} start @param {number} length of the picture @param {number} seen @param {number} margin */
function held(start, length, seen, margin) {
  if (length + 2 * margin <= seen) return (length - seen) / 2;
  return Math.min(Math.max(start, -margin), length + margin - seen);
}

/**
 * A camera that still sees what another one saw before the view became smaller, as far as there is room on the other side.
 *
 * @param {Camera} camera
 * @param {Size} picture
 * @param {Size} before
 * @param {Size} view
 * @returns {Camera}
 */
export function uncovered(camera, picture, before, view) {
  const start = pixelAt(camera, 0, 0);
  const end = pixelAt(camera, picture.width, picture.height);
  const away = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ was, /** @type {number} */ is) =>
    Math.max(0, Math.min(Math.min(to + EDGE, was) - is, from - EDGE));
  return moved(camera, -away(start.x, end.x, before.width, view.width), -away(start.y, end.y, before.height, view.height));
}

/** A camera between two, the way from the first gone so far, from 0 to 1. @param {Camera} one @param {Camera} other @param {number} part @returns {Camera} */
export function between(one, other, part) {
  const zoom = one.zoom * (other.zoom / one.zoom) ** part;
  // While the zoom changes, what is seen moves evenly on the screen rather than in the picture.
  const still = Math.abs(one.zoom - other.zoom) < 1e-9;
  const share = still ? part : (1 / one.zoom - 1 / zoom) / (1 / one.zoom - 1 / other.zoom);
  return { x: one.x + (other.x - one.x) * share, y: one.y + (other.y - one.y) * share, zoom };
}
