// How far to the right everything in a scope stands.
//
// Blocks of aligned vertices are as rigid as bars. Each is drawn towards the middle of what it is joined to, and then
// all are moved as little as possible until none overlaps another: once with every bar yielding to the right, once to
// the left, of which the mean is taken. Where many bars crowd beside one, all of them are driven to one side step by step,
// and what hangs on them lags behind: then each bar goes by itself as far as there is room for it.

import { grouped } from "./rows.js";

/** @typedef {import("./joints.js").Joints} Joints */
/** @typedef {import("./layers.js").Layers} Layers */

const STEPS = 12;
const MORE_STEPS = 24;
/** Bars moved in all before there are no more than twelve steps. */
const WORK = 2400;
/** Points by which bars must move more than one another, or else they are where they belong. */
const ENOUGH = 0.5;
/** Points by which all bars together move in a step from which on they are driven, and how often each then goes by itself. */
const [DRIVEN, SWEEPS] = [1, 20];

/**
 * Rows of unequal length in columns: row `i` is from `starts[i]` to before `starts[i + 1]`.
 *
 * @typedef {object} Rows
 * @property {Int32Array} starts
 * @property {Int32Array} other the bar at the other end
 * @property {Float64Array} room how far apart they must be, or how far right of the other one would stand
 * @property {Float64Array} weight
 */

/**
 * Return the coordinate of each vertex across the flow.
 *
 * @param {Layers} layers the vertices in order
 * @param {Joints} joints one for each segment
 * @param {number[]} straight the joints that are to be straight
 * @param {Float64Array} extents how far each vertex reaches to the left and to the right
 * @param {Float64Array} gaps half the room that each vertex needs beside itself
 * @param {[number, number, number][]} springs vertices that are to be near one another, and how much
 */
export function place(layers, joints, straight, extents, gaps, springs) {
  const { of, offset, count } = barsOf(layers, joints, straight);
  const { left, right, room } = neighbours(layers, of, offset, extents, gaps);
  const leftOf = rowsOf(count, right, left, room, room);
  const rightOf = rowsOf(count, left, right, room, room);
  const order = leftToRight(count, leftOf, rightOf);
  const pulls = pullsOf(of, offset, count, joints, springs);
  const total = new Float64Array(count);
  for (let bar = 0; bar < count; bar++)
    for (let index = pulls.starts[bar]; index < pulls.starts[bar + 1]; index++) total[bar] += pulls.weight[index];
  let at = separated(new Float64Array(count), order, leftOf, rightOf);
  const wanted = new Float64Array(count);
  const steps = Math.max(STEPS, Math.min(MORE_STEPS, Math.floor(WORK / (count + 1))));
  let drift = 0;
  for (let step = 0; step < steps; step++) {
    for (let bar = 0; bar < count; bar++) {
      let sum = 0;
      for (let index = pulls.starts[bar]; index < pulls.starts[bar + 1]; index++)
        sum += (at[pulls.other[index]] + pulls.room[index]) * pulls.weight[index];
      const pulled = pulls.starts[bar] < pulls.starts[bar + 1];
      wanted[bar] = pulled ? 0.15 * at[bar] + (0.85 * sum) / total[bar] : at[bar];
    }
    const moved = separated(wanted, order, leftOf, rightOf);
    let least = Infinity;
    let most = -Infinity;
    for (let bar = 0; bar < count; bar++) {
      const way = moved[bar] - at[bar];
      if (way < least) least = way;
      if (way > most) most = way;
    }
    at = moved;
    drift = count ? least + most : 0;
    if (most - least < ENOUGH) break;
  }
  if (Math.abs(drift) > 2 * DRIVEN) settle(at, pulls, total, leftOf, rightOf);
  return offset.map((shift, vertex) => at[of[vertex]] + shift);
}

/**
 * Move bars one by one to the middle of what they are joined to, as far as those beside them leave room.
 *
 * @param {Float64Array} at
 * @param {Rows} pulls
 * @param {Float64Array} total weight of what pulls each bar
 * @param {Rows} leftOf
 * @param {Rows} rightOf
 */
function settle(at, pulls, total, leftOf, rightOf) {
  const count = at.length;
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    let most = 0;
    for (let place = 0; place < count; place++) {
      const bar = sweep % 2 ? place : count - 1 - place;
      if (pulls.starts[bar] === pulls.starts[bar + 1]) continue;
      let sum = 0;
      for (let index = pulls.starts[bar]; index < pulls.starts[bar + 1]; index++)
        sum += (at[pulls.other[index]] + pulls.room[index]) * pulls.weight[index];
      let wanted = sum / total[bar];
      for (let index = rightOf.starts[bar]; index < rightOf.starts[bar + 1]; index++)
        wanted = Math.min(wanted, at[rightOf.other[index]] - rightOf.room[index]);
      for (let index = leftOf.starts[bar]; index < leftOf.starts[bar + 1]; index++)
        wanted = Math.max(wanted, at[leftOf.other[index]] + leftOf.room[index]);
      most = Math.max(most, Math.abs(wanted - at[bar]));
      at[bar] = wanted;
    }
    if (most < ENOUGH) break;
  }
}

/**
 * Return the bar of each vertex, and how far right of it the vertex stands.
 *
 * @param {Layers} layers
 * @param {Joints} joints
 * @param {number[]} straight
 */
