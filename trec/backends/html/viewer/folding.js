// Equal calls, of which one stands for all: who stands for whom.

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").View} View */

/**
 * @typedef {object} Folding
 * @property {Int32Array} iteration for each scope, the folded call that it is in or is itself; -1 for none
 * @property {Int32Array} nodes for each node, the one that stands for it; itself for most
 * @property {Int32Array} scopes for each scope, the one that stands for it
 */

/** @type {WeakMap<Graph, Folding>} */
const known = new WeakMap();

/** @param {Graph} graph @returns {Folding} */
export function folding(graph) {
  let found = known.get(graph);
  if (!found) known.set(graph, (found = made(graph)));
  return found;
}

/** The item that stands for another one in a view; itself for most. @param {Graph} graph @param {View} view @param {Item} item @returns {Item} */
export function standIn(graph, { folded }, item) {
  if (!folded || item < 0) return item;
  const { nodes, scopes } = folding(graph);
  return item < graph.count ? nodes[item] : graph.count + scopes[item - graph.count];
}

/** @param {Graph} graph @returns {Folding} */
function made(graph) {
  const scopes = new Int32Array(graph.scopeCount).map((_, scope) => scope);
  const nodes = new Int32Array(graph.count).map((_, node) => node);
  const iteration = new Int32Array(graph.scopeCount).fill(-1);
  for (let scope = 1; scope < graph.scopeCount; scope++) {
    const outer = iteration[graph.scopeParent[scope]];
    if (graph.like[scope] !== scope) iteration[scope] = scope;
    else iteration[scope] = outer;
  }
  const inside = graph.like.some((like, scope) => like !== scope) ? held(graph) : [];
  for (let scope = 1; scope < graph.scopeCount; scope++) {
    const like = graph.like[scope];
    if (like === scope) continue;
    inside[scope].scopes.forEach((inner, at) => (scopes[inner] = inside[like].scopes[at]));
    inside[scope].nodes.forEach((inner, at) => (nodes[inner] = inside[like].nodes[at]));
  }
  settle(scopes);
  settle(nodes);
  return { iteration, nodes, scopes };
}

/** For each scope in which something is folded, or that is, all scopes and nodes in it, in order. @param {Graph} graph */
function held(graph) {
  /** @type {{ scopes: number[], nodes: number[] }[]} */
  const inside = [];
  const wanted = new Uint8Array(graph.scopeCount);
  graph.like.forEach((like, scope) => {
    if (like !== scope) wanted[scope] = wanted[like] = 1;
  });
  const up = graph.scopeParent;
  for (let scope = 0; scope < graph.scopeCount; scope++) {
    if (wanted[scope]) inside[scope] = { scopes: [], nodes: [] };
    for (let around = scope; around >= 0; around = up[around]) if (wanted[around]) inside[around].scopes.push(scope);
  }
  for (let node = 0; node < graph.count; node++)
    for (let around = graph.parent[node]; around >= 0; around = up[around])
      if (wanted[around]) inside[around].nodes.push(node);
  return inside;
}

/** Follow those who stand for one another to the last. @param {Int32Array} stands */
function settle(stands) {
  for (let at = 0; at < stands.length; at++) {
    let last = stands[at];
    while (stands[last] !== last) last = stands[last];
    stands[at] = last;
  }
}
