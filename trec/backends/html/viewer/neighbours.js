// Which box lies beside another, for those who go from one to the next by keys.

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./camera.js").Rect} Rect */
/** @typedef {import("./types.js").Item} Item */

/** @type {Record<string, [number, number]>} */
const WAYS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** The item next to the chosen one in the direction of a key; the first one if none is chosen. @param {App} app @param {string} key @returns {Item} */
export function nearest(app, key) {
  const { scene, selected } = app.state;
  const { boxes } = scene.picture;
  const here = app.placeOf(selected);
  if (!here) return boxes[0] ?? -1;
  const way = WAYS[key] ?? [0, 1];
  let best = -1;
  let least = Infinity;
  boxes.forEach((item, box) => {
    if (item === selected) return;
    const [left, top, width, height] = scene.places.subarray(4 * box, 4 * box + 4);
    const distance = away(here, { left, top, width, height }, way);
    if (distance < least) [best, least] = [item, distance];
  });
  return best;
}

/** The item at an end of a wire: at the other one from what is chosen, else where it begins. @param {App} app @param {number} wire @returns {Item} */
export function farEnd(app, wire) {
  const { boxes, wires } = app.state.scene.picture;
  const { source, target } = wires[wire];
  return boxes[source === app.boxOf(app.state.selected) ? target : source];
}

/** How far a rectangle lies in a direction, what is off it counted double; infinite if it lies elsewhere. @param {Rect} from @param {Rect} to @param {[number, number]} way */
function away(from, to, [x, y]) {
  const across = to.left + to.width / 2 - from.left - from.width / 2;
  const along = to.top + to.height / 2 - from.top - from.height / 2;
  const ahead = across * x + along * y;
  const beside = Math.abs(across * y) + Math.abs(along * x);
  return ahead > 1 && ahead * 3 > beside ? ahead + 2 * beside : Infinity;
}
