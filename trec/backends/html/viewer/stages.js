// Which column of a picture each box is drawn in: phases of a step, or ranks of a job, stand beside one another.

import { PHASES, SCOPE_KINDS } from "./graph.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {{ columns: boolean[], columnOf: number[] }} Stages for each column whether the flow goes up in it; of each box its column */

const [FORWARD, BACKWARD] = PHASES.keys();
const REGION = SCOPE_KINDS.indexOf("region");
/** Name of what a region says if it is the part of a job that one rank does. */
const RANK = "rank";

/**
 * Return the columns of a picture, as `trec.backends.stages` has them; none for one of a single phase.
 *
 * @param {Graph} graph
 * @param {Picture} picture
 * @returns {Stages}
 */
export function stages(graph, picture) {
  const { kind, phase } = graph.data.scopes;
  const isRank = (/** @type {number} */ scope) =>
    kind[scope] === REGION && graph.attributes(graph.count + scope).some(([name]) => name === RANK);
  if (picture.frames.some(isRank)) return ranks(picture);
  const isLater = picture.frames.some((scope, frame) => picture.outer[frame] < 0 && phase[scope] !== FORWARD);
  return isLater ? phases(picture, phase) : { columns: [], columnOf: [] };
}

/**
 * Each outermost frame of a later phase is a column of its own. What is forward stands in the first one, but for what
 * reads from a later phase: that begins a column behind it.
 *
 * @param {Picture} picture
 * @param {number[]} phaseOf of each scope
 * @returns {Stages}
 */
function phases(picture, phaseOf) {
  const outer = outermost(picture);
  /** @type {Map<number, Set<number>>} */
  const reads = new Map();
  for (const { source, target } of picture.wires) {
    if (outer[source] === outer[target]) continue;
    const sources = reads.get(outer[target]);
    if (sources) sources.add(outer[source]);
    else reads.set(outer[target], new Set([outer[source]]));
  }
  const columns = [FORWARD];
  /** @type {Map<number, number>} */
  const found = new Map();
  for (const item of new Set(outer)) {
    const phase = item < 0 ? FORWARD : phaseOf[picture.frames[item]];
    let column = columns.length;
    if (phase === FORWARD) {
      let before = 0;
      for (const source of reads.get(item) ?? []) before = Math.max(before, found.get(source) ?? 0);
      const later = columns.indexOf(FORWARD, before);
      if (later >= 0) column = later;
    }
    found.set(item, column);
    if (column === columns.length) columns.push(phase);
  }
  return { columns: columns.map((phase) => phase === BACKWARD), columnOf: outer.map((item) => found.get(item) ?? 0) };
}

/** Each outermost frame is a column; what is outside of all stands in the first one. @param {Picture} picture @returns {Stages} */
function ranks(picture) {
  const outer = outermost(picture);
  const frames = [...new Set(outer)].filter((item) => item >= 0).sort((one, other) => one - other);
  const column = new Map(frames.map((frame, at) => [frame, at]));
  return { columns: frames.map(() => false), columnOf: outer.map((item) => column.get(item) ?? 0) };
}

/** For each box the outermost frame around it; for one without, `-1 - box`. @param {Picture} picture @returns {number[]} */
function outermost({ outer, around }) {
  const found = new Int32Array(outer.length);
  outer.forEach((parent, frame) => (found[frame] = parent < 0 ? frame : found[parent]));
  return Array.from(around, (frame, box) => (frame < 0 ? -1 - box : found[frame]));
}
