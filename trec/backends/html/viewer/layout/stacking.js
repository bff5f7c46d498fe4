// How far along the flow everything in a scope stands: one layer after the other, but no taller than it must be.

import { ARC, LEVEL, STRAIGHT } from "./routing.js";

/** @typedef {import("./joints.js").Joints} Joints */
/** @typedef {import("./layers.js").Layers} Layers */
/** @typedef {import("./shape.js").Shape} Shape */

/** Least room between two layers. */
const BETWEEN = 19;
/** Least room before the first layer, where nets enter. */
const ENTER = 12;
/** Least room behind the last layer, where nets leave. */
const LEAVE = 5;
/** Height of a layer in which small members stand at the top, and later ones may stand beside the tall. */
const TALL = 60;
/** Room between a layer and the texts after it. */
const TEXT = 4;
/** Room between two layers for each point that a net moves sideways there, so that no curve is too flat. */
const STEEP = 0.16;
/** Room on both sides of what stands beside something tall. */
const APART = 6;
/** Room between the texts after a layer and the next one. */
const BELOW_TEXT = 14;
/** Most room that is made so. */
const FLAT = 48;

/** Where layers and what is in them are along the flow. */
export class Bands {
  /**
   * A member stands in its own layer, or beside a tall member of an earlier one, straight below what leads to it.
   *
   * @param {Layers} layers
   * @param {Shape[]} shapes
   * @param {Joints} joints
   * @param {Float64Array} across coordinate of each vertex
   * @param {boolean} sideways whether the outcome will be turned, so that texts lie along the flow
   */
  constructor(layers, shapes, joints, across, sideways) {
    const count = layers.layer.length;
    this.layers = layers;
    this.joints = joints;
    this.across = across;
    this.width = new Float64Array(count);
    /** Height of members and texts; not a number for other vertices. */
    this.height = new Float64Array(count).fill(NaN);
    shapes.forEach((shape, member) => {
      this.width[member] = shape.width;
      this.height[member] = shape.height + (shape.loop ? 2 * ARC : 0);
    });
    for (const [vertex, [width, height]] of layers.labels) {
      this.width[vertex] = sideways ? 2 * height : 2 * width + 8;
      this.height[vertex] = sideways ? width : height;
    }
    /** How far sideways any segment goes between each layer and the next. */
    this.steepest = new Float64Array(layers.rows.length);
    /** How many segments end at each vertex, and the last of them. */
    this.arriving = new Int32Array(count);
    this.into = new Int32Array(count);
    /** How many segments begin at each vertex. */
    this.leaving = new Int32Array(count);
    for (let joint = 0; joint < joints.upper.length; joint++) {
      const [upper, lower] = [joints.upper[joint], joints.lower[joint]];
      this.leaving[upper]++;
      this.arriving[lower]++;
      this.into[lower] = joint;
      const layer = layers.layer[upper];
      if (!layers.turns.has(upper) && !layers.turns.has(lower))
        this.steepest[layer] = Math.max(this.steepest[layer], this.moved(joint));
    }
    this.tall = this.height.some((height) => height > TALL);
    /** How many nets turn behind each layer. */
    this.turning = new Int32Array(layers.rows.length);
    for (const layer of layers.turns.values()) this.turning[layer]++;
    /** @type {number[]} Where each layer begins. */
    this.tops = [];
    /** @type {number[]} Where each layer ends; curves run between that and the next top. */
    this.bottoms = [];
    /** For each member, and each vertex with a text, its centre; not a number as long as it is not known. */
    this.middles = new Float64Array(count).fill(NaN);
    /** Layer in which each member and each text stands, which is not its own if it was raised. */
    this.band = new Int32Array(count).fill(-1);
    this.stack();
  }

  stack() {
    const { rows } = this.layers;
    let along = 0;
    let before = -1;
    rows.forEach((row, index) => {
      const solid = row.filter((vertex) => this.height[vertex] >= 0);
      const left = index && this.tall ? solid.filter((vertex) => !this.raise(vertex, index)) : solid;
      if (before >= 0 && before < index - 1 && left.length)
        along = Math.max(along, this.bottoms[before] + this.apart(before, index));
      let height = 0;
      for (const vertex of left) height = Math.max(height, this.height[vertex]);
      for (const vertex of left) {
        this.band[vertex] = index;
        this.middles[vertex] = along + (height > TALL ? this.height[vertex] : height) / 2;
      }
      this.tops.push(along);
      along += height;
      this.bottoms.push(along);
      if (left.length) before = index;
      if (index === rows.length - 1) return;
      const least = index === 0 || left.length ? this.room(index) : 0;
      along += Math.max(least, Math.min(FLAT, STEEP * this.steepest[index]));
    });
  }

