// The uses that can be seen as wires, through what is hidden and what is folded, whichever scopes are open.

import { folding } from "./folding.js";
import { BUFFER, CONSTANT, PARAM } from "./graph.js";
import { grouped } from "./layout/rows.js";
import { FOLDED, HIDDEN, SHOWN } from "./visibility.js";

/** @typedef {import("./graph.js").Graph} Graph */

/** @type {number[]} */
const NONE = [];

/** @param {number} kind */
function isState(kind) {
  return kind === PARAM || kind === BUFFER || kind === CONSTANT;
}

/** What shown nodes use of one another, each use a number, in the order in which they happen. */
export class Uses {
  /**
   * @param {Graph} graph
   * @param {boolean} folded
   * @param {Uint8Array} shown
   */
  constructor(graph, folded, shown) {
    this.graph = graph;
    this.folded = folded;
    this.shown = shown;
    this.folding = folding(graph);
    /** Values that hidden nodes pass on, by hidden value. @type {Map<number, number[]>} */
    this.passed = new Map();
    /** Of each use its value. @type {number[]} */
    this.values = [];
    /** The node that uses it. @type {number[]} */
    this.readers = [];
    /** Where it is among the inputs of all nodes. @type {number[]} */
    this.places = [];
    /** What iterations hand on: value, node that reads it in the next one, and loop. @type {Map<string, [number, number, number]>} */
    this.carried = new Map();
    /** The lowest scope in which both ends lie. @type {number[]} */
    this.scopes = [];
    this.#find();
    /** Uses by that scope. */
    this.within = grouped(graph.scopeCount, this.scopes);
  }

  #find() {
    const { graph, shown } = this;
    for (let node = 0; node < graph.count; node++) {
      if (shown[node] === HIDDEN) continue;
      for (let at = graph.firstInput[node]; at < graph.firstInput[node + 1]; at++) {
        const value = graph.inputs[at];
        const maker = graph.producer[value];
        if (shown[maker] === SHOWN && shown[node] === SHOWN) this.#add(value, node, at);
        else if (shown[maker] !== HIDDEN || !isState(graph.kind[maker])) for (const origin of this.origins(value)) this.#use(origin, node, at);
      }
    }
    for (const [value, node, , loop] of graph.data.carried)
      for (const origin of this.origins(value)) this.#carry(origin, node, loop);
  }

  /** @param {number} value @param {number} node @param {number} at */
  #add(value, node, at) {
    const { parent, producer, scopeParent } = this.graph;
    let one = parent[producer[value]];
    let other = parent[node];
    while (one !== other)
      if (one > other) one = scopeParent[one];
      else other = scopeParent[other];
    this.values.push(value);
    this.readers.push(node);
    this.places.push(at);
    this.scopes.push(one);
  }

  /** The values that are seen through hidden nodes. @param {number} value @returns {number[]} */
  origins(value) {
    const { graph, shown } = this;
    const maker = graph.producer[value];
    if (shown[maker] !== HIDDEN) return [value];
    if (isState(graph.kind[maker])) return NONE;
    let found = this.passed.get(value);
    if (!found) {
      this.passed.set(value, []);
      const all = [...graph.inputsOf(maker)].flatMap((input) => this.origins(input));
      this.passed.set(value, (found = [...new Set(all)]));
    }
    return found;
  }

  /** A use of what may be folded by what may be folded. @param {number} value @param {number} node @param {number} at */
  #use(value, node, at) {
    const { graph, shown } = this;
    const maker = graph.producer[value];
    if (shown[node] === FOLDED) {
      const from = this.folding.iteration[graph.parent[maker]];
      const to = this.folding.iteration[graph.parent[node]];
      const first = this.folding.nodes[node];
      // What an iteration reads of itself the first one reads too, and what is outside, but for what another loop began with.
      if (from !== to && (this.#isInLoop(graph.parent[maker], from, graph.like[to]) || this.#differs(value, first, at - graph.firstInput[node])))
        this.#carry(this.#first(value), first, this.folding.scopes[to]);
      return;
    }
    const first = this.#first(value);
    if (shown[graph.producer[first]] === SHOWN) this.#add(first, node, at);
  }

  /** Whether a node reads of another step than a value is made by. @param {number} value @param {number} node @param {number} port */
  #differs(value, node, port) {
    const { inputs, firstInput, producer, kind } = this.graph;
    const [here, there] = [value, inputs[firstInput[node] + port]].map((read) => producer[this.#first(read)]);
    return here !== there && !isState(kind[here]);
  }

  /** @param {number} scope @param {number} iteration @param {number} like the first iteration of the loop */
  #isInLoop(scope, iteration, like) {
    if (iteration >= 0) return this.graph.like[iteration] === like;
    return this.graph.isIn(scope, like);
  }

  /** The value of the first iteration that stands for a value. @param {number} value */
  #first(value) {
    const { firstOutput, producer } = this.graph;
    const maker = producer[value];
    const first = this.folding.nodes[maker];
    return this.folded ? firstOutput[first] + value - firstOutput[maker] : value;
  }

  /** @param {number} value @param {number} node @param {number} loop */
  #carry(value, node, loop) {
    const key = `${value} ${node} ${loop}`;
    if (!this.carried.has(key)) this.carried.set(key, [value, node, loop]);
  }

  /** Whether a value comes from anything that is shown. @param {number} value */
  isSeen(value) {
    return this.shown[this.graph.producer[value]] === SHOWN || this.origins(value).length > 0;
  }
}
