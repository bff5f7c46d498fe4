// What a query selects of a graph.

import { parse, QueryError } from "./query.js";
import { likely } from "./similar.js";
import { masks, vocabulary } from "./terms.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./query.js").Expression} Expression */
/** @typedef {import("./query.js").Term} Term */
/** @typedef {import("./terms.js").Masks} Masks */

const FIXED = ["kind", "is", "phase"];

/** The nodes and scopes that a selector selects, as in Python. @param {Graph} graph @param {string} text @returns {Masks} */
export function selected(graph, text) {
  return evaluated(graph, parse(text));
}

/** @param {Graph} graph @param {Expression} expression @returns {Masks} */
function evaluated(graph, expression) {
  if ("key" in expression) {
    const { key, pattern } = expression;
    const isKnown = !FIXED.includes(key) || vocabulary(graph, key).includes(pattern) || /[*?[]/.test(pattern);
    if (!isKnown) throw new QueryError(advice(graph, expression));
    return masks(graph, expression);
  }
  if ("not" in expression) {
    const { nodes, scopes } = evaluated(graph, expression.not);
    return { nodes: nodes.map((bit) => 1 - bit), scopes: scopes.map((bit) => 1 - bit) };
  }
  const left = evaluated(graph, expression.left);
  const right = evaluated(graph, expression.right);
  const joined = (/** @type {Uint8Array} */ one, /** @type {Uint8Array} */ other) =>
    one.map(expression.join === "and" ? (bit, at) => bit & other[at] : (bit, at) => bit | other[at]);
  return { nodes: joined(left.nodes, right.nodes), scopes: joined(left.scopes, right.scopes) };
}

/** @param {Expression} expression @returns {Term[]} */
function termsOf(expression) {
  if ("key" in expression) return [expression];
  return "not" in expression ? termsOf(expression.not) : [...termsOf(expression.left), ...termsOf(expression.right)];
}

/** What could be meant instead of a term that is nowhere. @param {Graph} graph @param {Term} term */
function advice(graph, { key, pattern }) {
  const words = vocabulary(graph, key).filter(Boolean).slice(0, 4000);
  const close = likely(pattern, words, 3);
  const examples = [...new Set(words)].slice(0, 3).join(", ");
  const other = examples ? `there are, for example, ${examples}` : "there are none";
  return `${key ? `${key}:` : ""}${pattern} is nowhere; ${close.length ? `did you mean ${close.join(", ")}?` : other}`;
}

/** Why a selector selects nothing. @param {Graph} graph @param {string} text */
export function whyNothing(graph, text) {
  const isEmpty = (/** @type {Masks} */ { nodes, scopes }) => !nodes.includes(1) && !scopes.includes(1);
  const empty = termsOf(parse(text)).filter((term) => isEmpty(masks(graph, term)));
  return empty.length ? empty.map((term) => advice(graph, term)).join("; ") : "its terms never meet";
}

/** Whether a text is a word or words to look for rather than a selector. @param {string} text */
export function isPlain(text) {
  return !/[()"'*?[\]]|(^|\s)(not|and|or)(\s|$)|(^|\s)[a-z]+:\S/.test(text);
}

/** The nodes and scopes with a text in their name, operator, class or a shape of theirs. @param {Graph} graph @param {string} text @returns {Masks} */
export function containing(graph, text) {
  const wanted = text.trim().toLowerCase();
  const { nodes: columns, scopes: calls, types } = graph.data;
  const known = graph.texts.map((word) => word.toLowerCase().includes(wanted));
  const shape = /^\d+([x×]\d+)+$/.test(wanted) ? `×${wanted.replaceAll("x", "×")}×` : null;
  const shapes = types.shape.map((/** @type {number} */ word) => shape !== null && `×${graph.texts[word]}×`.includes(shape));
  const scopes = Uint8Array.from(graph.scopeNames, (name, scope) =>
    scope > 0 && (known[calls.cls[scope]] || name.toLowerCase().includes(wanted) || graph.paths[scope].toLowerCase().includes(wanted)) ? 1 : 0);
  const nodes = new Uint8Array(graph.count);
  for (let node = 0; node < graph.count; node++) {
    if (known[columns.op[node]] || graph.nameOf(node).toLowerCase().includes(wanted)) nodes[node] = 1;
    for (let value = graph.firstOutput[node]; value < graph.firstOutput[node + 1]; value++) if (shapes[graph.valueType[value]]) nodes[node] = 1;
  }
  return { nodes, scopes };
}
