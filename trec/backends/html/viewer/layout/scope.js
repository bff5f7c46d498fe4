// One scope laid out: where its members stand and what way the nets between them take.
//
// Everything here runs downwards; arrange.js turns the outcome for other directions.

import { align } from "./alignment.js";
import { inColumns } from "./columns.js";
import { jointsOf, spread, springs } from "./joints.js";
import { Layers } from "./layers.js";
import { order } from "./ordering.js";
import { place } from "./placement.js";
import { lines } from "./routing.js";
import { Bands } from "./stacking.js";

/** @typedef {import("./columns.js").Gap} Gap */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./diagram.js").Size} Size */
/** @typedef {import("./nesting.js").Net} Net */
/** @typedef {import("./routing.js").Ways} Ways */
/** @typedef {import("./shape.js").Shape} Shape */
/** @template Found @typedef {import("./steps.js").Steps<Found>} Steps */

/** Half the room between two boxes of one layer, in points, as all lengths here. */
const BESIDE = 8;
/** Half the room beside a net that passes a layer. */
const LANE = 5;

/**
 * A scope laid out, seen from its top left corner, without its frame.
 *
 * @typedef {object} Content
 * @property {number} width
 * @property {number} height
 * @property {number} length how many layers it has
 * @property {Point[]} centres centre of each member
 * @property {number[]} into where each net enters at the top
 * @property {number[]} out where each net leaves at the bottom
 * @property {number[]} intoWays for each net that enters, how many layers the longest way from there passes
 * @property {number[]} outWays for each net that leaves, how many layers the longest way to there passes
 * @property {Ways[]} lines for each net, its ways
 * @property {Map<number, Point>} labels for each net with a text in this scope, the centre of the text
 * @property {number} crossings
 */

/**
 * Lay out a scope.
 *
 * @param {Net[]} nets what runs between the members
 * @param {Shape[]} shapes the members in the order in which they run
 * @param {number[]} entries the nets that enter, in the order in which they are put at first; empty for the inner ones
 *   first
 * @param {boolean} sideways whether the outcome will be turned, so that texts stand over nets rather than beside them
 * @param {number} wrap wanted length of a column; 0 for one column of any length
 * @returns {Steps<Content>}
 */
export function* layingOut(nets, shapes, entries, sideways, wrap) {
  const layers = new Layers(shapes, nets);
  yield;
  if (entries.length) {
    const entering = entries.map((position) => layers.entries[position]);
    layers.rows[0] = [...entering, ...layers.rows[0].filter((vertex) => !entering.includes(vertex))];
  }
  const joints = jointsOf(layers, shapes);
  const width = (/** @type {number} */ vertex) => Math.max(shapes[vertex]?.width ?? 1, 1);
  const leaves = joints.leaves.map((shift, index) => (shift ? shift / width(joints.upper[index]) : 0));
  const arrives = joints.arrives.map((shift, index) => (shift ? shift / width(joints.lower[index]) : 0));
  order(layers, leaves, arrives);
  yield;
  const straight = align(layers);
  spread(layers, shapes, joints, straight);
  const extents = extentsOf(layers, shapes, sideways);
  const gaps = new Float64Array(layers.layer.length).fill(LANE).fill(BESIDE, 0, layers.members);
  yield;
  const across = place(layers, joints, straight, extents, gaps, springs(layers));
  yield;
  let left = across.length ? Infinity : 0;
  let right = across.length ? -Infinity : 0;
  across.forEach((x, vertex) => {
    left = Math.min(left, x - extents[2 * vertex]);
    right = Math.max(right, x + extents[2 * vertex + 1]);
  });
  for (let vertex = 0; vertex < across.length; vertex++) across[vertex] -= left;
  const bands = new Bands(layers, shapes, joints, across, sideways);
  yield;
  const at = (/** @type {number} */ vertex) => across[vertex];
  const labels = texts(layers, nets, across, bands, sideways);
  const content = {
    width: right - left,
    height: bands.bottoms.length ? bands.bottoms[bands.bottoms.length - 1] : 0,
    length: layers.rows.length,
    centres: shapes.map((_, member) => /** @type {Point} */ ([across[member], bands.middles[member]])),
    into: layers.entries.map(at),
    out: layers.exits.map(at),
    intoWays: layers.entryWays,
    outWays: layers.exitWays,
    lines: lines(layers, nets, shapes, joints, across, bands),
    labels,
    crossings: layers.crossings,
  };
  if (!wrap) return content;
  /** @type {Map<number, Size>} */
  const rooms = new Map();
  for (const net of labels.keys()) {
    const [across, along] = nets[net].label ?? [0, 0];
    rooms.set(net, sideways ? [along, across] : [across, along]);
  }
  return inColumns(content, shapes, rooms, gapsOf(layers, bands), wrap);
}

/**
 * Return the centre of the text of each net that has one here: right of the net, or over it.
 *
 * @param {Layers} layers
 * @param {Net[]} nets
 * @param {Float64Array} across
 * @param {Bands} bands
 * @param {boolean} sideways
 */
function texts(layers, nets, across, bands, sideways) {
  /** @type {Map<number, Point>} */
  const found = new Map();
  nets.forEach(({ label, back }, net) => {
    if (!label) return;
    const chain = layers.chains[net];
    const vertex = chain[back ? chain.length - 2 : 0];
    const x = across[vertex];
    found.set(net, [sideways ? x - 2 - label[1] / 2 : x + 4 + label[0] / 2, bands.middles[vertex]]);
  });
  return found;
}

/**
 * Return where a scope may be cut: between layers with room between them, and not between a net and its text.
 *
 * @param {Layers} layers
 * @param {Bands} bands
 */
function gapsOf(layers, bands) {
  /** @type {Gap[]} */
  const gaps = [];
  for (let index = 0; index + 1 < layers.rows.length; index++) {
    const [start, end] = [bands.bottoms[index], bands.tops[index + 1]];
    if (!layers.texts.has(index + 1) && end - start > 1) gaps.push([start, end]);
  }
  return gaps;
}

/**
 * Return how far each vertex reaches to the left and to the right.
 *
 * @param {Layers} layers
 * @param {Shape[]} shapes
 * @param {boolean} sideways
 */
function extentsOf(layers, shapes, sideways) {
  const extents = new Float64Array(2 * layers.layer.length);
  shapes.forEach(({ width, loop }, member) => {
    extents[2 * member] = width / 2;
    extents[2 * member + 1] = width / 2 + loop;
  });
  for (const [vertex, [width, height]] of layers.labels) {
    if (sideways) extents[2 * vertex] = height + 2;
    else extents[2 * vertex + 1] = width + 4;
  }
  return extents;
}
