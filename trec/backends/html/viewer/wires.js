// The wires between boxes: each pair of boxes joined once, whatever is used between them.

import { folding } from "./folding.js";
import { BUFFER, CONSTANT, MODULE, PARAM } from "./graph.js";
import { FOLDED, HIDDEN, SHOWN } from "./visibility.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Picture} Picture */

/**
 * @typedef {object} Bundle
 * @property {number} source
 * @property {number} target
 * @property {number} value the first value that is used
 * @property {number[]} others what is used besides, once for each use
 * @property {boolean} alike whether all values have one type
 * @property {boolean} carried whether a loop hands it on
 * @property {number} change what happened to all of the uses; 0 for nothing, -1 where not the same happened to all
 */

/** @type {number[]} */
const NONE = [];

/** @param {number} kind */
function isState(kind) {
  return kind === PARAM || kind === BUFFER || kind === CONSTANT;
}

/** Follows uses from box to box. */
export class Weaver {
  /**
   * @param {Graph} graph
   * @param {View} view
   * @param {Uint8Array} shown
   * @param {Omit<Picture, "wires">} picture
   */
  constructor(graph, view, shown, picture) {
    this.graph = graph;
    this.folded = view.folded;
    this.shown = shown;
    this.boxOf = picture.boxOf;
    this.boxes = picture.boxes;
    this.nodes = picture.nodes;
    this.folding = folding(graph);
    /** @type {Map<number, Bundle>} */
    this.found = new Map();
    /** @type {Map<number, Bundle>} */
    this.loops = new Map();
    /** What has entered boxes that take each value once. @type {Set<number>} */
    this.entered = new Set();
    /** For each closed scope, the types of what enters it. @type {Map<number, Set<number>>} */
    this.types = new Map();
    /** Values that hidden nodes pass on, by hidden value. @type {Map<number, number[]>} */
    this.passed = new Map();
    this.changed = new Map(graph.data.changed);
  }

  /** @returns {Bundle[]} in the order in which targets run */
  bundles() {
    const { graph, shown } = this;
    for (let node = 0; node < graph.count; node++) {
      if (shown[node] === HIDDEN) continue;
      for (let at = graph.firstInput[node]; at < graph.firstInput[node + 1]; at++) {
        const value = graph.inputs[at];
        const maker = graph.producer[value];
        if (shown[maker] === SHOWN && shown[node] === SHOWN) {
          const source = this.boxOf[maker];
          if (source !== this.boxOf[node]) this.#add(source, node, value, at);
        } else if (shown[maker] !== HIDDEN || !isState(graph.kind[maker])) for (const origin of this.origins(value)) this.#use(origin, node, at);
      }
    }
    for (const [value, node, , loop] of graph.data.carried)
      for (const origin of this.origins(value)) this.#carry(origin, node, loop);
    return [...this.found.values(), ...this.loops.values()];
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
      // What an iteration reads of itself or from outside the first one reads too.
      if (from !== to && this.#isInLoop(graph.parent[maker], from, graph.like[to]))
        this.#carry(this.#first(value), this.folding.nodes[node], this.folding.scopes[to]);
      return;
    }
    const first = this.#first(value);
    const source = this.boxOf[graph.producer[first]];
    if (source !== this.boxOf[node]) this.#add(source, node, first, at);
  }

  /** @param {number} scope @param {number} iteration @param {number} like the first iteration of the loop */
  #isInLoop(scope, iteration, like) {
    if (iteration >= 0) return this.graph.like[iteration] === like;
    return this.#isIn(scope, like);
  }

  /** @param {number} scope @param {number} outer */
  #isIn(scope, outer) {
    for (let around = scope; around >= 0; around = this.graph.scopeParent[around]) if (around === outer) return true;
    return false;
  }

  /** The value of the first iteration that stands for a value. @param {number} value */
  #first(value) {
    const { firstOutput, producer } = this.graph;
    const maker = producer[value];
    const first = this.folding.nodes[maker];
    return this.folded ? firstOutput[first] + value - firstOutput[maker] : value;
  }

  /** What an iteration hands to the next, unless all of the loop is in one box. @param {number} value @param {number} node @param {number} loop */
  #carry(value, node, loop) {
    const source = this.boxOf[this.graph.producer[value]];
    const target = this.boxOf[node];
    if (source < 0 || target < 0) return;
    const inside = this.boxes[source] - this.graph.count;
    if (source === target && inside >= 0 && loop !== inside && this.#isIn(loop, inside)) return;
    const key = source * this.boxes.length + target;
    if (this.loops.has(key)) return;
    this.loops.set(key, { source, target, value, others: [], alike: true, carried: true, change: 0 });
  }

  /** @param {number} source @param {number} node @param {number} value @param {number} at */
  #add(source, node, value, at) {
    const target = this.boxOf[node];
    if (source < 0 || target < 0) return;
    const { graph } = this;
    const only = this.nodes[target];
    if (only < 0 || graph.kind[only] === MODULE) {
      const entry = value * this.boxes.length + target;
      if (this.entered.has(entry)) return;
      this.entered.add(entry);
      if (only < 0) this.#enter(target, graph.valueType[value]);
    }
    const key = source * this.boxes.length + target;
    const change = graph.diff ? this.#change(node, value, at) : 0;
    const bundle = this.found.get(key);
    if (!bundle) {
      this.found.set(key, { source, target, value, others: [], alike: true, carried: false, change });
      return;
    }
    bundle.others.push(value);
    bundle.alike &&= graph.valueType[bundle.value] === graph.valueType[value];
    if (bundle.change !== change) bundle.change = -1;
  }

  /** @param {number} box @param {number} type */
  #enter(box, type) {
    const types = this.types.get(box);
    if (types) types.add(type);
    else this.types.set(box, new Set([type]));
  }

  /** Whether a value comes from anything that is shown. @param {number} value */
  isSeen(value) {
    return this.shown[this.graph.producer[value]] === SHOWN || this.origins(value).length > 0;
  }

  /** What happened to a use: to itself, or to what is at one of its ends. @param {number} node @param {number} value @param {number} at */
  #change(node, value, at) {
    const own = this.changed.get(at);
    if (own) return own;
    const ends = [this.graph.change[this.graph.producer[value]], this.graph.change[node]];
    return ends.find((change) => change === 1 || change === 2) ?? 0;
  }
}
