// What is shown of a graph, whichever scopes are open: found out once, so that opening one takes no walk through all.

import { Uses } from "./uses.js";
import { contents, EMPTY, MANY, ONE, SHOWN, visibility } from "./visibility.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */

/** What there is to be seen of a graph in views that differ only in which scopes are open. */
export class Content {
  /** @param {Graph} graph @param {View} view */
  constructor(graph, view) {
    const { counts, lone } = contents(graph, (this.shown = visibility(graph, view)));
    /** For each scope, how many boxes it holds: none, one operator, or more. */
    this.counts = counts;
    /** For each scope that holds one operator, that. */
    this.lone = lone;
    /** For each node, the outermost call of a module that it is alone in; -1 for none. */
    this.calls = callsOfOne(graph, counts, lone);
    /** For each scope, the first node in it that is shown; -1 for none. */
    this.first = firsts(graph, this.shown);
    this.uses = new Uses(graph, view.folded, this.shown);
    /** @type {number[]} */
    this.kinds = graph.data.scopes.kind;
  }

  /** Whether a scope is drawn as one box. @param {number} scope @param {Uint8Array} open */
  isClosed(scope, open) {
    const count = this.counts[scope];
    return !open[scope] && count !== EMPTY && (count >= MANY || this.kinds[scope] === 0);
  }
}

/** What was found last of each graph, and for what view of it. @type {WeakMap<Graph, { key: number, content: Content }>} */
const known = new WeakMap();

/** @param {Graph} graph @param {View} view @returns {Content} */
export function contentOf(graph, view) {
  const key = Number(view.folded) + 2 * Number(view.state) + 4 * Number(view.constants) + 8 * Number(view.views);
  const last = known.get(graph);
  if (last?.key === key) return last.content;
  const content = new Content(graph, view);
  known.set(graph, { key, content });
  return content;
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

/** @param {Graph} graph @param {Int32Array} counts @param {Int32Array} lone */
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

/** @param {Graph} graph @param {Uint8Array} shown */
function firsts(graph, shown) {
  const first = new Int32Array(graph.scopeCount).fill(-1);
  for (let node = 0; node < graph.count; node++) {
    if (shown[node] !== SHOWN) continue;
    for (let scope = graph.parent[node]; scope >= 0 && first[scope] < 0; scope = graph.scopeParent[scope]) first[scope] = node;
  }
  return first;
}
