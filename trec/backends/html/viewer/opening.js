// Which scopes are open at first: as many as can be read at once.

import { fitted } from "./camera.js";
import { SCOPE_KINDS } from "./graph.js";
import { project } from "./projection.js";
import { compose } from "./scene.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./camera.js").Size} Size */

/** Boxes that can be read at once. */
const FEW = 42;
/** Pixels for each point, below which what stands on boxes is hard to read. */
const SMALLEST = 0.68;
const DEEPEST = 12;
const FUNCTION = SCOPE_KINDS.indexOf("function");

/**
 * The scopes with fewer modules around them than the depth; calls of functions are open only where everything is.
 *
 * @param {Graph} graph
 * @param {number} depth infinite for everything
 */
export function openTo(graph, depth) {
  const { kind } = graph.data.scopes;
  const isOpen = (/** @type {number} */ scope) =>
    scope === 0 || (graph.scopeDepth[scope] < depth && (kind[scope] !== FUNCTION || depth === Infinity));
  return Uint8Array.from(graph.scopeDepth, (_, scope) => (isOpen(scope) ? 1 : 0));
}

/** The greatest depth that is left to open to. @param {Graph} graph */
export function deepest(graph) {
  return graph.scopeDepth.reduce((most, depth) => Math.max(most, depth), 0) + 1;
}

/**
 * The scopes that are open at the greatest depth at which there are few boxes, and these large enough to be read.
 *
 * @param {Graph} graph
 * @param {View} view
 * @param {Size} size of the canvas
 */
export function readable(graph, view, size) {
  let best = openTo(graph, 1);
  for (let depth = 2; depth <= Math.min(DEEPEST, deepest(graph)); depth++) {
    const open = openTo(graph, depth);
    const seen = { ...view, open };
    if (project(graph, { ...seen, shapes: "none" }).boxes.length > FEW) break;
    const scene = compose(graph, seen);
    if (fitted({ left: 0, top: 0, ...scene }, size).zoom < SMALLEST) break;
    best = open;
  }
  return best;
}
