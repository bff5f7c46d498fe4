// The points that wires pass.
//
// Between two points with the same coordinate across the flow a wire is straight. Between others it is a curve that
// leaves the one and reaches the other along the flow, so that it can be drawn as one cubic Bézier; it stays between
// the layers, where there is no box. Two such points at the same height are the ends of an arc.

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
  let segment = 0;
  let entry = 0;
  let exit = 0;
  return nets.map((net, index) => {
    // The segments of one net follow one another.
    for (; segment < segments.net.length && segments.net[segment] === index; segment++)
      arriving[segments.lower[segment]] = segment;
    const source = net.source >= 0 ? net.source : layers.entries[entry++];
    const chain = layers.chains[index];
    const ends = net.leaves ? [...net.targets, layers.exits[exit++]] : net.targets;
    const begin = source < members ? middles[source] + shapes[source].height / 2 : bottoms[layer[source]];
    /** @type {Ways} */
    const ways = new Map();
    for (const end of ends) {
      const passed = Math.min(layer[end] - layer[source] - 1, chain.length);
      let x = across[source] + joints.leaves[arriving[passed ? chain[0] : end]];
      /** @type {Line} */
      const points = [[x, begin]];
      let last = layer[source];
      for (let step = 0; step < passed; step++) {
        const to = across[chain[step]];
        last = layer[chain[step]];
        if (Math.abs(to - x) > STRAIGHT) {
          bend(points, x, bottoms[last - 1], to, tops[last]);
          x = to;
        }
      }
      const stop = across[end] + joints.arrives[arriving[end]];
      if (Math.abs(stop - x) > STRAIGHT) {
        bend(points, x, bottoms[last], stop, tops[layer[end]]);
        x = stop;
      }
      const finish = end < members ? middles[end] - shapes[end].height / 2 : tops[layer[end]];
      if (finish - points[points.length - 1][1] > STRAIGHT || points.length === 1) points.push([x, finish]);
      ways.set(end < members ? end : -1, points);
    }
    return ways;
  });
}

/**
 * Add a curve to a way, after what is straight before it.
 *
 * @param {Line} points
 * @param {number} x
 * @param {number} start
 * @param {number} toX
 * @param {number} end
 */
function bend(points, x, start, toX, end) {
  if (start - points[points.length - 1][1] > STRAIGHT) points.push([x, start]);
  points.push([toX, end]);
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
