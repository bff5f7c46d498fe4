// One small graph for each scope: its members, and what runs between them, into it and out of it.

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
 * @property {boolean} back whether it runs against the order of the members, from its source to its only target
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

/** @typedef {import("./interning.js").Interning<Nets>} Known */

/** Where a wire leaves a scope, instead of a member. */
const OUTSIDE = -1;
/** Targets of a net from which on they are looked up rather than searched. */
const MANY = 16;

/** All scopes of a diagram, and how its wires run through them. Items are boxes, then scopes, then the root. */
export class Nesting {
  /**
   * Every wire climbs from both ends to the lowest scope that holds them.
   *
   * @param {Diagram} diagram
   * @param {Known} known
   */
  constructor(diagram, known) {
    const boxes = diagram.scopes.length;
    const root = boxes + diagram.parents.length;
    this.diagram = diagram;
    this.boxes = boxes;
    this.root = root;
    /** The scope around each item; -1 for the root. */
    this.parent = new Int32Array(root + 1).fill(-1);
    this.depth = new Int32Array(root + 1);
    /** Position of each item among the members of its scope. */
    this.position = new Int32Array(root + 1);
    /** @type {number[][]} For each scope, its members in the order in which they run. */
    this.members = new Array(root + 1);
    /** @type {number[][]} For each scope, three numbers for each wire seen there: itself, and the members it joins. */
    this.seen = new Array(root + 1);
    this.fill();
    const count = diagram.wires.length / 4;
    const nets = 1 + greatest(diagram.wires);
    /** For each wire, the key of its net, -1 for a loop; a wire against the order of the members has one of its own. */
    this.keys = new Int32Array(count).fill(-1);
    /** For each key, the deepest scope with both ends of the net, if that has a text. */
    this.lowest = new Int32Array(nets + count).fill(-1);
    /** For each key, the net of the diagram. */
    this.netOf = Int32Array.from(this.lowest, (_, key) => (key < nets ? key : diagram.wires[4 * (key - nets) + 2]));
    this.nets = nets;
    for (let wire = 0; wire < count; wire++) this.follow(wire);
    /** @type {Nets[]} For each scope, what it sees. */
    this.locals = new Array(root + 1);
    /** @type {Map<number, number>[]} For each scope, the position of each key. */
    this.index = new Array(root + 1);
    const slots = new Int32Array(nets + count);
    for (let scope = root - 1; scope >= boxes; scope--) this.local(scope, slots, known);
    this.local(root, slots, known);
  }

  /** Put each box, in the order in which they run, into its scope, and each scope where its first box is. */
  fill() {
    const { boxes, root, parent, depth, diagram } = this;
    for (let item = boxes; item <= root; item++) {
      this.members[item] = [];
      this.seen[item] = [];
    }
    for (let item = 0; item < root; item++) {
      const around = item < boxes ? diagram.scopes[item] : diagram.parents[item - boxes];
      parent[item] = around < 0 ? root : boxes + around;
    }
    for (let scope = boxes; scope < root; scope++) depth[scope] = depth[parent[scope]] + 1;
    for (let index = 0; index < boxes; index++) {
      let item = diagram.order?.length ? diagram.order[index] : index;
      let around = parent[item];
      depth[item] = depth[around] + 1;
      while (around >= 0) {
        this.position[item] = this.members[around].push(item) - 1;
        if (this.position[item]) break;
        item = around;
        around = parent[item];
      }
    }
  }

  /**
   * Write down in each scope what it sees of a wire.
   *
   * @param {number} wire
   */
  follow(wire) {
    const { parent, depth, position, diagram } = this;
    let source = diagram.wires[4 * wire];
    let target = diagram.wires[4 * wire + 1];
    const net = diagram.wires[4 * wire + 2];
    if (source === target) return;
    const [one, other] = this.meeting(source, target);
    const key = position[one] > position[other] ? this.nets + wire : net;
    this.keys[wire] = key;
    const scope = parent[one];
    for (; parent[source] !== scope; source = parent[source]) this.seen[parent[source]].push(wire, source, OUTSIDE);
    for (; parent[target] !== scope; target = parent[target]) this.seen[parent[target]].push(wire, OUTSIDE, target);
    this.seen[scope].push(wire, source, target);
    const known = this.lowest[key];
    if (diagram.labels.has(net) && (known < 0 || depth[known] < depth[scope])) this.lowest[key] = scope;
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
   * Find out what a scope sees; those in it must have been asked before.
   *
   * @param {number} scope
   * @param {Int32Array} slots for each key a zero
   * @param {Known} known
   */
  local(scope, slots, known) {
    const wires = this.seen[scope];
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
      let row = slots[key] - 1;
      if (row < 0) {
        row = keys.push(key) - 1;
        slots[key] = row + 1;
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
    this.index[scope] = new Map();
    /** @type {number[]} */
    const row = [];
    keys.forEach((key, index) => {
      slots[key] = 0;
      this.index[scope].set(key, index);
      const source = sources[index];
      const label = this.lowest[key] === scope ? this.diagram.labels.get(this.netOf[key]) : null;
      if (source === OUTSIDE) row.push(-1, 0);
      else row.push(this.position[source], this.seenIn(source, key)?.exit ?? 0);
      row.push(leaves[index] ? 1 : 0, label ? label[0] : -1, label ? label[1] : -1, targets[index].length);
      for (const target of targets[index]) row.push(this.position[target], this.seenIn(target, key)?.entry ?? 0);
    });
    this.locals[scope] = known.known(row, (id) => ({ id, rows: unpacked(row) }));
  }

  /**
   * Return a net as an item that is a scope sees it.
   *
   * @param {number} item
   * @param {number} key
   */
  seenIn(item, key) {
    return item < this.boxes ? null : this.locals[item].rows[this.index[item].get(key) ?? -1];
  }
}

/** @param {ArrayLike<number>} wires */
function greatest(wires) {
  let net = -1;
  for (let at = 2; at < wires.length; at += 4) net = Math.max(net, wires[at]);
  return net;
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
    const net = { source, port, targets: [], ports: [], leaves: leaves > 0, label: null, back: false, entry, exit };
    if (height >= 0) net.label = [width, height];
    net.back = count > 0 && row[at + 6] < source;
    for (at += 6; net.targets.length < count; at += 2) {
      net.targets.push(row[at]);
      net.ports.push(row[at + 1]);
    }
    nets.push(net);
  }
  return nets;
}