  /**
   * Return the least room between a layer and the next.
   *
   * @param {number} index
   */
  room(index) {
    const { texts, rows } = this.layers;
    const least = this.turning[index] ? ARC + LEVEL * (this.turning[index] - 1) : 0;
    if (texts.has(index + 1)) return Math.max(TEXT, least);
    if (texts.has(index)) return Math.max(BELOW_TEXT, least);
    if (index === 0 && !this.holdsMembers(0)) return Math.max(ENTER, least);
    return index + 2 === rows.length && !this.holdsMembers(index + 1) ? Math.max(LEAVE, least) : BETWEEN;
  }

  /**
   * Tell whether a layer holds more than ends of nets.
   *
   * @param {number} index
   */
  holdsMembers(index) {
    return this.layers.rows[index].some((vertex) => vertex < this.layers.members);
  }

  /**
   * Return the least room between two layers with nothing in those between them.
   *
   * @param {number} before
   * @param {number} index
   */
  apart(before, index) {
    if (this.layers.texts.has(before)) return BELOW_TEXT;
    return this.layers.texts.has(index) ? TEXT : BETWEEN;
  }

  /**
   * Return how far sideways a segment goes.
   *
   * @param {number} joint
   */
  moved(joint) {
    const { upper, lower, leaves, arrives } = this.joints;
    return Math.abs(this.across[upper[joint]] + leaves[joint] - this.across[lower[joint]] - arrives[joint]);
  }

  /**
   * Place a vertex beside something tall in a layer before, straight below what leads to it, if it fits there.
   *
   * @param {number} vertex
   * @param {number} index
   */
  raise(vertex, index) {
    const column = this.column(vertex);
    if (!column.length) return false;
    const upper = column[column.length - 1];
    const band = this.roomBeside(vertex, upper, index);
    if (band < 0 || !this.isFree(vertex, column, this.band[upper], index)) return false;
    this.band[vertex] = band;
    this.middles[vertex] = this.below(upper, band, index) + this.height[vertex] / 2;
    return true;
  }

  /**
   * Return what alone leads straight to a vertex, up to the first member or text; empty if nothing does.
   *
   * @param {number} vertex
   */
  column(vertex) {
    /** @type {number[]} */
    const column = [];
    for (;;) {
      const joint = this.into[vertex];
      if (this.arriving[vertex] !== 1 || this.moved(joint) > STRAIGHT) return [];
      vertex = this.joints.upper[joint];
      if (this.leaving[vertex] !== 1) return [];
      column.push(vertex);
      if (!isNaN(this.middles[vertex])) return column;
    }
  }

  /**
   * Return the first layer from that of what leads to a vertex on in which the vertex fits; -1 if in none.
   *
   * @param {number} vertex
   * @param {number} upper
   * @param {number} index
   */
  roomBeside(vertex, upper, index) {
    for (let band = this.band[upper]; band < index; band++) {
      const tall = this.bottoms[band] - this.tops[band] > TALL;
      if (tall && this.below(upper, band, index) + this.height[vertex] <= this.bottoms[band]) return band;
    }
    return -1;
  }

  /**
   * Return where something may begin in a layer, below what leads to it.
   *
   * @param {number} upper
   * @param {number} band
   * @param {number} index
   */
  below(upper, band, index) {
    return Math.max(this.middles[upper] + this.height[upper] / 2 + this.room(index - 1), this.tops[band]);
  }

  /**
   * Tell whether nothing but what leads to a vertex is in its column, in the layers before its own.
   *
   * @param {number} vertex
   * @param {number[]} column
   * @param {number} first
   * @param {number} index
   */
  isFree(vertex, column, first, index) {
    const half = this.width[vertex] / 2 + APART;
    const left = this.across[vertex] - half;
    const right = this.across[vertex] + half;
    const leading = new Set([...column, ...this.above(column[column.length - 1], first)]);
    for (let layer = first; layer < index; layer++)
      for (const other of this.layers.rows[layer]) {
        const reach = this.width[other] / 2;
        const beside = this.across[other] - reach >= right || this.across[other] + reach <= left;
        if (!beside && !leading.has(other)) return false;
      }
    return true;
  }

  /**
   * Return what was raised above a vertex, back to a layer.
   *
   * @param {number} vertex
   * @param {number} first
   */
  above(vertex, first) {
    /** @type {number[]} */
    let found = [];
    while (this.layers.layer[vertex] > first) {
      const column = this.column(vertex);
      if (!column.length) break;
      found = found.concat(column);
      vertex = column[column.length - 1];
    }
    return found;
  }
}
