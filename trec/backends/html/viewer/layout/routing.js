// The points that wires pass.
//
// Between two points with the same coordinate across the flow a wire is straight. Between others it is a curve that
// leaves the one and reaches the other along the flow, so that it can be drawn as one cubic Bézier; it stays between
// the layers, where there is no box. Two such points at the same height are the ends of an arc, by
// which a net turns round.

/** @typedef {import("./diagram.js").Line} Line */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./joints.js").Joints} Joints */
/** @typedef {import("./layers.js").Layers} Layers */
/** @typedef {import("./nesting.js").Net} Net */
/** @typedef {import("./shape.js").Shape} Shape */
/** @typedef {import("./stacking.js").Bands} Bands */
/** @typedef {Map<number, Line>} Ways the way to each member that a net leads to; under -1 that out of the scope */

/** Least distance sideways that counts as one. */
export const STRAIGHT = 0.01;
/** How far an arc reaches beyond its ends, at most, in points. */
export const ARC = 14;
/** Room between two nets that turn round one behind the other. */
export const LEVEL = 6;

/**
 * Return the ways that each net takes to its ends.
 *
 * @param {Layers} layers
 * @param {Net[]} nets
 * @param {Shape[]} shapes
 * @param {Joints} joints
 * @param {Float64Array} across
 * @param {Bands} bands
 * @returns {Ways[]}
 */
export function lines(layers, nets, shapes, joints, across, bands) {
  const { tops, bottoms, middles } = bands;
  const { layer, members, segments } = layers;
  const arriving = new Int32Array(layer.length);
  const turns = layers.turns.size ? turnsOf(layers, nets, joints, across) : new Map();
  let segment = 0;
  let entry = 0;
  let exit = 0;
  return nets.map((net, index) => {
    // The segments of one net follow one another.
    for (; segment < segments.net.length && segments.net[segment] === index; segment++)
      arriving[segments.lower[segment]] = segment;
    if (net.back) return new Map([[net.targets[0], back(layers, net, index, shapes, turns, across, bands)]]);
    const source = net.source >= 0 ? net.source : layers.entries[entry++];
    const chain = layers.chains[index];
    const ends = net.targets.slice();
    if (net.leaves) ends.push(layers.exits[exit++]);
    if (ends.length > 1) ends.sort((one, other) => layer[one] - layer[other]);
    const start = layer[source];
    const begin = source < members ? middles[source] + shapes[source].height / 2 : bottoms[start];
    /** @type {Ways} */
    const ways = new Map();
    /** @type {Line} */
    const trail = chain.length ? [[across[source] + joints.leaves[arriving[chain[0]]], begin]] : [];
    let passed = 0;
    for (const end of ends) {
      const joint = arriving[end];
      const steps = Math.min(layer[end] - start - 1, chain.length);
      for (; passed < steps; passed++) {
        const vertex = chain[passed];
        bend(trail, bottoms[layer[vertex] - 1], across[vertex], tops[layer[vertex]]);
      }
      /** @type {Line} */
      const points = steps ? trail.slice() : [[across[source] + joints.leaves[joint], begin]];
      bend(points, bottoms[start + steps], across[end] + joints.arrives[joint], tops[layer[end]]);
      const finish = end < members ? middles[end] - shapes[end].height / 2 : tops[layer[end]];
      const last = points[points.length - 1];
      if (finish - last[1] > STRAIGHT || points.length === 1) points.push([last[0], finish]);
      ways.set(end < members ? end : -1, points);
    }
    return ways;
  });
}

/**
 * Add a curve to a way, after what is straight before it, if it leads to another place across the flow.
 *
 * @param {Line} points
 * @param {number} start
 * @param {number} toX
 * @param {number} end
 */
function bend(points, start, toX, end) {
  const [x, y] = points[points.length - 1];
  if (Math.abs(toX - x) <= STRAIGHT) return;
  if (start - y > STRAIGHT) points.push([x, start]);
  points.push([toX, end]);
}

/**
 * Where a net that runs back turns.
 *
 * @typedef {object} Turn
 * @property {number} port where it leaves or reaches the member, across the flow
 * @property {number} beside where it runs beside the member
 * @property {number} level how far from the layer it turns
 */

/**
 * Return where nets turn, by the vertices that stand for that: the wider the turn, the further from the layer.
 *
 * @param {Layers} layers
 * @param {Net[]} nets
 * @param {Joints} joints
 * @param {Float64Array} across
 */
