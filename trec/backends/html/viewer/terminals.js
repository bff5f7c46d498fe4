// Inputs and outputs that lie in one container, which are drawn as one, as `trec.backends.plan` has it.

import { folding } from "./folding.js";
import { INPUT, OUTPUT } from "./graph.js";
import { contentOf } from "./content.js";
import { SHOWN } from "./visibility.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Face} Face */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").View} View */

/** Ends of one container that are drawn apart. */
const FEW = 4;

/** Finds the inputs and outputs that are drawn in the box of an earlier one. */
export class Terminals {
  /** @param {Graph} graph @param {View} view @param {Int32Array} drawn nodes that are boxes of their own, in order */
  constructor(graph, view, drawn) {
    this.graph = graph;
    this.view = view;
    this.content = contentOf(graph, view);
    this.nodes = view.folded ? folding(graph).nodes : null;
    /** For each node that is drawn in the box of another, that one. @type {Map<number, number>} */
    this.leaders = new Map();
    /** All that are drawn in the box of the first of them, by that. @type {Map<number, number[]>} */
    this.together = new Map();
    for (const ends of this.#containers(drawn).values())
      for (const all of ends.size > FEW ? [[...ends.values()].flat().sort((one, other) => one - other)] : ends.values()) {
        if (all.length > 1) this.together.set(all[0], all);
        for (const other of all.slice(1)) this.leaders.set(other, all[0]);
      }
  }

  /** Inputs and outputs, by container and by what is at their other end. @param {Int32Array} drawn */
  #containers(drawn) {
    const { graph } = this;
    /** @type {Map<string, Map<string, number[]>>} */
    const found = new Map();
    for (const node of drawn) {
      const kind = graph.kind[node];
      if (kind !== INPUT && kind !== OUTPUT) continue;
      const around = graph.scopeNames[graph.parent[node]];
      const name = graph.nameOf(node);
      const [container, ...rest] = (around && name.startsWith(`${around}.`) ? name.slice(around.length + 1) : name).split(".");
      if (!rest.length) continue;
      const key = `${graph.parent[node]} ${kind} ${container}`;
      const ends = found.get(key) ?? new Map();
      found.set(key, ends);
      const end = kind === OUTPUT ? `${this.#origin(graph.inputs[graph.firstInput[node]])}` : [...this.#readers(node)].sort().join();
      const all = ends.get(end);
      if (all) all.push(node);
      else ends.set(end, [node]);
    }
    return found;
  }

  /** What a node is drawn in: a node or a closed scope; -1 for nothing. @param {number} node @returns {Item} */
  #drawn(node) {
    const { graph } = this;
    const first = this.nodes?.[node] ?? node;
    if (this.content.shown[first] !== SHOWN) return -1;
    let found = first;
    for (let scope = graph.parent[first]; scope > 0; scope = graph.scopeParent[scope])
      if (this.content.isClosed(scope, this.view.open)) found = graph.count + scope;
    return found;
  }

  /** What a value comes from; of one from nothing that is drawn, what is less than any. @param {number} value */
  #origin(value) {
    const { graph } = this;
    for (;;) {
      const maker = graph.producer[value];
      const item = this.#drawn(maker);
      if (item >= 0) return item;
      if (graph.firstInput[maker] === graph.firstInput[maker + 1]) return -1 - maker;
      value = graph.inputs[graph.firstInput[maker]];
    }
  }

  /** What reads an input, seen through what is hidden. @param {number} input @returns {Set<Item>} */
  #readers(input) {
    const { firstOutput, firstReader, readers } = this.graph;
    const found = new Set();
    const passed = new Set([input]);
    for (const node of passed)
      for (let at = firstReader[firstOutput[node]]; at < firstReader[firstOutput[node + 1]]; at++) {
        const item = this.#drawn(readers[at]);
        if (item < 0) passed.add(readers[at]);
        else found.add(item);
      }
    return found;
  }

  /** Write on each box that several share what these have in common. @param {Face[]} faces @param {Int32Array} boxes of each node */
  name(faces, boxes) {
    const { graph } = this;
    for (const [leader, all] of this.together) {
      const face = faces[boxes[leader]];
      faces[boxes[leader]] = { ...face, title: graph.fitted(commonName(graph, all), face.size, face.bold), subtitle: `${all.length} tensors` };
    }
  }
}

/** What the names of several nodes have in common. @param {Graph} graph @param {number[]} all */
export function commonName(graph, all) {
  const [first, ...others] = all.map((node) => graph.nameOf(node).split("."));
  return first.filter((word, at) => others.every((words) => words[at] === word)).join(".");
}
