// Who stands left of whom in each layer, so that few nets cross.

import { Counter } from "./crossings.js";
import { places } from "./layers.js";

/** @typedef {import("./layers.js").Layers} Layers */
/** @typedef {number[]} Near vertices, each followed by how far right of their middle something would stand */

const SWEEPS = 8;
/** Sweeps without any gain after which there is no further one. */
const PATIENCE = 2;
/** Vertices up to which the sweeps are done twice, beginning at either end. */
const FEW = 600;
/** Layers of at most so many vertices have their neighbours exchanged; more would take long. */
const SMALL = 40;

/**
 * Put the vertices of each layer in an order with few crossings, and count these.
 *
 * @param {Layers} layers
 * @param {ArrayLike<number>} leaves for each segment, how far right of its upper vertex it leaves, in widths of that
 * @param {ArrayLike<number>} arrives for each segment, how far right of its lower vertex it arrives
 */
export function order(layers, leaves, arrives) {
  const sweep = new Sweep(layers, leaves, arrives);
  const first = sweep.crossings();
  let best = first;
  if (best) sweep.lookAround();
  const start = copied(layers.rows);
  let rows = start;
  for (const down of [true, false]) {
    if (best === 0 || (!down && layers.layer.length > FEW)) break;
    if (!down) sweep.restart(start);
    let idle = 0;
    let last = first;
    for (let turn = 0; turn < SWEEPS; turn++) {
      sweep.run(down === (turn % 2 === 0));
      const count = sweep.crossings();
      idle = count < last ? 0 : idle + 1;
      last = Math.min(last, count);
      if (count < best) {
        best = count;
        rows = copied(layers.rows);
      }
      if (count === 0 || idle >= PATIENCE) break;
    }
  }
  if (best) {
    sweep.restart(rows);
    sweep.exchange();
    rows = sweep.rows;
    best = sweep.crossings();
  }
  layers.rows = rows;
  layers.crossings = best;
}

/** @param {number[][]} rows */
function copied(rows) {
  return rows.map((row) => row.slice());
}

/** The order of one graph while it is improved. */
class Sweep {
  /**
   * @param {Layers} layers
   * @param {ArrayLike<number>} leaves
   * @param {ArrayLike<number>} arrives
   */
  constructor(layers, leaves, arrives) {
    const { upper, lower } = layers.segments;
    this.rows = layers.rows;
    this.layer = layers.layer;
    this.leaves = leaves;
    this.arrives = arrives;
    this.upper = upper;
    this.lower = lower;
    /** @type {number[][]} For each layer, the segments that begin in it. */
    this.between = this.rows.map(() => []);
    upper.forEach((vertex, segment) => this.between[layers.layer[vertex]].push(segment));
    const most = this.between.reduce((most, segments) => Math.max(most, segments.length), 0);
    this.counter = new Counter(most);
    this.starts = new Float64Array(upper.length);
    this.ends = new Float64Array(upper.length);
    /** How often segments cross behind each layer; -1 for where that is to be found out anew. */
    this.counts = new Int32Array(this.rows.length).fill(-1);
    /** Whether all segments lead to the next layer. */
    this.near = upper.every((vertex, segment) => layers.layer[lower[segment]] === layers.layer[vertex] + 1);
    this.place = places(layers);
    this.key = new Float64Array(this.place.length);
    /** @type {Near[]} For each vertex, those before it. */
    this.up = [];
    /** @type {Near[]} */
    this.down = [];
  }

  /** Find out what is before and behind each vertex, which is needed once something is to be moved. */
  lookAround() {
    this.up = Array.from(this.place, () => []);
    this.down = Array.from(this.place, () => []);
    this.upper.forEach((vertex, segment) => {
      const shift = this.leaves[segment] - this.arrives[segment];
      this.up[this.lower[segment]].push(vertex, shift);
      this.down[vertex].push(this.lower[segment], -shift);
    });
  }

  /**
   * Put the layers back in an earlier order.
   *
   * @param {number[][]} rows
   */
  restart(rows) {
    rows.forEach((earlier, index) => {
      const row = this.rows[index];
      for (let position = 0; position < row.length; position++) row[position] = earlier[position];
      this.settle(index);
    });
  }

  /**
   * Take the order of a layer as it is now.
   *
   * @param {number} index
   */
  settle(index) {
    const row = this.rows[index];
    let moved = false;
    for (let position = 0; position < row.length; position++) {
      moved ||= this.place[row[position]] !== position;
      this.place[row[position]] = position;
    }
    if (moved) this.forget(index);
  }

  /**
   * Have crossings counted anew where a layer matters.
   *
   * @param {number} index
   */
  forget(index) {
    if (this.near) this.counts.fill(-1, Math.max(index - 1, 0), index + 1);
    else this.counts.fill(-1);
  }

  /**
   * Sort each layer by where its neighbours on one side stand.
   *
   * @param {boolean} down
   */
  run(down) {
    const { rows, place, key } = this;
    const neighbours = down ? this.up : this.down;
    for (let step = 1; step < rows.length; step++) {
      const index = down ? step : rows.length - 1 - step;
      const row = rows[index];
      if (row.length < 2) continue;
      for (const vertex of row) {
        const near = neighbours[vertex];
        let total = 0;
        for (let at = 0; at < near.length; at += 2) total += place[near[at]] + near[at + 1];
        key[vertex] = near.length ? total / (near.length / 2) : place[vertex];
      }
      row.sort((one, other) => key[one] - key[other]);
      this.settle(index);
    }
  }

  /** Return how many pairs of segments cross. */
  crossings() {
    const { place, upper, lower, starts, ends } = this;
    let total = 0;
    this.between.forEach((segments, index) => {
      if (this.counts[index] < 0) {
        for (const segment of segments) {
          starts[segment] = place[upper[segment]] + this.leaves[segment];
          ends[segment] = place[lower[segment]] + this.arrives[segment];
        }
        this.counts[index] = this.counter.crossings(segments, starts, ends);
      }
      total += this.counts[index];
    });
    return total;
  }

  /** Exchange neighbours in small layers as long as that spares crossings. */
  exchange() {
    for (const row of this.rows) {
      if (row.length < 2 || row.length > SMALL) continue;
      for (let turn = 0; turn < row.length; turn++) {
        let position = 0;
        while (position < row.length - 1 && !this.swap(row, position)) position++;
        if (position === row.length - 1) break;
      }
    }
  }

  /**
   * Exchange two neighbours if fewer nets cross then, and tell whether that is so.
   *
   * @param {number[]} row
   * @param {number} position
   */
  swap(row, position) {
    const left = row[position];
    const right = row[position + 1];
    const { place } = this;
    let gain = 0;
    for (const neighbours of [this.up, this.down]) {
      const ours = neighbours[left];
      const theirs = neighbours[right];
      for (let one = 0; one < theirs.length; one += 2) {
        const end = place[theirs[one]] + theirs[one + 1];
        for (let other = 0; other < ours.length; other += 2) {
          const mine = place[ours[other]] + ours[other + 1];
          if (mine > end) gain++;
          else if (mine < end) gain--;
        }
      }
    }
    if (gain <= 0) return false;
    row[position] = right;
    row[position + 1] = left;
    place[left] = position + 1;
    place[right] = position;
    this.forget(this.layer[left]);
    return true;
  }
}
