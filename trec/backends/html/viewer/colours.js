// What colours boxes and frames have: by family, or by what became of them in a diff.

import { FACTS } from "./facts.js";
import { CHANGES, MODULE, OP } from "./graph.js";
import { ADDED } from "./strokes.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Face} Face */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Paint} Paint */
/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./types.js").Theme} Theme */

/**
 * @typedef {object} Key one line of a legend
 * @property {string} text
 * @property {Paint} paint
 */

/**
 * @typedef {object} Colouring
 * @property {string} title what the colours stand for
 * @property {(graph: Graph, picture: Picture, theme: Theme) => { paints: (Paint | null)[], keys: Key[] }} paint
 *   null leaves a box the colours of its family
 */

/** What colours may stand for, by name. @type {Map<string, Colouring>} */
export const COLOURINGS = new Map([
  ["family", { title: "family", paint: byFamily }],
  ["change", { title: "change", paint: byChange }],
  ...FACTS,
]);

/**
 * The colours of all boxes of a picture.
 *
 * @param {Graph} graph
 * @param {Picture} picture
 * @param {Theme} theme
 * @param {string} by name of what they stand for
 * @returns {Paint[]}
 */
export function paintsOf(graph, picture, theme, by) {
  const { paints } = (COLOURINGS.get(by) ?? COLOURINGS.get("family") ?? { paint: byFamily }).paint(graph, picture, theme);
  return picture.faces.map((face, box) => paints[box] ?? theme.paints[face.role]);
}

/** The colours of a frame. @param {Graph} graph @param {Picture} picture @param {Theme} theme @param {number} frame @returns {Paint} */
export function paintOfFrame(graph, picture, theme, frame) {
  let depth = 0;
  for (let outer = picture.outer[frame]; outer >= 0; outer = picture.outer[outer]) depth++;
  const paint = theme.paints[`cluster${depth % 2}`];
  const change = graph.scopeChange[picture.frames[frame]];
  if (!change) return paint;
  const { border, line, width } = theme.paints[CHANGES[change]];
  return { ...paint, border, line, width };
}

/** @param {Graph} graph @param {Picture} picture @param {Theme} theme */
function byFamily(graph, picture, theme) {
  const roles = new Set(picture.faces.map((face) => face.role));
  const keys = FAMILIES.filter((role) => roles.has(role)).map((role) => ({ text: role, paint: theme.paints[role] }));
  return { paints: [], keys };
}

const FAMILIES = [
  "convolution", "linear", "normalisation", "activation", "attention",
  "pooling", "embedding", "recurrent", "view", "other",
];

/** @param {Graph} graph @param {Picture} picture @param {Theme} theme */
function byChange(graph, picture, theme) {
  const within = changesWithin(graph);
  const seen = new Set(graph.scopeChange);
  const paints = picture.boxes.map((item, box) => {
    const node = picture.nodes[box];
    const change = node < 0 ? within[item - graph.count] : graph.change[node];
    seen.add(change);
    if (change) return theme.paints[CHANGES[change]];
    const isPlain = node < 0 || graph.kind[node] === OP || graph.kind[node] === MODULE;
    return isPlain ? theme.paints.view : null;
  });
  for (const { stroke } of picture.wires) if (stroke >= ADDED) seen.add(stroke - ADDED + 1);
  const keys = CHANGES.flatMap((text, change) => (change && seen.has(change) ? [{ text, paint: theme.paints[text] }] : []));
  return { paints, keys };
}

/**
 * What became of each scope with all in it: what became of it, or that something in it is not as it was.
 *
 * @param {Graph} graph
 * @returns {Uint8Array}
 */
export function changesWithin(graph) {
  const changed = CHANGES.indexOf("changed");
  const found = graph.scopeChange.slice();
  for (let node = 0; node < graph.count; node++) if (graph.change[node]) found[graph.parent[node]] ||= changed;
  for (let scope = graph.scopeCount - 1; scope > 0; scope--) if (found[scope]) found[graph.scopeParent[scope]] ||= changed;
  return found;
}
