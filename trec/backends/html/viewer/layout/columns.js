// A long scope in several columns beside one another.
//
// What would be one strip is cut between layers, where few nets pass. Each net that is cut goes round: below its
// column, up between the two, and down into the next.

import { ARC, LEVEL, simplified } from "./routing.js";

/** @typedef {import("./diagram.js").Line} Line */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./diagram.js").Size} Size */
/** @typedef {import("./scope.js").Content} Content */
/** @typedef {import("./shape.js").Shape} Shape */
/** @typedef {[number, number]} Gap room between two layers, where a cut may be: its start and its end */
/** @typedef {[number, number, number]} Strand where a net is cut: x before, x behind, before it is moved; the net */

/** Room between a column and the nets beside it, in points, as all lengths here. */
const BESIDE = 12;
/** Room between two nets that go up side by side. */
const TRACK = 8;
const CLOSE = 0.02;
/** How far from its best place a cut may be where few nets pass, in parts of a column. */
const NEAR = 0.3;
/** How far from its best place a cut may be at all. */
const FAR = 0.7;

/**
 * Return a scope in columns; unchanged if it is no longer than one may be.
 *
 * @param {Content} content the scope as one strip
 * @param {Shape[]} shapes its members
 * @param {Map<number, Size>} texts room across and along the flow for the text of each net that has one here
 * @param {Gap[]} gaps where nothing but nets is, in order
 * @param {number} limit wanted length of a column, along the flow
 * @returns {Content}
 */
export function inColumns(content, shapes, texts, gaps, limit) {
  const cuts = limit > 0 && limit < content.height ? cutsOf(content, gaps, limit) : [];
  return cuts.length ? new Fold(content, shapes, texts, cuts).content() : content;
}

/**
 * Return gaps that make columns of much the same length, near those places where fewest nets pass.
 *
 * @param {Content} content
 * @param {Gap[]} gaps
 * @param {number} limit
 */
function cutsOf(content, gaps, limit) {
  const count = Math.ceil(content.height / limit);
  const length = content.height / count;
  /** @type {Gap[]} */
  const cuts = [];
  for (let number = 1; number < count; number++) {
    const away = (/** @type {Gap} */ gap) => Math.abs(gap[0] - number * length);
    const least = cuts.length ? cuts[cuts.length - 1][1] : 0;
    const later = gaps.filter((gap) => away(gap) <= FAR * length && gap[0] > least);
    const near = later.filter((gap) => away(gap) <= NEAR * length);
    const passing = new Map(near.map((gap) => [gap, strandsAt(content, gap).length]));
    const cost = (/** @type {Gap} */ gap) => passing.get(gap) ?? 0;
    const found = (near.length ? near : later).sort((a, b) => cost(a) - cost(b) || away(a) - away(b));
    if (found.length) cuts.push(found[0]);
  }
  return cuts;
}

/**
 * Tell whether a piece of a way passes a gap.
 *
 * @param {Point} from
 * @param {Point} to
 * @param {Gap} gap
 */
function passes(from, to, gap) {
  return from[1] <= gap[0] + CLOSE && to[1] >= gap[1] - CLOSE;
}

/**
 * Return the nets that pass a gap, from left to right.
 *
 * @param {Content} content
 * @param {Gap} cut
 */
function strandsAt(content, cut) {
  /** @type {Map<string, Strand>} */
  const found = new Map();
  content.lines.forEach((ways, net) => {
    for (const line of ways.values())
      for (let index = 1; index < line.length; index++) {
        const from = line[index - 1];
        const to = line[index];
        if (passes(from, to, cut)) found.set(`${net} ${from[0]} ${to[0]}`, [from[0], to[0], net]);
        else if (passes(to, from, cut)) found.set(`${net} ${to[0]} ${from[0]}`, [to[0], from[0], net]);
      }
  });
  return [...found.values()].sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
}

/** Cut one scope and put the columns beside one another. */
class Fold {
  /**
   * @param {Content} strip
   * @param {Shape[]} shapes
   * @param {Map<number, Size>} texts
   * @param {Gap[]} cuts
   */
  constructor(strip, shapes, texts, cuts) {
    this.strip = strip;
    this.cuts = cuts;
    this.strands = cuts.map((cut) => strandsAt(strip, cut));
    /** @type {Point[]} How far each column moves. */
    this.shifts = [];
    /** @type {number[]} Where each column ends then. */
    this.bottoms = [];
    /** @type {number[]} */
    this.tops = [];
    /** @type {number[]} Where the first net goes up behind each column but the last. */
    this.gutters = [];
    this.width = 0;
    this.height = 0;
    this.place(this.spans(shapes, texts));
  }

