// What is written along wires, and how they are drawn.

import { BUFFER, CONSTANT, HOST, INPUT, OUTPUT, PARAM } from "./graph.js";
import { ADDED, CARRIED, HOSTED, PLAIN, REMOVED } from "./strokes.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./types.js").Wire} Wire */
/** @typedef {import("./wires.js").Weaver} Weaver */
/** @typedef {import("./wires.js").Bundle} Bundle */

/**
 * Turns bundles of uses into wires. A shape is written where a value that has one no input of its maker has first leaves
 * that, and where it leaves a frame.
 *
 * @param {Weaver} weaver
 * @param {Omit<Picture, "wires">} picture
 * @param {View["shapes"]} shapes
 * @returns {Wire[]}
 */
export function labelled(weaver, picture, shapes) {
  const labels = new Labels(weaver, picture, shapes);
  return weaver.bundles.map((bundle) => labels.wire(bundle));
}

class Labels {
  /** @param {Weaver} weaver @param {Omit<Picture, "wires">} picture @param {View["shapes"]} shapes */
  constructor(weaver, picture, shapes) {
    this.weaver = weaver;
    this.graph = weaver.graph;
    this.picture = picture;
    this.shapes = shapes;
    /** Values whose shape is written already. @type {Set<number>} */
    this.written = new Set();
    /** Number of each bundle of several values. @type {Map<string, number>} */
    this.flows = new Map();
    this.depths = new Int32Array(picture.frames.length);
    picture.outer.forEach((outer, frame) => (this.depths[frame] = outer < 0 ? 0 : this.depths[outer] + 1));
  }

  /** @param {Bundle} bundle @returns {Wire} */
  wire(bundle) {
    if (bundle.stroke === CARRIED) return bundle;
    bundle.label = this.#label(bundle);
    bundle.stroke = this.#stroke(bundle);
    bundle.flow = this.#flow(bundle);
    return bundle;
  }

  /** A number that is the same where the same several values flow; -1 where it is one value. @param {Bundle} bundle */
  #flow({ source, value, others }) {
    if (!others) return -1;
    const key = [source, value, ...others].join(" ");
    let flow = this.flows.get(key);
    if (flow === undefined) this.flows.set(key, (flow = this.flows.size));
    return flow;
  }

  /** @param {Bundle} bundle */
  #stroke({ source, target, change, runs }) {
    if (change === 1) return ADDED;
    if (change === 2) return REMOVED;
    if (runs && runs.length < this.graph.data.runs) return HOSTED;
    return this.#kind(source) === HOST || this.#kind(target) === HOST ? HOSTED : PLAIN;
  }

  /** The kind of node that a box is; -1 for a closed scope. @param {number} box */
  #kind(box) {
    const node = this.picture.nodes[box];
    return node < 0 ? -1 : this.graph.kind[node];
  }

  /** @param {Bundle} bundle */
  #label({ source, target, value, alike, count }) {
    const times = count > 1 ? `×${count}` : "";
    if (this.shapes === "none" || !alike) return times;
    if (this.shapes === "changes") {
      const kind = this.#kind(source);
      if (kind === INPUT || kind === PARAM || kind === BUFFER || kind === CONSTANT) return times;
      if (this.#kind(target) === OUTPUT || this.written.has(value)) return times;
      if (!this.#changes(source, value) && !this.#leaves(source, target)) return times;
      this.written.add(value);
    }
    const shape = this.graph.shapeOf(value);
    return times && shape ? `${shape} (${times})` : shape || times;
  }

  /** Whether a value has a type that nothing its maker reads has. @param {number} source @param {number} value */
  #changes(source, value) {
    const { graph, weaver } = this;
    const node = this.picture.nodes[source];
    const type = graph.valueType[value];
    if (node < 0) return !weaver.types[source]?.includes(type);
    for (let at = graph.firstInput[node]; at < graph.firstInput[node + 1]; at++)
      if (graph.valueType[graph.inputs[at]] === type && weaver.uses.isSeen(graph.inputs[at])) return false;
    return true;
  }

  /** Whether a wire goes out of the frame that it begins in. @param {number} source @param {number} target */
  #leaves(source, target) {
    const { around, outer } = this.picture;
    const frame = around[source];
    let other = around[target];
    if (frame < 0) return false;
    while (other >= 0 && this.depths[other] > this.depths[frame]) other = outer[other];
    return other !== frame;
  }
}
