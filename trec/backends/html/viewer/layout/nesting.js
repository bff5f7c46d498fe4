// One small graph for each scope: its members, and what runs between them, into it and out of it.
//
// Wires may be replaced later; only the scopes that they pass are then seen anew.

import { Interning } from "./interning.js";

/** @typedef {import("./diagram.js").Diagram} Diagram */
/** @typedef {import("./diagram.js").Size} Size */

/**
 * What one box sends along one line, as far as one scope sees it.
 *
 * @typedef {object} Net
 * @property {number} source position of the member that it comes from; -1 if it enters the scope
 * @property {number} port which of the lines out of that member it is; 0 for a box
 * @property {number[]} targets position of each member that it leads to
 * @property {number[]} ports for each of them, which of the lines into that member it is
 * @property {boolean} leaves whether it leads out of the scope as well
 * @property {Size | null} label room for its text, if that stands in this scope
 * @property {number} entry which of the lines into the scope it is; -1 if it is none
 * @property {number} exit which of the lines out of the scope it is; -1 if it is none
 */

/**
 * The nets of one scope; shared by scopes with equal ones.
 *
 * @typedef {object} Nets
 * @property {number} id
 * @property {Net[]} rows
 */

/**
 * What one scope sees.
 *
 * @typedef {object} Local
 * @property {Nets} nets
 * @property {number[]} keys for each net, twice its number, or for a wire that runs against the order of the members,
 *   and so has a net of its own that is laid out the other way round, twice the index of that wire and one
 * @property {Map<number, number>} index position of each key
 */

/** Where a wire leaves a scope, instead of a member. */
const OUTSIDE = -1;
/** Targets of a net from which on they are looked up rather than searched. */
const MANY = 16;

/** All scopes of a diagram, and how its wires run through them. */
export class Nesting {
  /** @param {Diagram} diagram */
  constructor(diagram) {
    const boxes = diagram.scopes.length;
    const count = diagram.parents.length;
    const root = boxes + count;
    this.boxes = boxes;
    this.root = root;
    this.labels = diagram.labels;
    /** The scope around each item; -1 for the root. */
    this.parent = new Int32Array(root + 1).fill(-1);
    this.depth = new Int32Array(root + 1);
    const around = (/** @type {number} */ scope) => (scope < 0 ? root : boxes + scope);
    for (let box = 0; box < boxes; box++) this.parent[box] = around(diagram.scopes[box]);
    for (let scope = 0; scope < count; scope++) this.parent[boxes + scope] = around(diagram.parents[scope]);
    for (let scope = boxes; scope < root; scope++) this.depth[scope] = this.depth[this.parent[scope]] + 1;
    /** Whether each item is a scope that is open. */
    this.open = new Uint8Array(root + 1).fill(1, boxes);
    /** Position of each item among the members of its scope. */
    this.position = new Int32Array(root + 1);
    /** @type {number[][]} For each item, its members in the order in which they run; none for boxes. */
    this.members = [];
    for (let item = boxes; item <= root; item++) this.members[item] = [];
    this.fill(diagram.order?.length ? diagram.order : Int32Array.from({ length: boxes }, (_, box) => box));
    /** @type {number[][]} For each scope, three numbers for each wire seen there: itself, and the members it joins. */
    this.seen = [];
    for (let item = boxes; item <= root; item++) this.seen[item] = [];
    /** @type {Local[]} */
    this.locals = [];
    /** Whether wires of each scope have changed since its graph was made. */
    this.stale = new Uint8Array(root + 1).fill(1, boxes);
    /** Whether each scope or anything in it has changed since the whole was laid out. */
    this.touched = new Uint8Array(root + 1).fill(1, boxes);
    /** @type {Interning<Nets>} */
    this.known = new Interning();
    this.slots = new Int32Array(1024);
    this.largest = 0;
    /** @type {number[]} Where each wire begins, ... */
    this.sources = [];
    /** @type {number[]} */
    this.targets = [];
    /** @type {number[]} */
    this.nets = [];
    /** @type {number[]} */
    this.ranks = [];
    /** @type {number[]} For each wire, the key of its net; -1 for a loop, and for one that is gone. */
    this.keys = [];
    /** @type {Map<number, number[]>} Wires from each item. */
    this.sent = new Map();
    /** @type {Map<number, number>} For the key of each net with a text, the deepest scope with both of its ends. */
    this.lowest = new Map();
    /** @type {Set<number>} Items with a wire to themselves. */
    this.looped = new Set();
    const { wires } = diagram;
    for (let at = 0; at < wires.length; at += 4) this.add(wires[at], wires[at + 1], wires[at + 2], wires[at + 3]);
  }

