// Vertices that stand exactly below one another: the trunk first, then long nets.

import { places } from "./layers.js";
import { grouped } from "./rows.js";

/** @typedef {import("./layers.js").Layers} Layers */

/**
 * Return the segments that are to be straight.
 *
 * Of the ways into a vertex the longest goes straight on, and so of the ways out of it. Where several are as long, the
 * middle one does; where there is no middle, none does. At most one leads into each vertex, one out of it, and no two
 * cross.
 *
 * @param {Layers} layers
 */
export function align(layers) {
  const place = places(layers);
  const { upper, lower, net, through } = layers.segments;
  const best = new Float64Array(layers.chains.length);
  for (let index = 0; index < upper.length; index++) best[net[index]] = Math.max(best[net[index]], through[index]);
  const chosen = (/** @type {number[]} */ from, /** @type {number[]} */ to, /** @type {boolean} */ out) => {
    const { starts, items } = grouped(place.length, from);
    return Int32Array.from(place, (_, vertex) => {
      const count = starts[vertex + 1] - starts[vertex];
      if (count < 2) return count ? items[starts[vertex]] : -1;
      const rows = Array.from(items.subarray(starts[vertex], starts[vertex + 1]));
      const kept = out && vertex >= layers.members ? onwards(layers, rows, best) : rows;
      return longest(layers, kept, (one) => place[to[one]]);
    });
  };
  const chosenOut = chosen(upper, lower, true);
  const chosenIn = chosen(lower, upper, false);
  const trunk = [];
  const inner = [];
  for (let index = 0; index < upper.length; index++)
    if (chosenOut[upper[index]] === index && chosenIn[lower[index]] === index) trunk.push(index);
    else if (upper[index] >= layers.members && lower[index] >= layers.members) inner.push(index);
  trunk.sort((one, other) => through[other] - through[one]);
  return withoutCrossings(layers, [...trunk, ...inner], place);
}

/**
 * Return the segments by which a net that forks may go straight on: its longest way, or else to its far end.
 *
 * @param {Layers} layers
 * @param {number[]} indices
 * @param {Float64Array} best
 */
function onwards(layers, indices, best) {
  const { lower, net, through } = layers.segments;
  if (indices.some((index) => through[index] === best[net[index]])) return indices;
  const far = indices.filter((index) => lower[index] >= layers.members);
  return far.length ? far : indices;
}

/**
 * Return the segment of the longest way, the middle one of several; -1 if they have no middle.
 *
 * @param {Layers} layers
 * @param {number[]} indices
 * @param {(index: number) => number} place
 */
function longest(layers, indices, place) {
  const { through } = layers.segments;
  let best = 0;
  for (const index of indices) if (through[index] > best) best = through[index];
  const equal = indices.filter((index) => through[index] === best);
  if (equal.length % 2 === 0) return -1;
  return equal.sort((one, other) => place(one) - place(other) || one - other)[(equal.length - 1) / 2];
}

/**
 * Return those segments that cross none of the earlier ones and share no vertex with them.
 *
 * @param {Layers} layers
 * @param {number[]} indices
 * @param {Int32Array} place
 */
function withoutCrossings(layers, indices, place) {
  const { upper, lower } = layers.segments;
  /** @type {number[][]} */
  const uppers = layers.rows.map(() => []);
  /** @type {number[][]} */
  const lowers = layers.rows.map(() => []);
  return indices.filter((index) => {
    const layer = layers.layer[upper[index]];
    if (layers.layer[lower[index]] !== layer + 1) return false;
    const above = uppers[layer];
    const below = lowers[layer];
    const start = place[upper[index]];
    const end = place[lower[index]];
    const position = firstFrom(above, start);
    if (position !== firstFrom(below, end)) return false;
    if (position < above.length && (above[position] === start || below[position] === end)) return false;
    above.splice(position, 0, start);
    below.splice(position, 0, end);
    return true;
  });
}

/**
 * Return the position of the first number of a sorted list that is not less than another.
 *
 * @param {number[]} sorted
 * @param {number} value
 */
function firstFrom(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