function turnsOf(layers, nets, joints, across) {
  /** @type {Map<number, Turn>} */
  const found = new Map();
  /** @type {Turn[][]} */
  const behind = layers.rows.map(() => []);
  const { segments, chains } = layers;
  const add = (/** @type {number} */ vertex, /** @type {number} */ port, /** @type {number} */ beside) => {
    const turn = { port, beside: across[beside], level: 0 };
    found.set(vertex, turn);
    behind[layers.turns.get(vertex) ?? 0].push(turn);
  };
  segments.net.forEach((index, segment) => {
    if (!nets[index].back) return;
    const chain = chains[index];
    const [upper, lower, end] = [segments.upper[segment], segments.lower[segment], chain.length - 1];
    if (upper === chain[0] && lower !== chain[1]) add(upper, across[lower] + joints.arrives[segment], chain[1]);
    if (upper === nets[index].source) add(lower, across[upper] + joints.leaves[segment], chain[end - 1]);
  });
  for (const turns of behind) {
    turns.sort((one, other) => Math.abs(one.port - one.beside) - Math.abs(other.port - other.beside));
    turns.forEach((turn, position) => (turn.level = position * LEVEL));
  }
  return found;
}

/**
 * Return the way of a net that runs back: round behind its source, up beside what is between, round again.
 *
 * @param {Layers} layers
 * @param {Net} net
 * @param {number} index
 * @param {Shape[]} shapes
 * @param {Map<number, Turn>} turns
 * @param {Float64Array} across
 * @param {Bands} bands
 */
function back({ layer, chains }, { source, targets }, index, shapes, turns, across, { tops, bottoms, middles }) {
  const [target] = targets;
  const chain = chains[index];
  const nowhere = { port: 0, beside: 0, level: 0 };
  const first = turns.get(chain[chain.length - 1]) ?? nowhere;
  const last = turns.get(chain[0]) ?? nowhere;
  const low = bottoms[layer[source]] + first.level;
  const high = tops[layer[target]] - last.level;
  /** @type {Line} */
  const points = [[first.port, middles[source] + shapes[source].height / 2], [first.port, low], [first.beside, low]];
  for (let at = chain.length - 2; at > 1; at--) {
    const [lower, upper] = [chain[at], chain[at - 1]];
    points.push([across[lower], tops[layer[lower]]], [across[upper], bottoms[layer[upper]]]);
  }
  points.push([last.beside, high], [last.port, high]);
  points.push([last.port, middles[target] - shapes[target].height / 2]);
  return simplified(points);
}

/**
 * Return the points without those that lie on a straight line between their neighbours.
 *
 * @param {Line} points
 */
export function simplified(points) {
  /** @type {Line} */
  const kept = [];
  for (const [x, y] of points) extend(kept, x, y);
  return kept;
}

/**
 * Add a point to a way, without those before it that lie on a straight line between their neighbours then.
 *
 * @param {Line} line
 * @param {number} x
 * @param {number} y
 */
export function extend(line, x, y) {
  const last = line[line.length - 1];
  if (last && Math.abs(x - last[0]) < STRAIGHT) {
    if (Math.abs(y - last[1]) < STRAIGHT) return;
    if (line.length > 1 && Math.abs(line[line.length - 2][0] - last[0]) < STRAIGHT) {
      line[line.length - 1] = [last[0], y];
      return;
    }
  }
  line.push([x, y]);
}

/**
 * Return the pieces of a route: the end of a straight one, or both control points and the end of a Bézier curve.
 *
 * @param {Line} line the points of the route; the pieces go on from the first
 * @param {boolean} sideways whether the flow goes from side to side rather than up or down
 * @returns {Line[]}
 */
export function curves(line, sideways = false) {
  const turn = (/** @type {Point} */ [x, y]) => /** @type {Point} */ (sideways ? [y, x] : [x, y]);
  const points = line.map(turn);
  /** @type {Line[]} */
  const pieces = [];
  let onwards = 0;
  for (let index = 1; index < points.length; index++) {
    const [x, y] = points[index - 1];
    const [toX, toY] = points[index];
    if (x === toX) {
      pieces.push([[toX, toY]]);
      onwards = toY - y;
    } else if (y === toY) {
      if (!onwards) onwards = index + 1 < points.length ? y - points[index + 1][1] : 1;
      const depth = Math.min(Math.max(Math.abs(toX - x) / 2, 5), ARC);
      const bent = onwards > 0 ? y + depth : y - depth;
      pieces.push([[x, bent], [toX, bent], [toX, toY]]);
      onwards = -onwards;
    } else {
      const middle = (y + toY) / 2;
      pieces.push([[x, middle], [toX, middle], [toX, toY]]);
      onwards = toY - y;
    }
  }
  return sideways ? pieces.map((piece) => piece.map(turn)) : pieces;
}
