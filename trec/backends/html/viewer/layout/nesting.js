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
/** @template Found @typedef {import("./steps.js").Steps<Found>} Steps */

/** Where a wire leaves a scope, instead of a member. */
const OUTSIDE = -1;
/** Targets of a net from which on they are looked up rather than searched. */
const MANY = 16;
/** Nets of a scope up to which they are searched. */
const SOME = 24;
/** Wires and scopes that are looked at in one step. */
const PIECE = 8192;

/** All scopes of a diagram, and how its wires run through them. Items are boxes, then scopes, then the root. */
export class Nesting {
  /** @param {Diagram} diagram */
  constructor(diagram) {
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
    /** For each scope, where the wires seen there begin in `seen`, three numbers for each. */
    this.firstSeen = new Int32Array(root + 2);
    /** In order of the scopes, each wire seen there, and the members that it joins. */
    this.seen = new Int32Array(0);
    this.fill();
    const count = diagram.wires.length / 4;
    const nets = 1 + greatest(diagram.wires);
    /** For each wire, the key of its net, -1 for a loop; a wire against the order of the members has one of its own. */
    this.keys = new Int32Array(count).fill(-1);
    /** For each key, the deepest scope with both ends of the net, if that has a text. */
    this.lowest = new Int32Array(nets + count).fill(-1);
    /** For each key, the net of the diagram. */
    this.netOf = new Int32Array(nets + count);
    for (let net = 0; net < nets; net++) this.netOf[net] = net;
    for (let wire = 0; wire < count; wire++) this.netOf[nets + wire] = diagram.wires[4 * wire + 2];
    this.nets = nets;
    /** @type {Nets[]} For each scope, what it sees. */
    this.locals = new Array(root + 1);
    /** @type {number[][]} For each scope, the key of each of its nets. */
    this.index = new Array(root + 1);
    /** @type {Map<number, number>[]} For a scope with many nets, which of them has a key. */
    this.maps = [];
    this.found = new Targets(0);
  }

  /**
   * Every wire climbs from both ends to the lowest scope that holds them.
   *
   * @param {Known} known
   * @returns {Steps<void>}
   */
  *climb(known) {
    const { boxes, root, nets, firstSeen } = this;
    const count = this.keys.length;
    for (let wire = 0; wire < count; wire++) {
      this.follow(wire, (scope) => firstSeen[scope + 1]++);
      if (wire % PIECE === 0) yield;
    }
    for (let scope = 0; scope <= root; scope++) firstSeen[scope + 1] += firstSeen[scope];
    const next = firstSeen.slice();
    const seen = (this.seen = new Int32Array(3 * firstSeen[root + 1]));
    for (let wire = 0; wire < count; wire++) {
      this.follow(wire, (scope, source, target) => {
        const at = 3 * next[scope]++;
        seen[at] = wire;
        seen[at + 1] = source;
        seen[at + 2] = target;
      });
      if (wire % PIECE === 0) yield;
    }
    let most = 0;
    for (let scope = boxes; scope <= root; scope++) most = Math.max(most, firstSeen[scope + 1] - firstSeen[scope]);
    this.found = new Targets(most);
    const slots = new Int32Array(nets + count);
    for (let scope = root - 1; scope >= boxes; scope--) {
      this.local(scope, slots, known);
      if (scope % PIECE === 0) yield;
    }
    this.local(root, slots, known);
  }

