// The wires between boxes: each pair of boxes joined once, whatever is used between them.

import { MODULE } from "./graph.js";
import { Pairs } from "./pairs.js";
import { CARRIED, PLAIN } from "./strokes.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./uses.js").Uses} Uses */
/** @template Found @typedef {import("./layout/steps.js").Steps<Found>} Steps */

/** Uses that are looked at in one step. */
const PIECE = 8192;

/**
 * A wire with what its text depends on.
 *
 * @typedef {import("./types.js").Wire & { others: number[] | null, alike: boolean, change: number, runs: number[] | null }} Bundle what is used
 *   besides its value, once for each use; whether all values have one type; and what happened to all of the uses, 0 for
 *   nothing, -1 where not the same happened to all; and the runs that it is used in, null for all
 */

/** @param {number} source @param {number} target @param {number} value @param {number} stroke @param {number} change @param {number[] | null} runs @returns {Bundle} */
function bundle(source, target, value, stroke, change, runs) {
  return { source, target, value, count: 1, stroke, label: "", flow: -1, others: null, alike: true, change, runs };
}

/** Follows uses from box to box. */
export class Weaver {
  /**
   * @param {Graph} graph
   * @param {Uses} uses
   * @param {Omit<Picture, "wires">} picture
   */
  constructor(graph, uses, picture) {
    this.graph = graph;
    this.uses = uses;
    this.boxOf = picture.boxOf;
    this.boxes = picture.boxes;
    this.nodes = picture.nodes;
    /** @type {Pairs<Bundle>} */
    this.found = new Pairs();
    /** @type {Pairs<Bundle>} */
    this.loops = new Pairs();
    /** For each box of a closed scope, the types of what enters it. @type {number[][]} */
    this.types = new Array(this.boxes.length);
    this.changed = new Map(graph.data.changed);
    /** The runs of uses that are not there in all. @type {Map<number, number[]>} */
    this.partial = new Map(graph.data.partial);
  }

  /** What runs between boxes, in the order in which targets run. @returns {Bundle[]} */
  get bundles() {
    return [...this.found.rows, ...this.loops.rows];
  }

  /** @param {number[]} scopes whose members are drawn; both ends of what is used in others lie in one box @returns {Steps<void>} */
  *weave(scopes) {
    const { starts, items } = this.uses.within;
    let count = 0;
    for (const scope of scopes) count += starts[scope + 1] - starts[scope];
    const seen = new Int32Array(count);
    for (const scope of scopes) {
      count -= starts[scope + 1] - starts[scope];
      seen.set(items.subarray(starts[scope], starts[scope + 1]), count);
    }
    seen.sort();
    for (let at = 0; at < seen.length; at++) {
      if (at % PIECE === 0) yield;
      this.#add(seen[at]);
    }
    for (const row of this.uses.carried.values()) this.#carry(...row);
  }

  /** What an iteration hands to the next, unless all of the loop is in one box. @param {number} value @param {number} node @param {number} loop */
  #carry(value, node, loop) {
    const { graph } = this;
    const source = this.boxOf(graph.producer[value]);
    const target = this.boxOf(node);
    if (source < 0 || target < 0) return;
    const inside = this.boxes[source] - graph.count;
    if (source === target && inside >= 0 && loop !== inside && graph.isIn(loop, inside)) return;
    if (!this.loops.get(source, target)) this.loops.add(bundle(source, target, value, CARRIED, 0, null));
  }

  /** @param {number} use */
  #add(use) {
    const { graph } = this;
    const value = this.uses.values[use];
    const node = this.uses.readers[use];
    const source = this.boxOf(graph.producer[value]);
    const target = this.boxOf(node);
    if (source === target || source < 0 || target < 0) return;
    const only = this.nodes[target];
    const known = this.found.get(source, target);
    const runs = this.partial.get(this.uses.places[use]) ?? null;
    if (known) known.runs = known.runs && runs && [...new Set([...known.runs, ...runs])];
    if (only < 0 || graph.kind[only] === MODULE) {
      // Into a closed call each value goes once.
      if (known && (known.value === value || known.others?.includes(value))) return;
      if (only < 0) this.#enter(target, graph.valueType[value]);
    }
    const change = graph.diff ? this.#change(node, value, this.uses.places[use]) : 0;
    if (!known) {
      this.found.add(bundle(source, target, value, PLAIN, change, runs));
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

  /** What happened to a use: to itself, or to what is at one of its ends. @param {number} node @param {number} value @param {number} at */
  #change(node, value, at) {
    const own = this.changed.get(at);
    if (own) return own;
    const ends = [this.graph.change[this.graph.producer[value]], this.graph.change[node]];
    return ends.find((change) => change === 1 || change === 2) ?? 0;
  }
}
