// Where nets leave members and reach them, and what is to be near what.

import { places } from "./layers.js";
import { grouped } from "./rows.js";

/** @typedef {import("./layers.js").Layers} Layers */
/** @typedef {import("./shape.js").Shape} Shape */

/** How much more than a net the trunk of a scope keeps to one line. */
const TRUNK = 20;
/** Room between two nets where they reach a box. */
const PORT = 9;

/**
 * How far right of its vertices each segment leaves and arrives, and how much it weighs; a column for each property.
 *
 * @typedef {object} Joints
 * @property {number[]} upper
 * @property {number[]} lower
 * @property {Float64Array} leaves
 * @property {Float64Array} arrives
 * @property {Float64Array} weight
 */

/**
 * Return the segments with the places where they leave and reach scopes; boxes are reached in the middle.
 *
 * @param {Layers} layers
 * @param {Shape[]} shapes
 * @returns {Joints}
 */
export function jointsOf(layers, shapes) {
  const { upper, lower, upperPort, lowerPort } = layers.segments;
  const leaves = new Float64Array(upper.length);
  const arrives = new Float64Array(upper.length);
  const weight = new Float64Array(upper.length).fill(1);
  for (let index = 0; index < upper.length; index++) {
    if (upper[index] >= layers.members) weight[index]++;
    else if (shapes[upper[index]].out.length) leaves[index] = shapes[upper[index]].out[upperPort[index]];
    if (lower[index] >= layers.members) weight[index]++;
    else if (shapes[lower[index]].into.length) arrives[index] = shapes[lower[index]].into[lowerPort[index]];
  }
  return { upper, lower, leaves, arrives, weight };
}

/**
 * Return what keeps the end of the trunk below its beginning, lest a row of equal scopes drift to one side: from, to
 * and weight of it, or nothing.
 *
 * @param {Layers} layers
 * @returns {[number, number, number][]}
 */
export function springs(layers) {
  if (!layers.entries.length || !layers.exits.length) return [];
  const entry = layers.entries[layers.entryWays.indexOf(greatest(layers.entryWays))];
  return [[entry, layers.exits[layers.exitWays.indexOf(greatest(layers.exitWays))], TRUNK]];
}

/** @param {number[]} numbers */
function greatest(numbers) {
  return numbers.reduce((most, number) => Math.max(most, number));
}

/**
 * Make room between nets that reach or leave the same box; a straight one is in the middle.
 *
 * @param {Layers} layers
 * @param {Shape[]} shapes
 * @param {Joints} joints
 * @param {number[]} straight
 */
export function spread(layers, shapes, joints, straight) {
  const place = places(layers);
  const { upper, lower } = joints;
  const aligned = new Set(straight);
  const leaves = joints.leaves.slice();
  const fraction = (/** @type {number} */ offset) => offset / (1000 + Math.abs(offset));
  each(layers, shapes, lower, (member, indices) => {
    const key = new Map(indices.map((index) => [index, place[upper[index]] + fraction(joints.leaves[index])]));
    const groups = sortedBy(indices, key).map((index) => [index]);
    share(shapes[member].width, groups, aligned, joints.arrives);
  });
  each(layers, shapes, upper, (member, indices) => {
    const { net } = layers.segments;
    /** @type {Map<number, number[]>} */
    const nets = new Map();
    for (const index of indices) {
      const group = nets.get(net[index]);
      if (group) group.push(index);
      else nets.set(net[index], [index]);
    }
    const groups = [...nets.values()];
    const key = new Map(
      groups.map((group) => [group, group.reduce((sum, index) => sum + place[lower[index]], 0) / group.length]),
    );
    share(shapes[member].width, sortedBy(groups, key), aligned, leaves);
  });
  joints.leaves = leaves;
}

/**
 * Go through the boxes that several segments have at one end.
 *
 * @param {Layers} layers
 * @param {Shape[]} shapes
 * @param {number[]} ends
 * @param {(member: number, segments: number[]) => void} found
 */
function each(layers, shapes, ends, found) {
  const { starts, items } = grouped(layers.layer.length, ends);
  shapes.forEach((shape, member) => {
    if (shape.ports && starts[member + 1] - starts[member] > 1)
      found(member, Array.from(items.subarray(starts[member], starts[member + 1])));
  });
}

/**
 * @template Row
 * @param {Row[]} rows
 * @param {Map<Row, number>} key
 */
function sortedBy(rows, key) {
  const of = (/** @type {Row} */ row) => key.get(row) ?? 0;
  return rows.sort((one, other) => of(one) - of(other));
}

/**
 * Give each group of segments a place along the border of a box.
 *
 * @param {number} width
 * @param {number[][]} groups
 * @param {Set<number>} aligned
 * @param {Float64Array} ports
 */
function share(width, groups, aligned, ports) {
  const last = groups.length - 1;
  if (last < 1) return;
  const straight = groups.findIndex((group) => group.some((index) => aligned.has(index)));
  const middle = straight < 0 ? last / 2 : straight;
  const step = Math.min(PORT, Math.max(width / 2 - 7, 0) / Math.max(middle, last - middle));
  groups.forEach((group, position) => {
    for (const index of group) ports[index] = (position - middle) * step;
  });
}
