// How long ways through a scope are, which tells its trunk from what stands beside it.

/** @typedef {import("./nesting.js").Net} Net */
/** @typedef {import("./ranks.js").Ends} Ends */
/** @typedef {import("./shape.js").Shape} Shape */

/** Length of what a way that leads out of a scope goes on with: more than any that ends inside. */
export const OUT = 1 << 24;

/** How long ways through the members are, counted in layers of what is in them. */
export class Ways {
  /**
   * Only ways in the flow count, lest the trunk come from a chain of constants.
   *
   * @param {Net[]} nets
   * @param {Ends} ends
   * @param {Shape[]} shapes
   * @param {Uint8Array} flow
   */
  constructor(nets, ends, shapes, flow) {
    const { starts, items } = ends.from;
    const count = shapes.length;
    this.shapes = shapes;
    this.flow = flow;
    /** For each member, the longest way to it, without itself. */
    this.above = new Float64Array(count);
    /** For each member, the longest way from it, without itself. */
    this.below = new Float64Array(count);
    for (let member = 0; member < count; member++)
      for (let at = starts[member]; at < starts[member + 1]; at++) {
        const target = ends.target[items[at]];
        this.above[target] = Math.max(this.above[target], this.before(nets[ends.net[items[at]]]));
      }
    for (const net of nets) if (net.leaves && net.source >= 0) this.below[net.source] = OUT;
    for (let member = count - 1; member >= 0; member--)
      for (let at = starts[member]; at < starts[member + 1]; at++) {
        const length = this.behind(ends.target[items[at]], ends.port[items[at]]);
        this.below[member] = Math.max(this.below[member], length);
      }
  }

  /**
   * Return the longest way to where a net begins.
   *
   * @param {Net} net
   */
  before(net) {
    if (net.source < 0 || !this.flow[net.source]) return 0;
    const shape = this.shapes[net.source];
    return this.above[net.source] + (shape.outWays.length ? shape.outWays[net.port] : shape.length);
  }

  /**
   * Return the longest way from where a net reaches a member.
   *
   * @param {number} member
   * @param {number} port
   */
  behind(member, port) {
    const shape = this.shapes[member];
    return this.below[member] + (shape.intoWays.length ? shape.intoWays[port] : shape.length);
  }
}
