// Which scopes are open at first: as many as can be read at once.

import { fitted } from "./camera.js";
import { INPUT, OUTPUT, SCOPE_KINDS } from "./graph.js";
import { project } from "./projection.js";
import { compose } from "./scene.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./camera.js").Size} Size */

/** Boxes that can be read at once. */
const FEW = 42;
/** Boxes of which a picture says little, unless more is open. */
const MEAGRE = 3;
/** Boxes that are too many to look at, even one after the other. */
const MOST = 400;
/** Pixels for each point, below which what stands on boxes is hard to read. */
export const LEAST = 0.82;
const DEEPEST = 12;
const FUNCTION = SCOPE_KINDS.indexOf("function");
const REGION = SCOPE_KINDS.indexOf("region");

/**
 * The modules with fewer modules around them than the depth, and the regions in them, as a picture of that depth has
 * them; calls of functions are open only where everything is.
 *
 * @param {Graph} graph
 * @param {number} depth infinite for everything
 */
export function openTo(graph, depth) {
  const { kind } = graph.data.scopes;
  const isOpen = (/** @type {number} */ scope) =>
    scope === 0 || (graph.scopeDepth[scope] < depth + (kind[scope] === REGION ? 1 : 0) && (kind[scope] !== FUNCTION || depth === Infinity));
  return new Uint8Array(graph.scopeCount).map((_, scope) => (isOpen(scope) ? 1 : 0));
}

/** @param {Graph} graph @param {number} node */
function isTerminal(graph, node) {
  return graph.kind[node] === INPUT || graph.kind[node] === OUTPUT;
}

/** The greatest depth that is left to open to. @param {Graph} graph */
export function deepest(graph) {
  return graph.scopeDepth.reduce((most, depth) => Math.max(most, depth), 0) + 1;
}

/**
 * The scopes that are open at the greatest depth at which there are few boxes, and these large enough to be read; at the
 * one below it, where there is next to nothing to be seen.
 *
 * @param {Graph} graph
 * @param {View} view
 * @param {Size} size of the canvas
 */
export function readable(graph, view, size) {
  let best = openTo(graph, 1);
  let inside = 0;
  for (let depth = 1; depth <= Math.min(DEEPEST, deepest(graph)); depth++) {
    const open = openTo(graph, depth);
    const seen = { ...view, open };
    const { nodes } = project(graph, { ...seen, shapes: "none" });
    const fits = nodes.length <= FEW && fitted({ left: 0, top: 0, ...compose(graph, seen) }, size).zoom >= LEAST;
    if (!fits && (inside > MEAGRE || nodes.length > MOST)) break;
    best = open;
    inside = nodes.reduce((sum, node) => sum + (isTerminal(graph, node) ? 0 : 1), 0);
    if (!fits && inside > MEAGRE) break;
  }
  return best;
}
