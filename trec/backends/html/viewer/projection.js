// The boxes, frames and wires of a graph as it is viewed: what is closed is one box, what is hidden is passed over.

import { alone, repeated } from "./faces.js";
import { labelled } from "./labels.js";
import { Terminals } from "./terminals.js";
import { contents, EMPTY, MANY, ONE, SHOWN, visibility } from "./visibility.js";
import { Weaver } from "./wires.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./types.js").Face} Face */
/** @typedef {import("./types.js").Item} Item */

/**
 * What is shown of a graph: every node that is not hidden, every scope that is not empty.
 *
 * A scope that holds a single operator is drawn as the box of that; so is the outermost one, the root, as no frame.
 *
 * @param {Graph} graph
 * @param {View} view
 * @returns {Picture}
 */
export function project(graph, view) {
  const { shown, counts, lone } = contentOf(graph, view);
  const nesting = nested(graph, view, counts);
  const calls = callsOfOne(graph, counts, lone);
  /** @type {Item[]} */
  const boxes = [];
  /** @type {Face[]} */
  const faces = [];
  /** @type {number[]} */
  const around = [];
  /** @type {number[]} */
  const nodes = [];
  const boxOf = new Int32Array(graph.count).fill(-1);
  const terminals = new Terminals(graph, view.folded, boxOf);
  const boxOfScope = new Int32Array(graph.scopeCount).fill(-1);
  const add = (/** @type {number} */ node, /** @type {number} */ scope, /** @type {number} */ outer) => {
    const own = graph.face(scope < 0 ? node : graph.count + scope);
    const face = scope < 0 || node < 0 ? own : alone(own, graph.face(node));
    faces.push(repeated(face, view.folded && scope >= 0 ? graph.times[scope] : 1));
    around.push(outer);
    nodes.push(node);
    return boxes.push(scope < 0 ? node : graph.count + scope) - 1;
  };
  for (let node = 0; node < graph.count; node++) {
    if (shown[node] !== SHOWN) continue;
    const scope = graph.parent[node];
    const closed = nesting.closed[scope];
    const shared = terminals.shared(node);
    if (shared >= 0) {
      boxOf[node] = shared;
    } else if (closed < 0) {
      boxOf[node] = add(node, calls[node], nesting.frameOf[scope]);
    } else {
      if (boxOfScope[closed] < 0) {
        const only = counts[closed] === ONE ? lone[closed] : -1;
        boxOfScope[closed] = add(only, closed, nesting.frameOf[graph.scopeParent[closed]]);
      }
      boxOf[node] = boxOfScope[closed];
    }
  }
  terminals.name(faces);
  const { frames, titles, outer, frameOf } = nesting;
  const picture = { boxes, nodes, faces, around: Int32Array.from(around), boxOf, frames, titles, outer, frameOf };
  return { ...picture, wires: labelled(new Weaver(graph, view, shown, picture), picture, view.shapes) };
}

/** @typedef {ReturnType<typeof contents> & { shown: Uint8Array }} Content */

/** What was found last of each graph, and for what view of it. @type {WeakMap<Graph, { key: string, content: Content }>} */
const known = new WeakMap();

/** What is shown of a graph, whichever scopes are open. @param {Graph} graph @param {View} view @returns {Content} */
export function contentOf(graph, { folded, state, constants, views }) {
  const key = `${folded} ${state} ${constants} ${views}`;
  const last = known.get(graph);
  if (last?.key === key) return last.content;
  const shown = visibility(graph, /** @type {View} */ ({ folded, state, constants, views }));
  const found = { shown, ...contents(graph, shown) };
  known.set(graph, { key, content: found });
  return found;
}

/**
 * Whether there is more to be seen in a scope than one box.
 *
 * @param {Graph} graph
 * @param {View} view
 * @param {number} scope
 */
export function canOpen(graph, view, scope) {
  const { shown, counts } = contentOf(graph, view);
  if (counts[scope] !== ONE) return counts[scope] > ONE;
  let found = 0;
  for (const node of graph.nodesIn(scope)) if (shown[node] === SHOWN && ++found > 1) return true;
  return false;
}

/**
 * The frames, and for each scope the frame that what it holds is in, or the closed scope that hides it.
 *
 * @param {Graph} graph
 * @param {View} view
 * @param {Int32Array} counts
 */
function nested(graph, view, counts) {
  /** @type {number[]} */
  const frames = [];
  /** @type {Face[]} */
  const titles = [];
  /** @type {number[]} */
  const outer = [];
  const frameOf = new Int32Array(graph.scopeCount).fill(-1);
  const closed = new Int32Array(graph.scopeCount).fill(-1);
  for (let scope = 1; scope < graph.scopeCount; scope++) {
    const around = graph.scopeParent[scope];
    closed[scope] = closed[around];
    frameOf[scope] = frameOf[around];
    if (closed[scope] >= 0 || counts[scope] === EMPTY) continue;
    if (!view.open[scope] && (counts[scope] >= MANY || graph.data.scopes.kind[scope] === 0)) {
      closed[scope] = scope;
      continue;
    }
    if (counts[scope] === ONE) continue;
    outer.push(frameOf[around]);
    frameOf[scope] = frames.push(scope) - 1;
    titles.push(repeated(graph.frame(scope), view.folded ? graph.times[scope] : 1));
  }
  return { frames, titles, outer: Int32Array.from(outer), frameOf, closed };
}

/**
 * For each node, the outermost call of a module that it is alone in; -1 for none.
 *
 * @param {Graph} graph
 * @param {Int32Array} counts
 * @param {Int32Array} lone
 */
function callsOfOne(graph, counts, lone) {
  const calls = new Int32Array(graph.count).fill(-1);
  const seen = new Uint8Array(graph.count);
  for (let scope = 1; scope < graph.scopeCount; scope++) {
    if (counts[scope] !== ONE || seen[lone[scope]]) continue;
    seen[lone[scope]] = 1;
    if (graph.data.scopes.kind[scope] === 0) calls[lone[scope]] = scope;
  }
  return calls;
}
