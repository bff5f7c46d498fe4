// A graph as it is read from the page: columns become arrays that are quick to walk.

import { columns, gathered, owners, starts, summed, whole } from "./columns.js";
import { grouped } from "./layout/rows.js";
import { Ruler } from "./layout/text.js";

/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Face} Face */

export const NODE_KINDS = ["input", "param", "buffer", "constant", "op", "module", "region", "host", "link", "output"];
export const SCOPE_KINDS = ["module", "function", "region"];
export const PHASES = ["forward", "backward", "optimizer"];
export const CHANGES = ["", "added", "removed", "changed", "moved"];

export const [INPUT, PARAM, BUFFER, CONSTANT, OP, MODULE, REGION, HOST, LINK, OUTPUT] = NODE_KINDS.keys();

/** Widest text of a box, in points; of a longer one the middle is left out. */
const LONGEST = 260;

/** What a model did, as `trec.Graph` holds it. */
export class Graph {
  /** @param {any} data what Python wrote */
  constructor(data) {
    this.data = { ...data, nodes: columns(data.nodes), scopes: columns(data.scopes) };
    /** @type {string[]} */
    this.texts = data.texts;
    data = this.data;
    this.count = data.nodes.count;
    this.scopeCount = data.scopes.count;
    this.name = this.texts[data.name];
    this.title = data.options.title || this.name;
    this.mainType = this.texts[data.main];
    /** What two graphs are compared; empty if none are. */
    this.diff = this.texts[data.diff];
    this.level = this.meta("level");
    this.ruler = new Ruler(data.glyphs);

    this.kind = Uint8Array.from(data.nodes.kind);
    /** Scope that holds each node. */
    this.parent = summed(data.nodes.parent);
    /** For each node, where its inputs begin in `inputs`; one more entry than there are nodes. */
    this.firstInput = starts(data.nodes.inputs);
    /** For each node, the first value that it yields; one more entry than there are nodes. */
    this.firstOutput = starts(data.nodes.outputs);
    this.producer = owners(this.firstOutput);
    this.valueType = Int32Array.from(data.values);
    this.inputs = this.#inputs();
    /** For each value, 1 if anything reads it. */
    this.used = new Uint8Array(this.valueType.length);
    for (const value of this.inputs) this.used[value] = 1;
    this.change = Uint8Array.from(data.nodes.change);
    /** The collapsed call that each node is; -1 for none. */
    this.standing = Int32Array.from(data.nodes.scope);

    /** Whether it is of several phases. */
    this.phased = new Set(data.scopes.phase).size > 1;
    /** For each node of a backward pass, the nodes that it differentiates. @type {Map<number, number[]>} */
    this.differentiated = gathered(data.derivatives);
    /** For each node that is differentiated, the nodes that do it. @type {Map<number, number[]>} */
    this.derivatives = gathered(data.derivatives.map((/** @type {[number, number]} */ [node, forward]) => [forward, node]));

    this.scopeParent = Int32Array.from(data.scopes.parent);
    this.scopeChange = Uint8Array.from(data.scopes.change);
    this.scopeDepth = this.#depths();
    /** For each scope, the one that can stand for it; itself for most. */
    this.like = Int32Array.from(data.scopes.like).map((back, scope) => scope - back);
    /** For each scope, for how many it stands when equal calls are folded. */
    this.times = this.#times();
    /** For each scope, what it holds in program order, as items. */
    this.members = this.#members();
    /** @type {Face[]} */
    this.faces = [];
    /** @type {string[]} */
    this.scopeNames = this.#below(data.scopes.name);
    /** @type {string[]} */
    this.paths = this.#below(data.scopes.path);
  }

  /** @param {string} name */
  meta(name) {
    const row = this.data.meta.find((/** @type {number[]} */ pair) => this.texts[pair[0]] === name);
    return row ? this.texts[row[1]] : "";
  }

  // ---- columns

