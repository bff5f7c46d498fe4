// Which nodes and scopes of a graph a condition holds for, as `trec.analysis.terms` has it.

import { nameGlob, pathGlob, shapeGlob } from "./globs.js";
import { MODULE, NODE_KINDS, OP, PHASES, SCOPE_KINDS } from "./graph.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./query.js").Term} Term */
/** @typedef {{ nodes: Uint8Array, scopes: Uint8Array }} Masks 1 where a condition holds */
/** @typedef {(text: string) => boolean} Test */

/** Where a term holds. @param {Graph} graph @param {Term} term @returns {Masks} */
export function masks(graph, { key, pattern }) {
  return TERMS[key](graph, pattern);
}

/** The short name of an operator: `relu` of `aten.relu.default`. @param {string} op */
export function shortOp(op) {
  return op.split(".")[1] || op;
}

/** @param {RegExp} expression @returns {Test} */
function tested(expression) {
  return (text) => expression.test(text);
}

/** @param {Graph} graph @param {(node: number) => boolean} holds */
function overNodes(graph, holds) {
  const found = new Uint8Array(graph.count);
  for (let node = 0; node < graph.count; node++) if (holds(node)) found[node] = 1;
  return found;
}

/** @param {Graph} graph @param {(scope: number) => boolean} holds */
function overScopes(graph, holds) {
  const found = new Uint8Array(graph.scopeCount);
  for (let scope = 0; scope < graph.scopeCount; scope++) if (holds(scope)) found[scope] = 1;
  return found;
}

/** For each text of the graph whether a test holds; it is asked once for each that matters. @param {Graph} graph @param {Test} test */
function once(graph, test) {
  /** @type {boolean[]} */
  const known = [];
  return (/** @type {number} */ text) => (known[text] ??= test(graph.texts[text]));
}

// ---- calls

/** @param {Graph} graph @param {number} scope */
function isCall(graph, scope) {
  return graph.data.scopes.kind[scope] === 0;
}

/** @param {Graph} graph @param {number} scope */
function classOf(graph, scope) {
  return graph.texts[graph.data.scopes.cls[scope]];
}

/** The calls whose class is the pattern or whose path it matches; with `#`, whose name. @param {Graph} graph @param {string} pattern */
function ownCalls(graph, pattern) {
  const glob = pathGlob(pattern);
  const names = pattern.includes("#") ? graph.scopeNames : graph.paths;
  return overScopes(graph, (scope) =>
    (isCall(graph, scope) || scope === 0) && (classOf(graph, scope) === pattern || (scope > 0 && glob.test(names[scope]))));
}

/** Marked scopes and all scopes in them. @param {Graph} graph @param {Uint8Array} scopes */
function spread(graph, scopes) {
  const inside = scopes.slice();
  for (let scope = 1; scope < graph.scopeCount; scope++) if (inside[graph.scopeParent[scope]]) inside[scope] = 1;
  return inside;
}

/** The scopes, and the nodes in them or standing for one. @param {Graph} graph @param {Uint8Array} scopes @returns {Masks} */
export function within(graph, scopes) {
  const inside = spread(graph, scopes);
  const { parent, standing } = graph;
  return { scopes, nodes: overNodes(graph, (node) => inside[parent[node]] === 1 || (standing[node] >= 0 && inside[standing[node]] === 1)) };
}

