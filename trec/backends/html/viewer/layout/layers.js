// Layers: members that stand beside one another, and the vertices that long nets and texts are made of.

import { endsOf, Ranks } from "./ranks.js";
import { OUT, Ways } from "./ways.js";

/** @typedef {import("./diagram.js").Size} Size */
/** @typedef {import("./nesting.js").Net} Net */
/** @typedef {import("./shape.js").Shape} Shape */

/** Vertices of long nets for which there is always room, besides six for each member. */
const LEAST = 2000;

/**
 * Pieces of nets from one layer to the next, a column for each property.
 *
 * @typedef {object} Segments
 * @property {number[]} upper vertex that each comes from
 * @property {number[]} lower vertex that it leads to
 * @property {number[]} upperPort
 * @property {number[]} lowerPort
 * @property {number[]} net
 * @property {number[]} through how many members the longest way along it passes; the greatest is the trunk
 */

/**
 * The members of a scope in layers, with a vertex wherever a net passes a layer.
 *
 * Vertices are numbered: the members, then the nets that enter, those that leave, and the pieces of long nets.
 */
export class Layers {
  /**
   * Every net leads to later layers. Where a text stands beside a net, a layer of its own is made for it. A net that
   * runs back leaves its source and reaches its target along the flow like any other, so it turns twice, and goes up
   * beside all that is between.
   *
   * @param {Shape[]} shapes the members
   * @param {Net[]} nets what runs between them, from lower to higher positions unless it runs back
   */
  constructor(shapes, nets) {
    const count = shapes.length;
    const onwards = nets.map((net) => (net.back ? { ...net, source: net.targets[0], targets: [net.source] } : net));
    const ends = endsOf(count, onwards);
    const { rank, flow } = new Ranks(count, onwards, ends, (member) => shapes[member].first);
    const back = nets.filter((net) => net.back);
    const forth = back.length ? nets.filter((net) => !net.back) : nets;
    this.ways = new Ways(forth, back.length ? endsOf(count, forth) : ends, shapes, flow);
    this.members = count;
    /** @type {Set<number>} Layers that hold texts and no members. */
    this.texts = new Set();
    /** Layer of each vertex. */
    this.layer = this.withTexts(rank, forth, back.some((net) => !rank[net.targets[0]]) ? 1 : 0);
    /** @type {Segments} */
    this.segments = { upper: [], lower: [], upperPort: [], lowerPort: [], net: [], through: [] };
    /**
     * @type {number[][]} For each net, its vertices in the layers after its source, as far as it has any; for one that
     *   runs back, the turn before its target, its vertices beside all from there to its source, and the turn behind.
     */
    this.chains = [];
    /** @type {number[]} For each net that enters, its vertex, in the first layer. */
    this.entries = [];
    /** @type {number[]} For each net that leaves, its vertex, in the last layer. */
    this.exits = [];
    /** @type {number[]} For each net that enters, how many layers the longest way from there passes. */
    this.entryWays = [];
    /** @type {number[]} For each net that leaves, how many layers the longest way to there passes. */
    this.exitWays = [];
    /** @type {Map<number, Size>} Room for text beside a vertex. */
    this.labels = new Map();
    /** @type {Map<number, number>} For each vertex that stands for a turn, the layer behind which a net turns. */
    this.turns = new Map();
    this.crossings = 0;
    /** How many layers there are. */
    this.last = 0;
    for (const value of this.layer) if (value >= this.last) this.last = value + 1;
    if (nets.some((net) => net.leaves)) this.last++;
    for (const net of back) this.last = Math.max(this.last, this.layer[net.source] + 2);
    /** How many vertices of long nets may still be made; nets beyond that run straight to their ends. */
    this.budget = 6 * count + LEAST;
    /**
     * What each vertex is ordered by at first, by the first of two numbers and then the second: members, then nets; of
     * nested nets the inner one.
     */
    this.outer = Array(count).fill(-1);
    this.inner = this.layer.map((_, member) => member);
    for (const net of nets) {
      if (net.back) this.addBack(net);
      else this.add(net);
    }
    /** @type {number[][]} Vertices of each layer from left to right. */
    this.rows = Array.from({ length: this.last }, () => []);
    this.layer.forEach((value, vertex) => this.rows[value].push(vertex));
    for (const row of this.rows)
      // All that passes comes behind the members, which are in order.
      if (row.length > 1 && row[row.length - 1] >= count)
        row.sort((one, other) => this.outer[one] - this.outer[other] || this.inner[one] - this.inner[other]);
  }