  #inputs() {
    const back = this.data.uses;
    const inputs = new Int32Array(back.length);
    for (let node = 0; node < this.count; node++)
      for (let at = this.firstInput[node]; at < this.firstInput[node + 1]; at++)
        inputs[at] = this.firstOutput[node] - back[at];
    return inputs;
  }

  #depths() {
    const depths = new Int32Array(this.scopeCount);
    const inner = new Int32Array(this.scopeCount);
    for (let scope = 0; scope < this.scopeCount; scope++) {
      const around = this.scopeParent[scope];
      depths[scope] = around < 0 ? 0 : inner[around] + 1;
      inner[scope] = around < 0 || this.data.scopes.kind[scope] === 0 ? depths[scope] : inner[around];
    }
    return depths;
  }

  #times() {
    const times = new Int32Array(this.scopeCount).fill(1);
    for (let scope = 0; scope < this.scopeCount; scope++) if (this.like[scope] !== scope) times[this.like[scope]]++;
    return times;
  }

  #members() {
    /** @type {Item[][]} */
    const members = Array.from({ length: this.scopeCount }, () => []);
    for (let node = 0; node < this.count; node++) {
      let item = node;
      for (let around = this.parent[node]; around >= 0; around = this.scopeParent[around]) {
        members[around].push(item);
        if (members[around].length > 1) break;
        item = this.count + around;
      }
    }
    return members;
  }

  /** @param {number[]} column names below those of the scopes around them */
  #below(column) {
    /** @type {string[]} */
    const names = [];
    for (let scope = 0; scope < column.length; scope++)
      names.push(whole(this.texts[column[scope]], scope ? names[this.scopeParent[scope]] : ""));
    return names;
  }

  // ---- items

  /** The scope around an item; -1 for the root. @param {Item} item */
  around(item) {
    return item < this.count ? this.parent[item] : this.scopeParent[item - this.count];
  }

  /** Whether a scope is another one or lies in it. @param {number} scope @param {number} outer */
  isIn(scope, outer) {
    // What is around a scope precedes it.
    while (scope > outer) scope = this.scopeParent[scope];
    return scope === outer;
  }

  /** All nodes in a scope and in those inside it, in order. @param {number} scope @returns {Generator<number>} */
  *nodesIn(scope) {
    const ways = [this.members[scope].values()];
    while (ways.length) {
      const { done, value: item } = ways[ways.length - 1].next();
      if (done) ways.pop();
      else if (item < this.count) yield item;
      else ways.push(this.members[item - this.count].values());
    }
  }

  /** The unique name of an item. @param {Item} item */
  nameOf(item) {
    if (item >= this.count) return this.scopeNames[item - this.count];
    return whole(this.texts[this.data.nodes.name[item]], this.scopeNames[this.parent[item]]);
  }

  /** The item of a name; -1 if there is none. @param {string} name */
  find(name) {
    const scope = this.scopeNames.indexOf(name);
    if (scope >= 0) return this.count + scope;
    for (let node = 0; node < this.count; node++) if (this.nameOf(node) === name) return node;
    return -1;
  }

  /** Function, operator or class. @param {Item} item */
  opOf(item) {
    const { nodes, scopes } = this.data;
    return this.texts[item < this.count ? nodes.op[item] : scopes.cls[item - this.count]];
  }

  /** @param {Item} item */
  kindOf(item) {
    return item < this.count ? NODE_KINDS[this.kind[item]] : SCOPE_KINDS[this.data.scopes.kind[item - this.count]];
  }

  /** Names and values of what is known of an item. @param {Item} item @returns {[string, string][]} */
  attributes(item) {
    const { nodes, scopes, attrs } = this.data;
    const row = attrs[item < this.count ? nodes.attrs[item] : scopes.attrs[item - this.count]];
    /** @type {[string, string][]} */
    const pairs = [];
    for (let at = 0; at < row.length; at += 2) pairs.push([this.texts[row[at]], this.texts[row[at + 1]]]);
    return pairs;
  }

  /** The line of code that an item comes from. @param {Item} item @returns {{ text: string, link: string } | null} */
  source(item) {
    if (item < 0) return null;
    const { nodes, scopes, sources } = this.data;
    const index = item < this.count ? nodes.source[item] : scopes.source[item - this.count];
    if (index < 0) return null;
    return { text: `${this.texts[sources.file[index]]}:${sources.line[index]}`, link: this.texts[sources.link[index]] };
  }

  /** What part of a step of training an item belongs to. @param {Item} item */
  phaseOf(item) {
    return PHASES[this.data.scopes.phase[this.scopeOf(item)]];
  }

  /** The scope that an item is, or as a collapsed call stands for; that around it for all others. @param {Item} item */
  scopeOf(item) {
    if (item >= this.count) return item - this.count;
    return this.standing[item] < 0 ? this.parent[item] : this.standing[item];
  }

  // ---- tensors

  /** Shape, element type and device of a value. @param {number} value */
  typeOf(value) {
    const { shape, dtype, device } = this.data.types;
    const type = this.valueType[value];
    return { shape: this.texts[shape[type]], dtype: this.texts[dtype[type]], device: this.texts[device[type]] };
  }

  /** The shape of a value as pictures show it. @param {number} value */
  shapeOf(value) {
    const { shape, dtype } = this.typeOf(value);
    return shape && dtype !== this.mainType ? `${shape} ${dtype}` : shape;
  }

  /** The name of a value. @param {number} value */
  valueName(value) {
    const node = this.producer[value];
    const name = this.nameOf(node);
    return this.firstOutput[node + 1] - this.firstOutput[node] === 1 ? name : `${name}:${value - this.firstOutput[node]}`;
  }

  /** @param {number} node */
  inputsOf(node) {
    return this.inputs.subarray(this.firstInput[node], this.firstInput[node + 1]);
  }

  /** Whether anything reads what a node yields. @param {number} node */
  isRead(node) {
    for (let value = this.firstOutput[node]; value < this.firstOutput[node + 1]; value++) if (this.used[value]) return true;
    return false;
  }

  /** For each value, where the nodes that read it begin in `readers`. */
  get firstReader() {
    return this.#uses().first;
  }

  /** The nodes that read values, those of each value together; see `firstReader`. */
  get readers() {
    return this.#uses().readers;
  }

  /** @type {{ first: Int32Array, readers: Int32Array } | undefined} */
  #readers;

  #uses() {
    if (this.#readers) return this.#readers;
    const { starts: first, items } = grouped(this.valueType.length, this.inputs);
    const reader = owners(this.firstInput);
    this.#readers = { first, readers: items.map((at) => reader[at]) };
    return this.#readers;
  }

  // ---- what things cost

  /** Number of an attribute; 0 where it is not known. @param {Item} item @param {string} name */
  number(item, name) {
    const found = this.attributes(item).find((pair) => pair[0] === name);
    return found ? Number(found[1]) || 0 : 0;
  }

  /** How many elements of parameters an item reads or holds. @param {Item} item */
  params(item) {
    if (item >= this.count) return this.data.scopes.params[item - this.count];
    if (this.kind[item] === MODULE) return this.number(item, "params");
    const read = new Set([...this.inputsOf(item)].filter((value) => this.kind[this.producer[value]] === PARAM));
    return [...read].reduce((sum, value) => sum + this.data.types.elements[this.valueType[value]], 0);
  }

  /** Floating point operations. @param {Item} item */
  flops(item) {
    return item < this.count ? this.number(item, "flops") : this.data.scopes.flops[item - this.count];
  }

  /** Bytes of results. @param {Item} item */
  bytes(item) {
    if (item >= this.count) return this.data.scopes.bytes[item - this.count];
    let sum = 0;
    for (let value = this.firstOutput[item]; value < this.firstOutput[item + 1]; value++)
      sum += this.data.types.bytes[this.valueType[value]];
    return sum;
  }

  // ---- faces

  /** What stands on the box of an item. @param {Item} item @returns {Face} */
  face(item) {
    const { nodes, scopes } = this.data;
    return this.#face(item < this.count ? nodes.face[item] : scopes.face[item - this.count]);
  }

  /** What stands at the top of the frame of a scope. @param {number} scope @returns {Face} */
  frame(scope) {
    return this.#face(this.data.scopes.frame[scope]);
  }

  /** As much of a text as fits on a box. @param {string} text @param {number} size @param {boolean} [bold] */
  fitted(text, size, bold) {
    return this.ruler.fitted(text, size, LONGEST, bold);
  }

  /** @param {number} index @returns {Face} */
  #face(index) {
    let face = this.faces[index];
    if (!face) {
      const [title, subtitle, detail, look, times] = this.data.faces[index];
      const [shape, role, line, size, bold, error] = this.data.looks[look];
      const { sizes } = this.data.style;
      face = {
        title: this.fitted(this.texts[title], size, bold === 1),
        subtitle: this.fitted(this.texts[subtitle], sizes[0]),
        detail: this.fitted(this.texts[detail], sizes[1]),
        ...{ shape, role, line, size, bold: bold === 1, error: error === 1, times },
      };
      this.faces[index] = face;
    }
    return face;
  }
}