  /**
   * Put each box, in the order in which they run, into its scope, and each scope where its first box is.
   *
   * @param {ArrayLike<number>} order
   */
  fill(order) {
    for (let index = 0; index < order.length; index++) {
      let item = order[index];
      let around = this.parent[item];
      this.depth[item] = this.depth[around] + 1;
      for (; around >= 0; [item, around] = [around, this.parent[around]]) {
        this.position[item] = this.members[around].push(item) - 1;
        if (this.position[item]) break;
      }
    }
  }

  /**
   * Say that a scope is to be laid out again.
   *
   * @param {number} scope
   * @param {boolean} all whether the scopes around it must be told even if it knew that already
   */
  touch(scope, all = false) {
    for (; scope >= 0 && (all || !this.touched[scope]); scope = this.parent[scope]) this.touched[scope] = 1;
  }

  /**
   * Follow a wire, whose ways from both ends meet in the lowest scope that holds them, and write down what is seen.
   *
   * @param {number} source
   * @param {number} target
   * @param {number} net
   * @param {number} rank
   */
  add(source, target, net, rank) {
    const wire = this.sources.push(source) - 1;
    this.targets.push(target);
    this.nets.push(net);
    this.ranks.push(rank);
    const sent = this.sent.get(source);
    if (sent) sent.push(wire);
    else this.sent.set(source, [wire]);
    if (source === target) {
      this.keys.push(-1);
      this.looped.add(source);
      this.touch(this.parent[source]);
      return;
    }
    const [above, below] = this.meeting(source, target);
    const against = this.position[above] > this.position[below];
    const key = against ? 2 * wire + 1 : 2 * net;
    this.keys.push(key);
    if (this.largest < key) this.largest = key;
    if (against) [source, target] = [target, source];
    const scope = this.parent[above];
    while (this.parent[source] !== scope) source = this.see(wire, source, OUTSIDE);
    while (this.parent[target] !== scope) target = this.see(wire, OUTSIDE, target);
    this.see(wire, source, target);
    const known = this.lowest.get(key);
    if (this.labels.has(net) && (known === undefined || this.depth[known] < this.depth[scope]))
      this.lowest.set(key, scope);
  }

  /**
   * Write down in a scope what it sees of a wire, and return the scope.
   *
   * @param {number} wire
   * @param {number} source
   * @param {number} target
   */
  see(wire, source, target) {
    const scope = this.parent[source === OUTSIDE ? target : source];
    this.seen[scope].push(wire, source, target);
    this.stale[scope] = 1;
    this.touch(scope);
    return scope;
  }

  /**
   * Return the members of the lowest scope around two items in which these are.
   *
   * @param {number} one
   * @param {number} other
   */
  meeting(one, other) {
    const { parent, depth } = this;
    while (depth[one] > depth[other]) one = parent[one];
    while (depth[other] > depth[one]) other = parent[other];
    while (parent[one] !== parent[other]) [one, other] = [parent[one], parent[other]];
    return [one, other];
  }

  /**
   * Forget what leaves an item.
   *
   * @param {number} item
   */
  silence(item) {
    if (this.looped.delete(item)) this.touch(this.parent[item]);
    for (const wire of this.sent.get(item) ?? []) {
      if (this.keys[wire] < 0) continue;
      this.lowest.delete(this.keys[wire]);
      this.keys[wire] = -1;
      const [above] = this.meeting(item, this.targets[wire]);
      for (const end of [item, this.targets[wire]])
        for (let scope = this.parent[end]; ; scope = this.parent[scope]) {
          this.stale[scope] = 1;
          this.touch(scope);
          if (scope === this.parent[above]) break;
        }
    }
    this.sent.delete(item);
  }

