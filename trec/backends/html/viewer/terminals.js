// Outputs that lie in one container and come from one box, which are drawn as one.

import { folding } from "./folding.js";
import { OUTPUT } from "./graph.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Face} Face */

/** Finds the box that an output shares with earlier ones. */
export class Terminals {
  /** @param {Graph} graph @param {boolean} folded @param {(node: number) => number} boxOf the box of a node before an output that is asked for; -1 for none */
  constructor(graph, folded, boxOf) {
    this.graph = graph;
    this.folded = folded;
    this.boxOf = boxOf;
    /** @type {Map<string, number[]>} Outputs, by container and by what they come from. */
    this.found = new Map();
  }

  /** The box of an earlier output that a node is drawn in; -1 for one of its own. @param {number} node */
  shared(node) {
    const { graph } = this;
    if (graph.kind[node] !== OUTPUT) return -1;
    const [container, ...rest] = graph.nameOf(node).split(".");
    if (!rest.length) return -1;
    const key = `${this.#origin(graph.inputs[graph.firstInput[node]])} ${container}`;
    const together = this.found.get(key) ?? [];
    this.found.set(key, together);
    return together.push(node) > 1 ? this.boxOf(together[0]) : -1;
  }

  /** The box that a value comes from; of one from none, what is less than any. @param {number} value */
  #origin(value) {
    const { graph, boxOf } = this;
    const { nodes } = folding(graph);
    for (;;) {
      const maker = this.folded ? nodes[graph.producer[value]] : graph.producer[value];
      const box = boxOf(maker);
      if (box >= 0) return box;
      if (graph.firstInput[maker] === graph.firstInput[maker + 1]) return -1 - maker;
      value = graph.inputs[graph.firstInput[maker]];
    }
  }

  /** Write on each box that several outputs share what these have in common. @param {Face[]} faces */
  name(faces) {
    const { graph, boxOf } = this;
    for (const together of this.found.values()) {
      if (together.length < 2) continue;
      const [first, ...others] = together.map((node) => graph.nameOf(node).split("."));
      const title = first.filter((word, at) => others.every((words) => words[at] === word)).join(".");
      const face = faces[boxOf(together[0])];
      faces[boxOf(together[0])] = { ...face, title: graph.fitted(title, face.size, face.bold), subtitle: `${together.length} tensors` };
    }
  }
}