  /**
   * Add the vertices and segments of a net.
   *
   * @param {Net} net
   */
  add(net) {
    const { layer, ways } = this;
    /** @type {[number, number, number][]} Where it leads to, by which port, and how long the way from there is. */
    const ends = net.targets.map((end, index) => [end, net.ports[index], ways.behind(end, net.ports[index])]);
    const way = ways.before(net);
    let source = net.source;
    const start = source >= 0 ? layer[source] : 0;
    const reach = net.leaves ? this.last - 1 : net.targets.reduce((most, end) => Math.max(most, layer[end]), 0);
    const outer = this.last - start;
    if (source < 0) {
      source = this.vertex(0, outer, reach);
      this.entries.push(source);
      this.entryWays.push(ends.reduce((most, [, , length]) => Math.max(most, length), 0) % OUT);
    }
    if (net.leaves) {
      const exit = this.vertex(reach, outer, reach);
      ends.push([exit, 0, OUT]);
      this.exits.push(exit);
      this.exitWays.push(way);
    }
    let far = reach - start - 1;
    if (!net.label && far > this.budget) far = 0;
    this.budget -= far;
    const chain = Array.from({ length: far }, (_, step) => this.vertex(start + 1 + step, outer, reach));
    const index = this.chains.push(chain) - 1;
    if (net.label) this.labels.set(chain[0], net.label);
    const longest = new Float64Array(far + 1);
    for (const [end, port, length] of ends) {
      const step = Math.min(layer[end] - start - 2, far - 1);
      if (step < 0) this.segment(source, end, net.port, port, index, way + length);
      else {
        this.segment(chain[step], end, 0, port, index, way + length);
        longest[step] = Math.max(longest[step], length);
      }
    }
    for (let step = far - 1; step >= 0; step--) {
      longest[step] = Math.max(longest[step], longest[step + 1]);
      const [upper, port] = step ? [chain[step - 1], 0] : [source, net.port];
      this.segment(upper, chain[step], port, 0, index, way + longest[step]);
    }
  }

  /**
   * Add the vertices and segments of a net that runs back; the last segment is that from its source.
   *
   * @param {Net} net
   */
  addBack({ source, port, targets, ports, label }) {
    const first = this.layer[targets[0]];
    const last = this.layer[source];
    const outer = this.last - first;
    const step = last + 1 - first > this.budget ? last - first : 1;
    const chain = [this.vertex(first - 1, outer, last)];
    for (let layer = first; layer <= last; layer += step) chain.push(this.vertex(layer, outer, last));
    this.budget -= chain.length - 1;
    const before = chain[0];
    const behind = this.vertex(last + 1, outer, last);
    chain.push(behind);
    this.turns.set(before, first - 1).set(behind, last);
    if (label) this.labels.set(chain[chain.length - 2], label);
    const index = this.chains.push(chain) - 1;
    this.segment(before, targets[0], 0, ports[0], index, 0);
    for (let at = 1; at < chain.length; at++) this.segment(chain[at - 1], chain[at], 0, 0, index, 0);
    this.segment(source, behind, port, 0, index, 0);
  }

  /**
   * Return the layer of each member, with one more layer behind each rank from which a net with a text comes.
   *
   * @param {Int32Array} rank
   * @param {Net[]} nets
   * @param {number} lift how many layers there are before all
   */
  withTexts(rank, nets, lift) {
    let last = 0;
    for (const value of rank) if (value > last) last = value;
    const shift = new Int32Array(last + 2);
    for (const net of nets) if (net.label) shift[rank[net.source] + 1] = 1;
    for (let index = 1; index < shift.length; index++) {
      if (shift[index]) this.texts.add(index + shift[index - 1] + lift);
      shift[index] += shift[index - 1];
    }
    return Array.from(rank, (value) => value + shift[value] + lift);
  }

  /**
   * @param {number} layer
   * @param {number} outer
   * @param {number} inner
   */
  vertex(layer, outer, inner) {
    this.outer.push(outer);
    this.inner.push(inner);
    return this.layer.push(layer) - 1;
  }

  /**
   * @param {number} upper
   * @param {number} lower
   * @param {number} upperPort
   * @param {number} lowerPort
   * @param {number} net
   * @param {number} through
   */
  segment(upper, lower, upperPort, lowerPort, net, through) {
    const { segments } = this;
    segments.upper.push(upper);
    segments.lower.push(lower);
    segments.upperPort.push(upperPort);
    segments.lowerPort.push(lowerPort);
    segments.net.push(net);
    segments.through.push(through);
  }
}

/**
 * Return the position of each vertex in its layer.
 *
 * @param {Layers} layers
 */
export function places(layers) {
  const place = new Int32Array(layers.layer.length);
  for (const row of layers.rows) row.forEach((vertex, position) => (place[vertex] = position));
  return place;
}
