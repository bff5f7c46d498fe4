// Which scopes are open at first: as many as can be read at once.

import { project } from "./projection.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */

/** Boxes that can be read at once. */
const READABLE = 42;
const DEEPEST = 12;

/** The scopes with fewer modules around them than the depth. @param {Graph} graph @param {number} depth */
export function openTo(graph, depth) {
  const { kind } = graph.data.scopes;
  return Uint8Array.from(graph.scopeDepth, (own, scope) => (scope === 0 || (own < depth && kind[scope] !== 1) ? 1 : 0));
}

/** The greatest depth that is left to open to. @param {Graph} graph */
export function deepest(graph) {
  return graph.scopeDepth.reduce((most, depth) => Math.max(most, depth), 0) + 1;
}

/** The greatest depth at which there are few boxes, and at least the first at which there is more than one. @param {Graph} graph @param {View} view */
export function readableDepth(graph, view) {
  let best = 1;
  for (let depth = 1; depth <= Math.min(DEEPEST, deepest(graph)); depth++) {
    const boxes = countAt(graph, view, depth);
    if (boxes > READABLE) break;
    best = depth;
  }
  return best;
}

/** @param {Graph} graph @param {View} view @param {number} depth */
function countAt(graph, view, depth) {
  return project(graph, { ...view, open: openTo(graph, depth), shapes: "none" }).boxes.length;
}
