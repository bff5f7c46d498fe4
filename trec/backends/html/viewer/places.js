// Where things are in a scene, whether it is the one that is shown or not.

import { contentOf } from "./content.js";
import { standIn } from "./folding.js";

/** @typedef {import("./camera.js").Rect} Rect */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").State} State */
/** A view of a graph, and the scene that shows it. @typedef {Pick<State, "scene" | "view">} Drawn */

/** The box that an item is drawn as or in; -1 if it is a frame or hidden. @param {Graph} graph @param {Drawn} drawn @param {Item} item */
export function boxIn(graph, { scene: { picture }, view }, item) {
  if (item < 0 || item === graph.count) return -1;
  const own = standIn(graph, view, item);
  const scope = own - graph.count;
  if (scope < 0) return picture.boxOf(own);
  if (picture.frames[picture.frameOf(scope)] === scope) return -1;
  return picture.boxOf(contentOf(graph, view).first[scope]);
}

/** Where an item is, or what it is closed in; null if it is hidden. @param {Graph} graph @param {Drawn} drawn @param {Item} item @returns {Rect | null} */
export function placeIn(graph, drawn, item) {
  const { scene, view } = drawn;
  const scope = standIn(graph, view, item) - graph.count;
  if (scope >= 0) {
    const frame = scene.picture.frameOf(scope);
    if (scene.picture.frames[frame] === scope) return rectangle(scene.frames, frame);
  }
  const box = boxIn(graph, drawn, item);
  return box < 0 ? null : rectangle(scene.places, box);
}

/** @param {Float64Array} places @param {number} at @returns {Rect} */
export function rectangle(places, at) {
  const [left, top, width, height] = places.subarray(4 * at, 4 * at + 4);
  return { left, top, width, height };
}
