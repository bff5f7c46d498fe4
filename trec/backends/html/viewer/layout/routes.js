// The points that wires pass, put together of their ways through scopes when they are asked for.

import { extend } from "./routing.js";

/** @typedef {import("./diagram.js").Line} Line */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./nesting.js").Nesting} Nesting */
/** @typedef {import("./scope.js").Content} Content */

/** Room beside a box for a net that returns to it, in points. */
export const LOOP = 18;

/** The routes of one diagram. */
export class Routes {
  /**
   * @param {Nesting} nesting
   * @param {(scope: number) => Content} content what is in a scope
   * @param {Float64Array} corners for each scope, third and fourth of four numbers, left and top of what is in it
   * @param {(box: number) => [number, number, number, number]} place the middle of a box, its width and its height
   * @param {((x: number, y: number) => Point) | null} turn where a point of the diagram is in the picture; null if there
   */
  constructor(nesting, content, corners, place, turn) {
    this.nesting = nesting;
    this.content = content;
    this.corners = corners;
    this.place = place;
    this.turn = turn;
    this.count = nesting.keys.length;
    /** @type {(Line | undefined)[]} */
    this.known = new Array(this.count);
  }

  /**
   * Return the points that a wire passes from its source to its target.
   *
   * @param {number} wire
   * @returns {Line}
   */
  line(wire) {
    let line = this.known[wire];
    if (!line) {
      /** @type {Line} */
      const points = [];
      this.walk(wire, (x, y) => extend(points, x, y));
      const { turn } = this;
      line = this.known[wire] = turn ? points.map(([x, y]) => turn(x, y)) : points;
    }
    return line;
  }

  /**
   * Return left, top, right and bottom of what each wire passes.
   *
   * @returns {Float64Array}
   */
  bounds() {
    const bounds = new Float64Array(4 * this.count);
    let [left, top, right, bottom] = [0, 0, 0, 0];
    const add = (/** @type {number} */ x, /** @type {number} */ y) => {
      if (x < left) left = x;
      if (x > right) right = x;
      if (y < top) top = y;
      if (y > bottom) bottom = y;
    };
    for (let wire = 0; wire < this.count; wire++) {
      [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
      this.walk(wire, add);
      if (this.turn) {
        const [[x, y], [toX, toY]] = [this.turn(left, top), this.turn(right, bottom)];
        [left, top, right, bottom] = [Math.min(x, toX), Math.min(y, toY), Math.max(x, toX), Math.max(y, toY)];
      }
      bounds[4 * wire] = left;
      bounds[4 * wire + 1] = top;
      bounds[4 * wire + 2] = right;
      bounds[4 * wire + 3] = bottom;
    }
    return bounds;
  }

  /**
   * Go along a wire.
   *
   * @param {number} wire
   * @param {(x: number, y: number) => void} visit
   */
  walk(wire, visit) {
    const { parent, keys, diagram } = this.nesting;
    let source = diagram.wires[4 * wire];
    const target = diagram.wires[4 * wire + 1];
    if (source === target) return this.loop(source, visit);
    const scope = parent[this.nesting.meeting(source, target)[0]];
    for (; parent[source] !== scope; source = parent[source]) this.piece(parent[source], keys[wire], OUT, visit);
    this.descend(scope, keys[wire], target, visit);
  }

  /**
   * Go from within a scope to what is in it, however deep.
   *
   * @param {number} scope
   * @param {number} key
   * @param {number} target
   * @param {(x: number, y: number) => void} visit
   */
  descend(scope, key, target, visit) {
    const around = this.nesting.parent[target];
    if (around !== scope) this.descend(scope, key, around, visit);
    this.piece(around, key, target, visit);
  }

  /**
   * Go through a scope to a member, or out of it.
   *
   * @param {number} scope
   * @param {number} key
   * @param {number} target
   * @param {(x: number, y: number) => void} visit
   */
  piece(scope, key, target, visit) {
    const { nesting, corners } = this;
    const ways = this.content(scope).lines[nesting.at(scope, key)];
    const line = ways.get(target === OUT ? OUT : nesting.position[target]) ?? [];
    const left = corners[4 * scope + 2];
    const top = corners[4 * scope + 3];
    for (let at = 0; at < line.length; at++) visit(line[at][0] + left, line[at][1] + top);
  }

  /**
   * Go from a box round its side back to it.
   *
   * @param {number} box
   * @param {(x: number, y: number) => void} visit
   */
  loop(box, visit) {
    const [x, y, width, height] = this.place(box);
    const [inner, outer] = [x + width / 2 - Math.min(width / 4, 4), x + width / 2 + LOOP / 2];
    const [above, below] = [y - height / 2, y + height / 2];
    visit(inner, below);
    visit(outer, below);
    visit(outer, above);
    visit(inner, above);
  }
}

/** The key of a way out of a scope. */
const OUT = -1;