  /** @param {[number, number][]} spans */
  place(spans) {
    const { cuts } = this;
    let across = 0;
    spans.forEach(([left, right], index) => {
      const start = index ? cuts[index - 1][1] : 0;
      const end = index < cuts.length ? cuts[index][0] : this.strip.height;
      const top = index ? this.turn(index - 1) : 0;
      this.tops.push(top);
      this.shifts.push([across - left, top - start]);
      this.bottoms.push(top + end - start);
      across += right - left + BESIDE;
      if (index < cuts.length) {
        this.gutters.push(across);
        across += TRACK * (this.strands[index].length - 1) + BESIDE;
      }
    });
    this.width = across - BESIDE;
    this.height = Math.max(
      ...this.bottoms.map((bottom, index) => bottom + (index < cuts.length ? this.turn(index) : 0)),
    );
  }

  /**
   * Return the room that nets need to turn at the end of a column.
   *
   * @param {number} cut
   */
  turn(cut) {
    return ARC + LEVEL * this.strands[cut].length;
  }

  /**
   * Return how far each column reaches to the left and to the right.
   *
   * @param {Shape[]} shapes
   * @param {Map<number, Size>} texts
   */
  spans(shapes, texts) {
    const found = Array.from({ length: this.cuts.length + 1 }, () => /** @type {Point} */ ([Infinity, -Infinity]));
    const widen = (/** @type {number} */ y, /** @type {number} */ left, /** @type {number} */ right) => {
      const span = found[this.column(y)];
      span[0] = Math.min(span[0], left);
      span[1] = Math.max(span[1], right);
    };
    this.strip.centres.forEach(([x, y], member) => {
      const { width, loop } = shapes[member];
      widen(y, x - width / 2, x + width / 2 + loop);
    });
    for (const [net, [x, y]] of this.strip.labels) {
      const half = (texts.get(net) ?? [0, 0])[0] / 2;
      widen(y, x - half, x + half);
    }
    for (const ways of this.strip.lines)
      for (const line of ways.values()) for (const [x, y] of line) widen(y, x, x);
    return found.map((span) => (span[0] <= span[1] ? span : /** @type {Point} */ ([0, 0])));
  }

  /** @param {number} y */
  column(y) {
    let column = 0;
    for (const cut of this.cuts) if (y > cut[0] + CLOSE) column++;
    return column;
  }

  /**
   * @param {Point} point
   * @returns {Point}
   */
  moved([x, y]) {
    const shift = this.shifts[this.column(y)];
    return [x + shift[0], y + shift[1]];
  }

  /**
   * Return the outcome.
   *
   * @returns {Content}
   */
  content() {
    const { strip, shifts } = this;
    const lines = strip.lines.map((ways, net) => {
      /** @type {Map<number, Line>} */
      const found = new Map();
      for (const [end, line] of ways) {
        const points = this.rerouted(net, line);
        if (end < 0) points.push([points[points.length - 1][0], this.height]);
        found.set(end, simplified(points));
      }
      return found;
    });
    return {
      ...strip,
      width: this.width,
      height: this.height,
      centres: strip.centres.map((centre) => this.moved(centre)),
      into: strip.into.map((x) => x + shifts[0][0]),
      out: strip.out.map((x) => x + shifts[shifts.length - 1][0]),
      lines,
      labels: new Map([...strip.labels].map(([net, point]) => [net, this.moved(point)])),
    };
  }

  /**
   * Return a way that goes round wherever it is cut.
   *
   * @param {number} net
   * @param {Line} line
   */
  rerouted(net, line) {
    const points = [this.moved(line[0])];
    for (let index = 1; index < line.length; index++) {
      const from = line[index - 1];
      const to = line[index];
      for (let cut = 0; cut < this.cuts.length; cut++) points.push(...this.round(cut, net, from, to));
      for (let cut = this.cuts.length - 1; cut >= 0; cut--) points.push(...this.round(cut, net, to, from).reverse());
      points.push(this.moved(to));
    }
    return points;
  }

  /**
   * Return the points by which a net goes from the end of one column to the beginning of the next; none if it does not.
   *
   * The outer of two nets below a column is the inner one above the next, so that none crosses another.
   *
   * @param {number} cut
   * @param {number} net
   * @param {Point} from
   * @param {Point} to
   * @returns {Line}
   */
  round(cut, net, [before, y], [behind, toY]) {
    if (!passes([before, y], [behind, toY], this.cuts[cut])) return [];
    const isIt = (/** @type {Strand} */ [x, toX, of]) => of === net && x === before && toX === behind;
    const position = this.strands[cut].findIndex(isIt);
    const last = this.strands[cut].length - 1 - position;
    const between = this.gutters[cut] + TRACK * last;
    const low = this.bottoms[cut] + LEVEL * (last + 1);
    const high = this.tops[cut + 1] - LEVEL * (position + 1);
    const start = before + this.shifts[cut][0];
    const end = behind + this.shifts[cut + 1][0];
    return [[start, low], [between, low], [between, high], [end, high]];
  }
}