function barsOf(layers, joints, straight) {
  const before = new Int32Array(layers.layer.length).fill(-1);
  for (const index of straight) before[joints.lower[index]] = index;
  const of = new Int32Array(before.length);
  const offset = new Float64Array(before.length);
  let count = 0;
  for (const row of layers.rows)
    for (const vertex of row) {
      const joint = before[vertex];
      if (joint < 0) of[vertex] = count++;
      else {
        const upper = joints.upper[joint];
        of[vertex] = of[upper];
        offset[vertex] = offset[upper] + joints.leaves[joint] - joints.arrives[joint];
      }
    }
  return { of, offset, count };
}

/**
 * Return bars that are neighbours somewhere, and how far apart they must be.
 *
 * @param {Layers} layers
 * @param {Int32Array} of
 * @param {Float64Array} offset
 * @param {Float64Array} extents
 * @param {Float64Array} gaps
 */
function neighbours(layers, of, offset, extents, gaps) {
  const left = new Int32Array(of.length);
  const right = new Int32Array(of.length);
  const room = new Float64Array(of.length);
  const known = new Int32Array(of.length).fill(-1);
  let count = 0;
  for (const row of layers.rows)
    for (let position = 1; position < row.length; position++) {
      const one = row[position - 1];
      const other = row[position];
      const apart = extents[2 * one + 1] + gaps[one] + gaps[other] + extents[2 * other] + offset[one] - offset[other];
      const before = known[of[one]];
      // Long bars are neighbours in many layers one after the other.
      if (before >= 0 && right[before] === of[other]) room[before] = Math.max(room[before], apart);
      else {
        left[count] = of[one];
        right[count] = of[other];
        room[count] = apart;
        known[of[one]] = count++;
      }
    }
  return { left: left.subarray(0, count), right: right.subarray(0, count), room };
}

/**
 * Return for each two bars that are joined how far apart they would stand and how much that weighs.
 *
 * @param {Int32Array} of
 * @param {Float64Array} offset
 * @param {number} count
 * @param {Joints} joints
 * @param {[number, number, number][]} springs
 */
function pullsOf(of, offset, count, joints, springs) {
  const { upper, lower, leaves, arrives, weight } = joints;
  const most = 2 * (upper.length + springs.length);
  const ones = new Int32Array(most);
  const others = new Int32Array(most);
  const shifts = new Float64Array(most);
  const weights = new Float64Array(most);
  let end = 0;
  for (let index = 0; index < upper.length + springs.length; index++) {
    const joint = index < upper.length;
    const [one, other, much] = joint ? [upper[index], lower[index], weight[index]] : springs[index - upper.length];
    if (of[one] === of[other]) continue;
    const shift = joint
      ? offset[one] + leaves[index] - offset[other] - arrives[index]
      : offset[one] - offset[other];
    ones[end] = others[end + 1] = of[other];
    others[end] = ones[end + 1] = of[one];
    shifts[end] = shift;
    shifts[end + 1] = -shift;
    weights[end] = weights[end + 1] = much;
    end += 2;
  }
  return rowsOf(count, ones.subarray(0, end), others, shifts, weights);
}

/**
 * Return a row for each bar, in the order in which they are given.
 *
 * @param {number} count
 * @param {Int32Array} bars
 * @param {Int32Array} others
 * @param {Float64Array} room
 * @param {Float64Array} weight
 * @returns {Rows}
 */
function rowsOf(count, bars, others, room, weight) {
  const { starts, items } = grouped(count, bars);
  const rows = {
    starts,
    other: new Int32Array(bars.length),
    room: new Float64Array(bars.length),
    weight: new Float64Array(bars.length),
  };
  for (let to = 0; to < items.length; to++) {
    rows.other[to] = others[items[to]];
    rows.room[to] = room[items[to]];
    rows.weight[to] = weight[items[to]];
  }
  return rows;
}

/**
 * Return the bars in an order in which each stands behind those to the left of it.
 *
 * @param {number} count
 * @param {Rows} leftOf
 * @param {Rows} rightOf
 */
function leftToRight(count, leftOf, rightOf) {
  const waiting = new Int32Array(count);
  const order = new Int32Array(count);
  let end = 0;
  for (let bar = 0; bar < count; bar++) {
    waiting[bar] = leftOf.starts[bar + 1] - leftOf.starts[bar];
    if (!waiting[bar]) order[end++] = bar;
  }
  for (let at = 0; at < end; at++)
    for (let index = rightOf.starts[order[at]]; index < rightOf.starts[order[at] + 1]; index++)
      if (!--waiting[rightOf.other[index]]) order[end++] = rightOf.other[index];
  return order;
}

/**
 * Return coordinates near the wanted ones at which no bars overlap.
 *
 * @param {Float64Array} wanted
 * @param {Int32Array} order
 * @param {Rows} leftOf
 * @param {Rows} rightOf
 */
function separated(wanted, order, leftOf, rightOf) {
  const toRight = wanted.slice();
  const toLeft = wanted.slice();
  for (const bar of order)
    for (let index = leftOf.starts[bar]; index < leftOf.starts[bar + 1]; index++) {
      const least = toRight[leftOf.other[index]] + leftOf.room[index];
      if (toRight[bar] < least) toRight[bar] = least;
    }
  for (let at = order.length - 1; at >= 0; at--) {
    const bar = order[at];
    for (let index = rightOf.starts[bar]; index < rightOf.starts[bar + 1]; index++) {
      const most = toLeft[rightOf.other[index]] - rightOf.room[index];
      if (toLeft[bar] > most) toLeft[bar] = most;
    }
  }
  for (let bar = 0; bar < toRight.length; bar++) toRight[bar] = (toRight[bar] + toLeft[bar]) / 2;
  return toRight;
}