  /** Put each box, in the order in which they run, into its scope, and each scope where its first box is. */
  fill() {
    const { boxes, root, parent, depth, diagram } = this;
    for (let item = boxes; item <= root; item++) this.members[item] = [];
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
   * Go through the scopes that see a wire, with the members that it joins there.
   *
   * @param {number} wire
   * @param {(scope: number, source: number, target: number) => void} see
   */
  follow(wire, see) {
    const { parent, depth, position, diagram } = this;
    let source = diagram.wires[4 * wire];
    let target = diagram.wires[4 * wire + 1];
    const net = diagram.wires[4 * wire + 2];
    if (source === target) return;
    const [one, other] = this.meeting(source, target);
    const key = position[one] > position[other] ? this.nets + wire : net;
    this.keys[wire] = key;
    const scope = parent[one];
    for (; parent[source] !== scope; source = parent[source]) see(parent[source], source, OUTSIDE);
    for (; parent[target] !== scope; target = parent[target]) see(parent[target], OUTSIDE, target);
    see(scope, source, target);
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
    const { seen, position, found: steps } = this;
    /** @type {number[]} */
    const keys = [];
    steps.clear();
    for (let at = 3 * this.firstSeen[scope]; at < 3 * this.firstSeen[scope + 1]; at += 3) {
      const key = this.keys[seen[at]];
      let net = slots[key] - 1;
      if (net < 0) {
        net = keys.push(key) - 1;
        slots[key] = net + 1;
        steps.begin(net, seen[at + 1]);
      }
      steps.add(net, seen[at + 2]);
    }
    this.index[scope] = keys;
    /** @type {number[]} */
    const row = [];
    for (let net = 0; net < keys.length; net++) {
      const key = keys[net];
      slots[key] = 0;
      const source = steps.source[net];
      const label = this.lowest[key] === scope ? this.diagram.labels.get(this.netOf[key]) : null;
      if (source === OUTSIDE) row.push(-1, 0);
      else row.push(position[source], this.seenIn(source, key)?.exit ?? 0);
      row.push(steps.leaves[net], label ? label[0] : -1, label ? label[1] : -1, steps.count[net]);
      for (let at = steps.first[net]; at >= 0; at = steps.next[at])
        row.push(position[steps.target[at]], this.seenIn(steps.target[at], key)?.entry ?? 0);
    }
    this.locals[scope] = known.known(row, (id) => ({ id, rows: unpacked(row) }));
  }

  /**
   * Return a net as an item that is a scope sees it.
   *
   * @param {number} item
   * @param {number} key
   */
  seenIn(item, key) {
    return item < this.boxes ? null : this.locals[item].rows[this.at(item, key)];
  }

  /**
   * Return which net of a scope has a key; -1 for none.
   *
   * @param {number} scope
   * @param {number} key
   */
  at(scope, key) {
    const keys = this.index[scope];
    if (keys.length < SOME) return keys.indexOf(key);
    let found = this.maps[scope];
    if (!found) found = this.maps[scope] = new Map(keys.map((key, at) => [key, at]));
    return found.get(key) ?? -1;
  }
}

/** The nets of one scope while they are found out, in arrays that are used again for the next. */
class Targets {
  /** @param {number} most wires that any scope sees */
  constructor(most) {
    /** For each net, the item that it comes from, or `OUTSIDE`. */
    this.source = new Int32Array(most);
    /** For each net, 1 if it leads out of the scope. */
    this.leaves = new Uint8Array(most);
    /** For each net, how many items it leads to, and the first and the last of these in `target`. */
    this.count = new Int32Array(most);
    this.first = new Int32Array(most);
    this.last = new Int32Array(most);
    this.target = new Int32Array(most);
    /** For each target, the next one of its net; -1 for none. */
    this.next = new Int32Array(most);
    this.end = 0;
    /** @type {Map<number, Set<number>>} The targets of nets that have many. */
    this.sets = new Map();
  }

  clear() {
    this.end = 0;
    if (this.sets.size) this.sets.clear();
  }

  /**
   * @param {number} net
   * @param {number} source
   */
  begin(net, source) {
    this.source[net] = source;
    this.leaves[net] = this.count[net] = 0;
    this.first[net] = -1;
  }

  /**
   * @param {number} net
   * @param {number} target
   */
  add(net, target) {
    if (target === OUTSIDE) this.leaves[net] = 1;
    if (target === OUTSIDE || this.has(net, target)) return;
    if (this.count[net]++) this.next[this.last[net]] = this.end;
    else this.first[net] = this.end;
    this.last[net] = this.end;
    this.next[this.end] = -1;
    this.target[this.end++] = target;
  }

  /**
   * @param {number} net
   * @param {number} target
   */
  has(net, target) {
    const { next } = this;
    let set = this.sets.get(net);
    if (set) return set.size === set.add(target).size;
    for (let at = this.first[net]; at >= 0; at = next[at]) if (this.target[at] === target) return true;
    if (this.count[net] >= MANY) {
      this.sets.set(net, (set = new Set([target])));
      for (let at = this.first[net]; at >= 0; at = next[at]) set.add(this.target[at]);
    }
    return false;
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