  /**
   * Return what a scope sees; those in it must have been asked before.
   *
   * @param {number} scope
   */
  local(scope) {
    this.stale[scope] = 0;
    this.drop(scope);
    const wires = this.seen[scope];
    if (this.slots.length <= this.largest) this.slots = new Int32Array(2 * this.largest);
    /** @type {number[]} */
    const keys = [];
    /** @type {number[]} */
    const sources = [];
    /** @type {number[][]} */
    const targets = [];
    /** @type {Set<number>[]} */
    const sets = [];
    /** @type {boolean[]} */
    const leaves = [];
    for (let at = 0; at < wires.length; at += 3) {
      const key = this.keys[wires[at]];
      let row = this.slots[key] - 1;
      if (row < 0) {
        row = keys.push(key) - 1;
        this.slots[key] = row + 1;
        sources.push(wires[at + 1]);
        targets.push([]);
        leaves.push(false);
      }
      const target = wires[at + 2];
      if (target === OUTSIDE) leaves[row] = true;
      else if (targets[row].length < MANY) {
        if (!targets[row].includes(target)) targets[row].push(target);
      } else {
        sets[row] ??= new Set(targets[row]);
        if (sets[row].size < sets[row].add(target).size) targets[row].push(target);
      }
    }
    for (const key of keys) this.slots[key] = 0;
    const index = new Map(keys.map((key, row) => [key, row]));
    const nets = this.named(scope, keys, sources, targets, leaves);
    return (this.locals[scope] = { nets, keys, index });
  }

  /**
   * Forget wires of a scope that are gone, and put the others in order.
   *
   * @param {number} scope
   */
  drop(scope) {
    const wires = this.seen[scope];
    let sorted = true;
    for (let at = 0; sorted && at < wires.length; at += 3)
      sorted = this.keys[wires[at]] >= 0 && (!at || this.ranks[wires[at - 3]] <= this.ranks[wires[at]]);
    if (sorted) return;
    const kept = [];
    for (let at = 0; at < wires.length; at += 3) if (this.keys[wires[at]] >= 0) kept.push(wires.slice(at, at + 3));
    this.seen[scope] = kept.sort((one, other) => this.ranks[one[0]] - this.ranks[other[0]]).flat();
  }

  /**
   * Return the nets of a scope, with positions of members for items.
   *
   * @param {number} scope
   * @param {number[]} keys
   * @param {number[]} sources
   * @param {number[][]} targets
   * @param {boolean[]} leaves
   */
  named(scope, keys, sources, targets, leaves) {
    const { position } = this;
    /** @type {number[]} */
    const row = [];
    keys.forEach((key, index) => {
      const source = sources[index];
      const label = this.lowest.get(key) === scope ? this.labels.get(this.netOf(key)) : null;
      if (source === OUTSIDE) row.push(-1, 0);
      else row.push(position[source], this.seenIn(source, key)?.exit ?? 0);
      row.push(leaves[index] ? 1 : 0, label ? label[0] : -1, label ? label[1] : -1, targets[index].length);
      for (const target of targets[index]) row.push(position[target], this.seenIn(target, key)?.entry ?? 0);
    });
    return this.known.known(row, (id) => ({ id, rows: unpacked(row) }));
  }

  /**
   * Return a net as an item that is an open scope sees it.
   *
   * @param {number} item
   * @param {number} key
   */
  seenIn(item, key) {
    if (!this.open[item]) return null;
    const { nets, index } = this.locals[item];
    return nets.rows[index.get(key) ?? -1];
  }

  /**
   * Return the net of the diagram of which this is the key.
   *
   * @param {number} key
   */
  netOf(key) {
    return key % 2 ? this.nets[(key - 1) / 2] : key / 2;
  }
}

/**
 * Return nets that were written as one row of numbers.
 *
 * @param {number[]} row
 */
function unpacked(row) {
  /** @type {Net[]} */
  const nets = [];
  let entries = 0;
  let exits = 0;
  for (let at = 0; at < row.length; ) {
    const [source, port, leaves, width, height, count] = row.slice(at, at + 6);
    const entry = source < 0 ? entries++ : -1;
    const exit = leaves ? exits++ : -1;
    /** @type {Net} */
    const net = { source, port, targets: [], ports: [], leaves: leaves > 0, label: null, entry, exit };
    if (height >= 0) net.label = [width, height];
    for (at += 6; net.targets.length < count; at += 2) {
      net.targets.push(row[at]);
      net.ports.push(row[at + 1]);
    }
    nets.push(net);
  }
  return nets;
}
