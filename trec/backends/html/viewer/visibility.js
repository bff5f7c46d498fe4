// Which nodes of a graph are shown, and how much that leaves of each scope.

import { BUFFER, CONSTANT, INPUT, MODULE, OP, OUTPUT, PARAM } from "./graph.js";
import { folding } from "./folding.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */

export const [HIDDEN, SHOWN, FOLDED] = [0, 1, 2];

/**
 * Whether each node is shown, hidden because of what it is, or folded into an equal one.
 *
 * Hidden with the parameters is what only keeps their books: an operator on nothing but them whose result nobody reads.
 *
 * @param {Graph} graph
 * @param {View} view
 */
export function visibility(graph, view) {
  const found = new Uint8Array(graph.count);
  const { iteration } = folding(graph);
  for (let node = 0; node < graph.count; node++) {
    const kind = graph.kind[node];
    const isFolded = view.folded && iteration[graph.parent[node]] >= 0;
    // Hidden state stays so where it is folded: a backward pass reads the weights of the last block, not of the first.
    if (isFolded && kind !== PARAM && kind !== BUFFER && kind !== CONSTANT) found[node] = FOLDED;
    else if (!isShown(graph, view, node, found)) found[node] = HIDDEN;
    else found[node] = isFolded ? FOLDED : SHOWN;
  }
  return found;
}

/**
 * @param {Graph} graph
 * @param {View} view
 * @param {number} node
 * @param {Uint8Array} found what is known of the nodes before it
 */
function isShown(graph, view, node, found) {
  const kind = graph.kind[node];
  if (kind === PARAM || kind === BUFFER) return view.state;
  if (kind === CONSTANT) return view.constants;
  if (kind !== OP) return true;
  if (!view.views && graph.face(node).role === "view") return false;
  if (view.state || graph.isRead(node) || graph.firstInput[node] === graph.firstInput[node + 1]) return true;
  return graph.inputsOf(node).some((value) => found[graph.producer[value]] !== HIDDEN);
}

export const [EMPTY, ONE, MANY] = [0, 1, 2];

/**
 * How many boxes each scope holds: none, one operator, or more; and the lone operator.
 *
 * A module in a module counts as many, so that only the innermost call disappears into its operator. Parameters do not
 * count below the level of operators, where they are drawn beside the box of their module.
 *
 * @param {Graph} graph
 * @param {Uint8Array} shown
 */
export function contents(graph, shown) {
  const counts = new Int32Array(graph.scopeCount);
  const lone = new Int32Array(graph.scopeCount).fill(-1);
  const aten = graph.level === "aten";
  for (let node = 0; node < graph.count; node++) {
    const kind = graph.kind[node];
    const isState = kind === PARAM || kind === BUFFER;
    if (shown[node] !== SHOWN || kind === INPUT || kind === OUTPUT || (isState && !aten)) continue;
    counts[graph.parent[node]] += isState || kind === CONSTANT || kind === MODULE ? MANY : ONE;
    lone[graph.parent[node]] = node;
  }
  for (let scope = graph.scopeCount - 1; scope > 0; scope--) {
    const around = graph.scopeParent[scope];
    if (counts[scope] === ONE && graph.data.scopes.kind[scope] !== 0) {
      counts[around] += ONE;
      lone[around] = lone[scope];
    } else if (counts[scope] > 0) counts[around] += MANY;
  }
  return { counts, lone };
}
