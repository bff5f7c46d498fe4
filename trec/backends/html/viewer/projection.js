// The boxes, frames and wires of a graph as it is viewed: what is closed is one box, what is hidden is passed over.

import { contentOf } from "./content.js";
import { alone, repeated } from "./faces.js";
import { labelled } from "./labels.js";
import { finished } from "./layout/steps.js";
import { Terminals } from "./terminals.js";
import { ONE, SHOWN } from "./visibility.js";
import { Weaver } from "./wires.js";

/** @typedef {import("./content.js").Content} Content */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./types.js").Face} Face */
/** @typedef {import("./types.js").Item} Item */
/** @template Found @typedef {import("./layout/steps.js").Steps<Found>} Steps */

/**
 * What is shown of a graph: every node that is not hidden, every scope that is not empty.
 *
 * A scope that holds a single operator is drawn as the box of that; so is the outermost one, the root, as no frame.
 * Nothing in closed scopes is visited.
 *
 * @param {Graph} graph
 * @param {View} view
 * @returns {Picture}
 */
export function project(graph, view) {
  return finished(projecting(graph, view));
}

/** Find out in steps what is shown of a graph. @param {Graph} graph @param {View} view @returns {Steps<Picture>} */
export function* projecting(graph, view) {
  const content = contentOf(graph, view);
  yield;
  const { scopes, frames, firsts, closed } = opened(graph, content, view.open);
  yield;
  const drawn = new Drawn(graph, content.shown);
  frames.forEach((scope, frame) => (drawn.frame[scope] = frame));
  /** @type {Item[]} */
  const boxes = [];
  /** @type {Face[]} */
  const faces = [];
  /** @type {number[]} */
  const around = [];
  /** @type {number[]} */
  const nodes = [];
  const times = (/** @type {number} */ scope) => (view.folded && scope >= 0 ? graph.times[scope] : 1);
  const add = (/** @type {number} */ node, /** @type {number} */ scope, /** @type {number} */ inner) => {
    const own = graph.face(scope < 0 ? node : graph.count + scope);
    const face = scope < 0 || node < 0 ? own : alone(own, graph.face(node));
    faces.push(repeated(face, times(scope)));
    around.push(drawn.frameOf(inner));
    nodes.push(node);
    return boxes.push(scope < 0 ? node : graph.count + scope) - 1;
  };
  const terminals = new Terminals(graph, view, firsts.filter((node) => !closed.has(node)));
  for (const first of firsts) {
    const scope = closed.get(first);
    if (scope !== undefined) {
      const only = content.counts[scope] === ONE ? content.lone[scope] : -1;
      drawn.box[graph.count + scope] = add(only, scope, graph.scopeParent[scope]);
    } else {
      const leader = terminals.leaders.get(first);
      drawn.box[first] = leader === undefined ? add(first, content.calls[first], graph.parent[first]) : drawn.box[leader];
    }
  }
  yield;
  terminals.name(faces, drawn.box);
  const titles = frames.map((scope) => repeated(graph.frame(scope), times(scope)));
  const outer = Int32Array.from(frames, (scope) => drawn.frameOf(graph.scopeParent[scope]));
  const { boxOf, frameOf } = drawn;
  const { together } = terminals;
  const picture = { boxes, nodes, faces, around: Int32Array.from(around), boxOf, frames, titles, outer, frameOf, together };
  const weaver = new Weaver(graph, content.uses, picture);
  yield* weaver.weave(scopes);
  return { ...picture, wires: labelled(weaver, picture, view.shapes) };
}

/** What has become of nodes and scopes in a picture. */
class Drawn {
  /** @param {Graph} graph @param {Uint8Array} shown */
  constructor(graph, shown) {
    /** The box that each node, and behind them each scope, is; -1 for what is in the box of a scope. */
    this.box = new Int32Array(graph.count + graph.scopeCount).fill(-1);
    /** The frame that each scope is; -1 for none. */
    this.frame = new Int32Array(graph.scopeCount).fill(-1);
    const { box, frame } = this;
    const { parent, scopeParent, count } = graph;
    /** @param {number} node */
    this.boxOf = (node) => {
      if (shown[node] !== SHOWN) return -1;
      let found = box[node];
      for (let scope = parent[node]; found < 0 && scope >= 0; scope = scopeParent[scope]) found = box[count + scope];
      return found;
    };
    /** @param {number} scope */
    this.frameOf = (scope) => {
      while (scope >= 0 && frame[scope] < 0) scope = scopeParent[scope];
      return scope < 0 ? -1 : frame[scope];
    };
  }
}

/**
 * The scopes whose members are drawn, those of them that are frames, and the nodes that boxes begin with, both in order;
 * for some of these the closed scope that the box stands for.
 *
 * @param {Graph} graph
 * @param {Content} content
 * @param {Uint8Array} open
 */
function opened(graph, content, open) {
  const { shown, counts, first } = content;
  /** @type {number[]} */
  const scopes = [];
  /** @type {number[]} */
  const frames = [];
  /** @type {number[]} */
  const firsts = [];
  /** @type {Map<number, number>} */
  const closed = new Map();
  const enter = (/** @type {number} */ scope) => {
    scopes.push(scope);
    if (scope > 0 && counts[scope] > ONE) frames.push(scope);
    return graph.members[scope].values();
  };
  const ways = [enter(0)];
  while (ways.length) {
    const { done, value: item } = ways[ways.length - 1].next();
    if (done) {
      ways.pop();
      continue;
    }
    const inner = item - graph.count;
    const node = inner < 0 ? item : first[inner];
    if (node < 0 || shown[node] !== SHOWN) continue;
    if (inner >= 0 && !content.isClosed(inner, open)) ways.push(enter(inner));
    else {
      firsts.push(node);
      if (inner >= 0) closed.set(node, inner);
    }
  }
  return { scopes, frames: [...inOrder(frames)], firsts: inOrder(firsts), closed };
}

/** Numbers in order; where scopes run one after the other, they are so already. @param {number[]} numbers */
function inOrder(numbers) {
  const found = Int32Array.from(numbers);
  return numbers.every((number, at) => !at || numbers[at - 1] < number) ? found : found.sort();
}
