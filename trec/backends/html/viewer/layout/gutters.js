// Where columns stand beside one another, and the ways of the nets between them.

import { ARC, simplified } from "./routing.js";

/** @typedef {import("./diagram.js").Line} Line */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./nesting.js").Net} Net */
/** @typedef {import("./scope.js").Content} Content */
/** @typedef {import("./shape.js").Shape} Shape */
/** @typedef {{ net: number, column: number, port: number }} Use a net, a column that it enters, and which of the lines into that it is */
/** @typedef {"top" | "bottom"} Side */

/** Room between two columns, in points, as all lengths here. */
const BETWEEN = 34;
/** Room between two nets that go from column to column side by side. */
const TRACK = 7;

/** The columns as members of the whole picture, and the nets between them. */
export class Row {
  /**
   * @param {Shape[]} shapes
   * @param {boolean[]} upward for each column whether the flow goes up in it
   * @param {Net[]} nets
   */
  constructor(shapes, upward, nets) {
    this.shapes = shapes;
    this.upward = upward;
    this.nets = nets;
    this.height = Math.max(0, ...shapes.map((shape) => shape.height));
    /** @type {Use[]} */
    this.uses = nets.flatMap(({ targets, ports }, net) =>
      targets.map((column, at) => ({ net, column, port: ports[at] })),
    );
    /** For each column, the nets that go along its left side before they enter it. */
    this.gutters = shapes.map((_, at) => this.uses.filter((use) => use.column === at && this.passesBetween(use)));
    /** For each of these, which of those along its column it is. */
    this.places = new Map(this.gutters.flatMap((uses) => uses.map((use, place) => [use, place])));
    /** @type {number[]} */
    this.lefts = [];
    this.width = 0;
    shapes.forEach((shape, column) => {
      this.width += (column ? BETWEEN : 0) + TRACK * this.gutters[column].length;
      this.lefts.push(this.width);
      this.width += shape.width;
    });
    this.tracks = { top: this.tracksAt("top"), bottom: this.tracksAt("bottom") };
    this.top = this.room("top");
  }

  /** @returns {Content} */
  content() {
    /** @type {Map<number, Line>[]} */
    const lines = this.nets.map(() => new Map());
    for (const use of this.uses) lines[use.net].set(use.column, simplified(this.way(use)));
    const centres = this.shapes.map((shape, column) => {
      const middle = (this.edge(column, "top") + this.edge(column, "bottom")) / 2;
      return /** @type {Point} */ ([this.lefts[column] + shape.width / 2, middle]);
    });
    const none = { into: [], out: [], intoWays: [], outWays: [], labels: new Map(), crossings: 0 };
    const height = this.top + this.height + this.room("bottom");
    return { width: this.width, height, length: this.shapes.length, centres, lines, ...none };
  }

  /**
   * Return the ports of a column in the order, from left to right, in which the nets that enter it begin.
   *
   * @param {number} column
   */
  arrivals(column) {
    const found = this.uses.filter((use) => use.column === column);
    const starts = found.map((use) => ({ port: use.port, start: this.ends(use)[0] }));
    return starts.sort((a, b) => a.start - b.start || a.port - b.port).map(({ port }) => port);
  }

  /** Where a net leaves its column. @param {number} net @returns {Side} */
  leaves(net) {
    return this.upward[this.nets[net].source] ? "top" : "bottom";
  }

  /** Where a column is entered. @param {number} column @returns {Side} */
  enters(column) {
    return this.upward[column] ? "bottom" : "top";
  }

  /** Whether a net leaves its column at one end, and enters another column at the other. @param {Use} use */
  passesBetween({ net, column }) {
    return this.leaves(net) !== this.enters(column);
  }

  /**
   * Return how far out each net goes that passes the columns at one end: the wider ones round the others.
   *
   * @param {Side} side
   */
  tracksAt(side) {
    /** @type {Map<number, number>} */
    const spans = new Map();
    for (const use of this.uses) {
      if (side !== this.leaves(use.net) && side !== this.enters(use.column)) continue;
      const [start, end] = this.ends(use);
      spans.set(use.net, Math.max(spans.get(use.net) ?? 0, Math.abs(end - start)));
    }
    const order = [...spans].sort((one, other) => one[1] - other[1] || one[0] - other[0]);
    return new Map(order.map(([net], place) => [net, place]));
  }

  /** @param {Side} side */
  room(side) {
    const count = this.tracks[side].size;
    return count ? TRACK * (count + 1) + ARC : 0;
  }

  /** Where a net leaves its column and where it enters another one. @param {Use} use */
  ends({ net, column, port }) {
    const row = this.nets[net];
    return [this.across(row.source, this.shapes[row.source].out[row.port]), this.across(column, this.shapes[column].into[port])];
  }

  /** @param {number} column @param {number} beside how far right of the middle, before the column is turned */
  across(column, beside) {
    return this.lefts[column] + this.shapes[column].width / 2 + (this.upward[column] ? -beside : beside);
  }

  /**
   * Return where an end of a column is: one that runs up, and the one before it, stand on the lower line.
   *
   * @param {number} column
   * @param {Side} side
   */
  edge(column, side) {
    const { height } = this.shapes[column];
    const stands = this.upward[column] || this.upward[column + 1];
    const start = this.top + (stands ? this.height - height : 0);
    return side === "bottom" ? start + height : start;
  }

  /** @param {number} net @param {Side} side */
  track(net, side) {
    const out = TRACK * ((this.tracks[side].get(net) ?? 0) + 1);
    return side === "bottom" ? this.top + this.height + out : this.top - out;
  }

  /** @param {Use} use @returns {Line} */
  way(use) {
    const { net, column } = use;
    const [start, end] = this.ends(use);
    const [leaves, enters] = [this.leaves(net), this.enters(column)];
    const [first, last] = [this.track(net, leaves), this.track(net, enters)];
    /** @type {Line} */
    const points = [[start, this.edge(this.nets[net].source, leaves)], [start, first]];
    if (leaves !== enters) {
      const between = this.lefts[column] - TRACK * (1 + (this.places.get(use) ?? 0));
      points.push([between, first], [between, last]);
    }
    return [...points, [end, last], [end, this.edge(column, enters)]];
  }
}