/** @param {Graph} graph @param {string} pattern @returns {Masks} */
function bare(graph, pattern) {
  const found = within(graph, ownCalls(graph, pattern));
  const holds = /[*?[]/.test(pattern) ? tested(pathGlob(pattern)) : (/** @type {string} */ name) => name === pattern;
  for (let node = 0; node < graph.count; node++) if (!found.nodes[node] && holds(graph.nameOf(node))) found.nodes[node] = 1;
  return found;
}

// ---- types

/** @param {Graph} graph @param {(type: number) => boolean} test @returns {Masks} */
function typed(graph, test) {
  const types = graph.data.types.dtype.map((/** @type {unknown} */ _, /** @type {number} */ type) => test(type));
  const { firstOutput, valueType } = graph;
  const nodes = overNodes(graph, (node) => {
    const first = firstOutput[node];
    const end = firstOutput[node + 1];
    if (first === end) return graph.inputsOf(node).some((value) => types[valueType[value]]);
    return valueType.subarray(first, end).some((type) => types[type]);
  });
  return { nodes, scopes: new Uint8Array(graph.scopeCount) };
}

/** A shape with a comma after each size. @param {string} shape as the page holds it */
function commas(shape) {
  if (shape === "scalar") return "";
  return `${(shape || "?").replace(/[x,]/g, "_").replaceAll("×", ",")},`;
}

/** @param {string} dtype */
function shortType(dtype) {
  return dtype.replace(/^(bf|f|c|i|u)(?:loat|omplex|nt|int)(8|16|32|64|128)$/, "$1$2");
}

/** @param {Graph} graph @param {"shape" | "dtype" | "device"} column @param {Test} test */
function byColumn(graph, column, test) {
  return typed(graph, (type) => test(graph.texts[graph.data.types[column][type]]));
}

/** Whether a dropout is switched off. @param {Graph} graph @param {number} node */
function isOff(graph, node) {
  const facts = new Map(graph.attributes(node));
  return facts.get("training") === "False" || facts.get("train") === "False" || /^(0|0\.0|-0\.0|False)$/.test(facts.get("p") ?? "");
}

/** @param {Graph} graph @param {string} pattern @returns {Masks} */
function group(graph, pattern) {
  const ops = new Set(graph.data.groups[pattern]);
  const { op } = graph.data.nodes;
  const nodes = overNodes(graph, (node) => {
    const kind = NODE_KINDS[graph.kind[node]];
    if (graph.kind[node] === OP) return ops.has(op[node]) && (pattern !== "dropout" || isOff(graph, node));
    if (pattern !== "identity") return false;
    const name = graph.texts[op[node]];
    return kind === "link" ? ["pass", "alias", "tensor"].includes(name) : graph.kind[node] === MODULE && name === "Identity";
  });
  return { nodes, scopes: new Uint8Array(graph.scopeCount) };
}

/** @type {Record<string, (graph: Graph, pattern: string) => Masks>} */
const TERMS = {
  "": bare,
  path: (graph, pattern) => {
    const glob = pathGlob(pattern);
    return within(graph, overScopes(graph, (scope) => scope > 0 && isCall(graph, scope) && glob.test(graph.paths[scope])));
  },
  class: (graph, pattern) => {
    const holds = tested(nameGlob(pattern));
    return within(graph, overScopes(graph, (scope) => (isCall(graph, scope) || scope === 0) && holds(classOf(graph, scope))));
  },
  scope: (graph, pattern) => {
    const glob = nameGlob(pattern);
    return within(graph, overScopes(graph, (scope) => glob.test(graph.scopeNames[scope])));
  },
  in: (graph, pattern) => {
    const inside = spread(graph, ownCalls(graph, pattern));
    return {
      nodes: overNodes(graph, (node) => inside[graph.parent[node]] === 1),
      scopes: overScopes(graph, (scope) => scope > 0 && inside[graph.scopeParent[scope]] === 1),
    };
  },
  name: (graph, pattern) => {
    const glob = nameGlob(pattern);
    return {
      nodes: overNodes(graph, (node) => glob.test(graph.nameOf(node))),
      scopes: overScopes(graph, (scope) => glob.test(graph.scopeNames[scope])),
    };
  },
  kind: (graph, pattern) => {
    const glob = nameGlob(pattern);
    const { kind } = graph.data.scopes;
    const [nodes, scopes] = [NODE_KINDS, SCOPE_KINDS].map((kinds) => kinds.map((name) => glob.test(name)));
    return { nodes: overNodes(graph, (node) => nodes[graph.kind[node]]), scopes: overScopes(graph, (scope) => scopes[kind[scope]]) };
  },
  phase: (graph, pattern) => {
    const phases = PHASES.map(tested(nameGlob(pattern)));
    const { phase } = graph.data.scopes;
    const scopes = overScopes(graph, (scope) => phases[phase[scope]]);
    return { scopes, nodes: overNodes(graph, (node) => scopes[graph.scopeOf(node)] === 1) };
  },
  op: (graph, pattern) => {
    const glob = nameGlob(pattern);
    const holds = once(graph, (op) => glob.test(op) || glob.test(shortOp(op)));
    const { nodes, scopes } = graph.data;
    return {
      nodes: overNodes(graph, (node) => holds(nodes.op[node])),
      scopes: overScopes(graph, (scope) => scopes.kind[scope] === 1 && holds(scopes.cls[scope])),
    };
  },
  shape: (graph, pattern) => {
    const glob = shapeGlob(pattern);
    return byColumn(graph, "shape", (shape) => glob.test(commas(shape)));
  },
  dtype: (graph, pattern) => {
    const glob = nameGlob(pattern);
    return byColumn(graph, "dtype", (dtype) => glob.test(dtype) || glob.test(shortType(dtype)));
  },
  device: (graph, pattern) => byColumn(graph, "device", tested(nameGlob(pattern))),
  is: group,
};

/** What could have been written as the pattern of a term, each once. @param {Graph} graph @param {string} key @returns {string[]} */
export function vocabulary(graph, key) {
  return [...new Set(words(graph, key))].filter(Boolean);
}

/** @param {Graph} graph @param {string} key @returns {string[]} */
function words(graph, key) {
  const { texts, scopeNames } = graph;
  const { nodes, scopes, types } = graph.data;
  const named = (/** @type {number[]} */ column) => column.map((text) => texts[text]);
  const ofCalls = (/** @type {string[]} */ column) => column.filter((_, scope) => isCall(graph, scope));
  const classes = () => ofCalls(named(scopes.cls));
  const names = () => Array.from({ length: graph.count }, (_, node) => graph.nameOf(node));
  if (key === "op") return named(nodes.op).flatMap((op) => [op, shortOp(op)]);
  if (key === "shape") return named(types.shape).map((shape) => shape === "scalar" ? "" : shape.replaceAll("×", "x"));
  if (key === "dtype" || key === "device") return named(types[key]);
  if (key === "kind") return [...NODE_KINDS, ...SCOPE_KINDS];
  if (key === "phase") return PHASES;
  if (key === "is") return Object.keys(graph.data.groups);
  if (key === "class") return classes();
  if (key === "path") return ofCalls(graph.paths);
  if (key === "scope") return scopeNames;
  if (key === "name") return [...names(), ...scopeNames];
  const calls = [...classes(), ...ofCalls(graph.paths)];
  return key ? calls : [...calls, ...names()];
}
