// From one scene to another: what is in both moves, what is new grows out of what it was in, wires fade.

import { Chunks } from "./chunks.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Scene} Scene */
/** @typedef {import("./camera.js").Camera} Camera */

/** Where the boxes and frames of a scene are while it comes or goes. */
export class Transition {
  /** @param {Graph} graph @param {Scene} from @param {Scene} to */
  constructor(graph, from, to) {
    const before = rectangles(graph, from);
    const after = rectangles(graph, to);
    this.old = moving(graph, from, before, after, true);
    this.new = moving(graph, to, before, after, false);
  }

  /** The old and the new scene when a part of the way is gone, from 0 to 1. @param {number} part @returns {[Scene, Scene]} */
  at(part) {
    return [sceneAt(this.old, part), sceneAt(this.new, part)];
  }
}

/** @typedef {{ scene: Scene, boxes: [Float64Array, Float64Array], frames: [Float64Array, Float64Array] }} Moving */

/** @param {Moving} moving @param {number} part @returns {Scene} */
function sceneAt({ scene, boxes, frames }, part) {
  const places = mixed(boxes, part);
  const borders = mixed(frames, part);
  return { ...scene, places, frames: borders, boxIndex: new Chunks(places), frameIndex: new Chunks(borders) };
}

/** @param {[Float64Array, Float64Array]} ends @param {number} part */
function mixed([start, end], part) {
  return start.map((value, at) => value + (end[at] - value) * part);
}

/** @typedef {Map<Item, Float64Array>} Rectangles left, top, width and height by item */

/** @param {Graph} graph @param {Scene} scene @returns {Rectangles} */
function rectangles(graph, scene) {
  /** @type {Rectangles} */
  const found = new Map();
  scene.picture.boxes.forEach((item, box) => found.set(item, scene.places.subarray(4 * box, 4 * box + 4)));
  scene.picture.frames.forEach((scope, frame) => found.set(graph.count + scope, scene.frames.subarray(4 * frame, 4 * frame + 4)));
  return found;
}

/** @param {Graph} graph @param {Scene} scene @param {Rectangles} before @param {Rectangles} after @param {boolean} old @returns {Moving} */
function moving(graph, scene, before, after, old) {
  const { boxes, frames } = scene.picture;
  const own = old ? before : after;
  const other = old ? after : before;
  const ends = (/** @type {Item[]} */ items) => {
    const here = new Float64Array(4 * items.length);
    const there = new Float64Array(4 * items.length);
    items.forEach((item, at) => {
      const rect = own.get(item) ?? here.subarray(0, 4);
      here.set(rect, 4 * at);
      there.set(other.get(item) ?? within(graph, item, own, other, rect), 4 * at);
    });
    return /** @type {[Float64Array, Float64Array]} */ (old ? [here, there] : [there, here]);
  };
  return { scene, boxes: ends(boxes), frames: ends(frames.map((scope) => graph.count + scope)) };
}

/**
 * Where something is in a scene that shows only what it is in: as much smaller as that is.
 *
 * @param {Graph} graph
 * @param {Item} item
 * @param {Rectangles} own
 * @param {Rectangles} other
 * @param {Float64Array} rect
 */
function within(graph, item, own, other, rect) {
  for (let scope = graph.around(item); scope >= 0; scope = graph.scopeParent[scope]) {
    const [large, small] = [own.get(graph.count + scope), other.get(graph.count + scope)];
    if (!large || !small) continue;
    const [across, along] = [small[2] / large[2], small[3] / large[3]];
    const left = small[0] + (rect[0] - large[0]) * across;
    return [left, small[1] + (rect[1] - large[1]) * along, rect[2] * across, rect[3] * along];
  }
  return rect;
}
