// Which members of a scope come before which.

import { grouped } from "./rows.js";

/** @typedef {import("./nesting.js").Net} Net */
/** @typedef {import("./rows.js").Rows} Rows */

/** Least number of members that nothing is joined to that stand side by side. */
const ROW = 8;

/**
 * Where nets lead, a column for each property, in the order of the nets.
 *
 * @typedef {object} Ends
 * @property {number[]} net
 * @property {number[]} target
 * @property {number[]} port
 * @property {Rows} from rows of ends for each member that they come from, and last those that enter
 */

/**
 * Return all places where nets lead.
 *
 * @param {number} count
 * @param {Net[]} nets
 * @returns {Ends}
 */
export function endsOf(count, nets) {
  /** @type {number[]} */
  const net = [];
  /** @type {number[]} */
  const source = [];
  /** @type {number[]} */
  const target = [];
  /** @type {number[]} */
  const port = [];
  nets.forEach((row, index) => {
    for (let end = 0; end < row.targets.length; end++) {
      net.push(index);
      source.push(row.source < 0 ? count : row.source);
      target.push(row.targets[end]);
      port.push(row.ports[end]);
    }
  });
  return { net, target, port, from: grouped(count + 1, source) };
}

/** The rank of each member, and whether it is in the flow from what enters or comes first. */
export class Ranks {
  /**
   * A member stands as early as what leads to it allows, but outside the flow as late as what needs it.
   *
   * @param {number} count
   * @param {Net[]} nets
   * @param {Ends} ends
   * @param {(member: number) => boolean} first
   */
  constructor(count, nets, ends, first) {
    const { starts, items } = ends.from;
    this.nets = nets;
    this.ends = ends;
    this.rank = new Int32Array(count).fill(nets.some((net) => net.source < 0) ? 1 : 0);
    this.flow = new Uint8Array(count);
    const { rank, flow } = this;
    const reached = new Uint8Array(count);
    for (const target of ends.target) reached[target] = 1;
    for (let at = starts[count]; at < starts[count + 1]; at++) flow[ends.target[items[at]]] = 1;
    for (let member = 0; member < count; member++) {
      if (first(member)) flow[member] = 1;
      for (let at = starts[member]; at < starts[member + 1]; at++) {
        const target = ends.target[items[at]];
        if (rank[target] <= rank[member]) rank[target] = rank[member] + 1;
        if (flow[member]) flow[target] = 1;
      }
    }
    for (let member = count - 1; member >= 0; member--)
      if (this.leads(member) && !flow[member]) rank[member] = this.latest(member);
    this.sink(first);
    const lone = [];
    for (let member = 0; member < count; member++)
      if (!this.leads(member) && !reached[member] && !first(member)) lone.push(member);
    const across = Math.max(ROW, Math.ceil(Math.sqrt(lone.length)));
    lone.forEach((member, position) => (rank[member] += Math.floor(position / across)));
  }

  /**
   * Tell whether anything leads from a member to another.
   *
   * @param {number} member
   */
  leads(member) {
    return this.ends.from.starts[member] < this.ends.from.starts[member + 1];
  }

  /**
   * Return the last rank before all that a member leads to.
   *
   * @param {number} member
   */
  latest(member) {
    const { starts, items } = this.ends.from;
    let least = Infinity;
    for (let at = starts[member]; at < starts[member + 1]; at++)
      least = Math.min(least, this.rank[this.ends.target[items[at]]]);
    return least - 1;
  }

  /**
   * Move members later that then make the picture narrower, such as the slices of an input that a loop reads.
   *
   * What leads to such a member grows longer, but as one line if it leads to several; what leads away grows shorter.
   *
   * @param {(member: number) => boolean} first
   */
  sink(first) {
    const { rank, ends, nets } = this;
    const into = grouped(rank.length, ends.target);
    const out = new Int32Array(rank.length);
    for (const net of nets) if (net.source >= 0) out[net.source]++;
    for (let member = rank.length - 1; member >= 0; member--) {
      if (!this.leads(member) || into.starts[member] === into.starts[member + 1] || first(member)) continue;
      const wanted = this.latest(member);
      if (wanted <= rank[member]) continue;
      const shared = (/** @type {number} */ other) =>
        other !== member && (rank[other] >= wanted || (this.leads(other) && this.latest(other) > rank[other]));
      let longer = 0;
      for (let at = into.starts[member]; at < into.starts[member + 1]; at++) {
        const net = nets[ends.net[into.items[at]]];
        if (!net.leaves && !net.targets.some(shared)) longer++;
      }
      if (longer < out[member]) rank[member] = wanted;
    }
  }
}
