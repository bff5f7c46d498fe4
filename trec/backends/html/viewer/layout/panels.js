// Where what was laid out is in the picture, turned as that is.

import { simplified } from "./routing.js";

/** @typedef {import("./arrange.js").Arrangement} Arrangement */
/** @typedef {import("./arrange.js").Framed} Framed */
/** @typedef {import("./diagram.js").Direction} Direction */
/** @typedef {import("./diagram.js").Line} Line */
/** @typedef {import("./diagram.js").Panel} Panel */
/** @typedef {import("./diagram.js").Placement} Placement */
/** @typedef {import("./diagram.js").Point} Point */

/** The parts of one arrangement in their places. */
export class Panels {
  /** @param {Arrangement} arrangement */
  constructor(arrangement) {
    this.arrangement = arrangement;
    this.nesting = arrangement.nesting;
    /** Top left corner of the frame of each scope, as far as it is known. */
    this.corners = new Float64Array(2 * this.nesting.root + 2);
    this.forget();
  }

  /** Forget where things are, as they have moved. */
  forget() {
    this.corners.fill(NaN);
    this.corners.fill(0, 2 * this.nesting.root);
  }

  /**
   * Return what is in an open scope, relative to the top left corner of its frame.
   *
   * @param {number} scope
   * @returns {Panel}
   */
  panel(scope) {
    const framed = this.arrangement.taken[scope];
    return (framed.panel ??= turned(framed, this.arrangement.direction));
  }

  /**
   * Return the top left corner of the frame of an open scope.
   *
   * @param {number} scope
   * @returns {Point}
   */
  corner(scope) {
    const { corners } = this;
    if (isNaN(corners[2 * scope])) {
      const { width, height } = this.panel(scope);
      const [x, y] = this.centre(scope);
      corners[2 * scope] = x - width / 2;
      corners[2 * scope + 1] = y - height / 2;
    }
    return [corners[2 * scope], corners[2 * scope + 1]];
  }

  /**
   * Return the middle of a box or scope.
   *
   * @param {number} item
   * @returns {Point}
   */
  centre(item) {
    const around = this.nesting.parent[item];
    const { centres } = this.panel(around);
    const [x, y] = this.corner(around);
    const at = 2 * this.nesting.position[item];
    return [x + centres[at], y + centres[at + 1]];
  }

  /**
   * Return the points that a wire passes, from its source to its target.
   *
   * @param {number} source
   * @param {number} target
   * @param {number} net
   * @returns {Line}
   */
  route(source, target, net) {
    const { nesting } = this;
    if (source === target) return this.loop(source);
    const found = nesting.sent.get(source)?.find((one) => nesting.targets[one] === target && nesting.nets[one] === net);
    return found === undefined ? [] : this.way(found);
  }

  /**
   * Return the points that a wire passes.
   *
   * @param {number} wire
   * @returns {Line}
   */
  way(wire) {
    const { nesting } = this;
    let [source, target, key] = [nesting.sources[wire], nesting.targets[wire], nesting.keys[wire]];
    if (source === target) return this.loop(source);
    if (key % 2) [source, target] = [target, source];
    const scope = nesting.parent[nesting.meeting(source, target)[0]];
    /** @type {Line} */
    const points = [];
    for (; nesting.parent[source] !== scope; source = nesting.parent[source])
      points.push(...this.piece(nesting.parent[source], key, -1));
    /** @type {Line[]} */
    const arriving = [];
    for (; nesting.parent[target] !== scope; target = nesting.parent[target])
      arriving.push(this.piece(nesting.parent[target], key, target));
    arriving.push(this.piece(scope, key, target));
    for (const piece of arriving.reverse()) points.push(...piece);
    const line = simplified(points, this.arrangement.sideways);
    return key % 2 ? line.reverse() : line;
  }

