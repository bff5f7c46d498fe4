// Where the wires of one net part, so that what they share is drawn once and looks like one line.

import { grouped } from "./rows.js";

/** @typedef {import("./diagram.js").Line} Line */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./routes.js").Routes} Routes */

/** Routes from where they leave those of their net that precede them; the last piece of each is there. */
export class Forks {
  /**
   * @param {Int32Array} nets the net of each wire
   * @param {Routes} routes the points that each passes
   * @param {boolean} sideways whether the flow goes from side to side rather than up or down
   */
  constructor(nets, routes, sideways) {
    this.nets = nets;
    this.routes = routes;
    this.sideways = sideways;
    this.wires = grouped(1 + nets.reduce((most, net) => Math.max(most, net), -1), nets);
    /** @type {(Line | undefined)[]} */
    this.known = new Array(nets.length);
  }

  /**
   * Return what is drawn of a wire.
   *
   * @param {number} wire
   * @returns {Line}
   */
  line(wire) {
    if (!this.known[wire]) this.part(this.nets[wire]);
    return this.known[wire] ?? [];
  }

  /**
   * Find out where the wires of a net part.
   *
   * @param {number} net
   */
  part(net) {
    const { starts, items } = this.wires;
    const drawn = new Drawn(this.sideways ? 1 : 0);
    for (let at = starts[net]; at < starts[net + 1]; at++) {
      const line = this.routes.line(items[at]);
      this.known[items[at]] = starts[net + 1] - starts[net] > 1 ? drawn.rest(line) : line;
    }
  }
}

/** What is drawn of one net. */
class Drawn {
  /** @param {0 | 1} across */
  constructor(across) {
    this.across = across;
    /** @type {Map<string, Point>} How far a straight piece reaches, by where it begins and which way it goes on. */
    this.ends = new Map();
    /** @type {Set<string>} */
    this.curves = new Set();
  }

  /**
   * Return what is not drawn yet of a line, and take it as drawn.
   *
   * @param {Line} line
   */
  rest(line) {
    /** @type {Line} */
    let found = [];
    for (let index = 1; index < line.length; index++) {
      const [one, other] = [line[index - 1], line[index]];
      const known = this.add(one, other);
      if (found.length) found.push(other);
      else if (known !== other) found = [known, other];
      else if (index === line.length - 1) found = [one, other];
    }
    return found;
  }

  /**
   * Take a piece as drawn, and return up to where it was already: its end, its beginning, or between them.
   *
   * @param {Point} one
   * @param {Point} other
   */
  add(one, other) {
    const { across, ends, curves } = this;
    const along = 1 - across;
    if (one[across] !== other[across]) {
      const key = `${one} ${other}`;
      const known = curves.has(key);
      curves.add(key);
      return known ? other : one;
    }
    const key = `${one} ${other[along] > one[along]}`;
    const before = ends.get(key) ?? one;
    if (Math.abs(before[along] - one[along]) >= Math.abs(other[along] - one[along])) return other;
    ends.set(key, other);
    return before;
  }
}
