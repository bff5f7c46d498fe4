// The wires between boxes: each pair of boxes joined once, whatever is used between them.

import { folding } from "./folding.js";
import { BUFFER, CONSTANT, MODULE, PARAM } from "./graph.js";
import { Pairs } from "./pairs.js";
import { CARRIED, PLAIN } from "./strokes.js";
import { FOLDED, HIDDEN, SHOWN } from "./visibility.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Picture} Picture */

/**
 * A wire with what its text depends on.
 *
 * @typedef {import("./types.js").Wire & { others: number[] | null, alike: boolean, change: number }} Bundle what is used
 *   besides its value, once for each use; whether all values have one type; and what happened to all of the uses, 0 for
 *   nothing, -1 where not the same happened to all
 */

/** @param {number} source @param {number} target @param {number} value @param {number} stroke @param {number} change @returns {Bundle} */
function bundle(source, target, value, stroke, change) {
  return { source, target, value, count: 1, stroke, label: "", flow: -1, others: null, alike: true, change };
}

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
    /** @type {Pairs<Bundle>} */
    this.found = new Pairs();
    /** @type {Pairs<Bundle>} */
    this.loops = new Pairs();
    /** For each box of a closed scope, the types of what enters it. @type {number[][]} */
    this.types = new Array(this.boxes.length);
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
    return [...this.found.rows, ...this.loops.rows];
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
    if (!this.loops.get(source, target)) this.loops.add(bundle(source, target, value, CARRIED, 0));
  }

  /** @param {number} source @param {number} node @param {number} value @param {number} at */
  #add(source, node, value, at) {
    const target = this.boxOf[node];
    if (source < 0 || target < 0) return;
    const { graph } = this;
    const only = this.nodes[target];
    const known = this.found.get(source, target);
    if (only < 0 || graph.kind[only] === MODULE) {
      // Into a closed call each value goes once.
      if (known && (known.value === value || known.others?.includes(value))) return;
      if (only < 0) this.#enter(target, graph.valueType[value]);
    }
    const change = graph.diff ? this.#change(node, value, at) : 0;
    if (!known) {
      this.found.add(bundle(source, target, value, PLAIN, change));
      return;
    }
    known.others ??= [];
    known.count = 1 + known.others.push(value);
    known.alike &&= graph.valueType[known.value] === graph.valueType[value];
    if (known.change !== change) known.change = -1;
  }

  /** @param {number} box @param {number} type */
  #enter(box, type) {
    const types = (this.types[box] ??= []);
    if (!types.includes(type)) types.push(type);
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