  /**
   * Return the way of a net through a scope to a member, or out of it.
   *
   * @param {number} scope
   * @param {number} key
   * @param {number} target
   * @returns {Line}
   */
  piece(scope, key, target) {
    const ways = this.panel(scope).ways[this.nesting.locals[scope].index.get(key) ?? 0];
    const [left, top] = this.corner(scope);
    const line = ways.get(target < 0 ? -1 : this.nesting.position[target]) ?? [];
    return line.map(([x, y]) => [x + left, y + top]);
  }

  /**
   * Return the way of a wire that returns to where it begins.
   *
   * @param {number} item
   * @returns {Line}
   */
  loop(item) {
    const { sizes } = this.arrangement.diagram;
    const [x, y] = this.centre(item);
    const { direction, sideways } = this.arrangement;
    const across = sizes[2 * item + (sideways ? 1 : 0)] / 2;
    const along = (sizes[2 * item + (sideways ? 0 : 1)] / 2) * (direction === "BT" || direction === "RL" ? -1 : 1);
    const inner = across - Math.min(across / 2, 8);
    const outer = across + 9;
    /** @type {Line} */
    const points = [[inner, along], [outer, along], [outer, -along], [inner, -along]];
    return points.map(([right, down]) => (sideways ? [x + down, y + right] : [x + right, y + down]));
  }

  /**
   * Return where everything is.
   *
   * @returns {Placement}
   */
  placement() {
    const { nesting } = this;
    const { width, height } = this.panel(nesting.root);
    const boxes = new Float64Array(2 * nesting.boxes);
    /** @type {Placement["frames"]} */
    const frames = new Array(nesting.root - nesting.boxes).fill(null);
    /** @type {Placement["titles"]} */
    const titles = new Array(frames.length).fill(null);
    /** @type {Map<number, Point>} */
    const texts = new Map();
    let crossings = 0;
    const enter = (/** @type {number} */ scope) => {
      const panel = this.panel(scope);
      const [x, y] = this.corner(scope);
      crossings += panel.crossings;
      if (scope < nesting.root) {
        frames[scope - nesting.boxes] = [x, y, panel.width, panel.height];
        titles[scope - nesting.boxes] = [x + panel.title[0], y + panel.title[1], panel.setting];
      }
      const { keys } = nesting.locals[scope];
      for (const [net, point] of panel.labels) texts.set(keys[net], [x + point[0], y + point[1]]);
      nesting.members[scope].forEach((item, position) => {
        if (nesting.open[item]) enter(item);
        else if (item < nesting.boxes) {
          boxes[2 * item] = x + panel.centres[2 * position];
          boxes[2 * item + 1] = y + panel.centres[2 * position + 1];
        }
      });
    };
    enter(nesting.root);
    /** @type {Map<number, Point>} */
    const labels = new Map();
    for (const turnedOnes of [0, 1])
      for (const [key, point] of texts) if (key % 2 === turnedOnes) labels.set(nesting.netOf(key), point);
    const routes = nesting.sources.map((_, wire) => this.way(wire));
    return { size: [width, height], boxes, frames, titles, routes, labels, crossings };
  }
}

/**
 * Return a scope as it is in the picture.
 *
 * @param {Framed} framed
 * @param {Direction} direction
 * @returns {Panel}
 */
function turned({ content, frame }, direction) {
  const turn = (/** @type {Point} */ [x, y]) => {
    x += frame.left;
    y += frame.top;
    if (direction === "BT") y = frame.height - y;
    if (direction === "LR") return /** @type {Point} */ ([y, x]);
    return /** @type {Point} */ (direction === "RL" ? [frame.height - y, x] : [x, y]);
  };
  const sideways = direction === "LR" || direction === "RL";
  const ways = content.lines.map((ways) => new Map([...ways].map(([end, line]) => [end, line.map(turn)])));
  return {
    width: sideways ? frame.height : frame.width,
    height: sideways ? frame.width : frame.height,
    title: [frame.title, 0],
    setting: frame.setting,
    centres: Float64Array.from(content.centres.flatMap(turn)),
    ways,
    labels: [...content.labels].map(([net, point]) => [net, turn(point)]),
    crossings: content.crossings,
  };
}
