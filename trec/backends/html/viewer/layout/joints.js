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
 * Nets that run back are outermost, so that they turn round nothing, the one that goes furthest inmost.
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
    const arriving = (/** @type {number} */ index) => place[upper[index]] + fraction(joints.leaves[index]);
    const groups = sortedBy(indices, (index) => [...turned(layers, place, index, member, true), arriving(index)]);
    share(shapes[member].width, groups.map((index) => [index]), aligned, joints.arrives);
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
    const leaving = (/** @type {number[]} */ group) =>
      group.reduce((sum, index) => sum + place[lower[index]], 0) / group.length;
    const groups = sortedBy([...nets.values()], (group) => [
      ...turned(layers, place, group[0], member, false),
      leaving(group),
    ]);
    share(shapes[member].width, groups, aligned, leaves);
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
 * Return where the segment of a net that runs back is among those of a member: its side, and how far in there.
 *
 * @param {Layers} layers
 * @param {Int32Array} place
 * @param {number} index the segment
 * @param {number} member where it leaves or arrives
 * @param {boolean} arrives
 */
function turned(layers, place, index, member, arrives) {
  const { segments, turns, chains } = layers;
  if (!turns.has(segments.upper[index]) && !turns.has(segments.lower[index])) return [0, 0];
  const chain = chains[segments.net[index]];
  const passed = place[chain[arrives ? 1 : chain.length - 2]];
  return [passed > place[member] ? 1 : -1, -passed];
}

/**
 * @template Row
 * @param {Row[]} rows
 * @param {(row: Row) => number[]} key
 */
function sortedBy(rows, key) {
  const keyed = rows.map((row) => ({ row, key: key(row) }));
  keyed.sort(({ key: [a, b, c] }, { key: [x, y, z] }) => a - x || b - y || c - z);
  return keyed.map(({ row }) => row);
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
