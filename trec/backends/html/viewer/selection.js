// What a query selects of a graph.

import { whole } from "./columns.js";
import { named, parse, QueryError, quoted } from "./query.js";
import { likely } from "./similar.js";
import { masks, vocabulary } from "./terms.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./query.js").Expression} Expression */
/** @typedef {import("./query.js").Term} Term */
/** @typedef {import("./terms.js").Masks} Masks */

/** Words that are looked through for like ones, and those that are named. */
const [MANY, FEW] = [2000, 5];
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
    if (!isKnown) throw new QueryError(`${quoted(named(expression))} is not known${advice(graph, expression)}`);
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
  const words = vocabulary(graph, key);
  const part = pattern.replace(/^[.*]+|[.*]+$/g, "");
  let close = likely(pattern, words.slice(0, MANY), FEW);
  if (!close.length && part) close = words.filter((word) => word.includes(part)).slice(0, FEW);
  const listed = (/** @type {string[]} */ some) => some.map(quoted).join(", ");
  if (close.length) return `; did you mean ${listed(close)}?`;
  return words.length ? `; there are, for example, ${listed(words.slice(0, FEW))}` : "; there are none";
}

/** Why a selector selects nothing. @param {Graph} graph @param {string} text */
export function whyNothing(graph, text) {
  const expression = parse(text);
  if ("key" in expression) return advice(graph, expression);
  const isEmpty = (/** @type {Masks} */ { nodes, scopes }) => !nodes.includes(1) && !scopes.includes(1);
  const empty = termsOf(expression).filter((term) => isEmpty(masks(graph, term)));
  return empty.map((term) => `; ${quoted(named(term))} is nowhere${advice(graph, term)}`).join("") || "; its terms never meet";
}

/** Whether a text is a word or words to look for rather than a selector. @param {string} text */
export function isPlain(text) {
  return !/[()"'*?[\]]|(^|\s)(not|and|or)(\s|$)|(^|\s)[a-z]+:\S/.test(text);
}

/** The nodes and scopes with a text in their name, operator, class or a shape of theirs. @param {Graph} graph @param {string} text @returns {Masks} */
export function containing(graph, text) {
  const wanted = text.trim().toLowerCase();
  const { nodes: columns, scopes: calls } = graph.data;
  const known = graph.texts.map((word) => word.toLowerCase().includes(wanted));
  const nodes = ofShape(graph, wanted);
  const named = below(graph, wanted, known, calls.name, graph.scopeParent, graph.scopeNames);
  const paths = below(graph, wanted, known, calls.path, graph.scopeParent, graph.paths);
  const scopes = named.map((bit, scope) => (scope > 0 && (bit || paths[scope] || known[calls.cls[scope]]) ? 1 : 0));
  const names = below(graph, wanted, known, columns.name, graph.parent, graph.scopeNames, named);
  for (let node = 0; node < graph.count; node++) if (names[node] || known[columns.op[node]]) nodes[node] = 1;
  return { nodes, scopes };
}

/**
 * Which names hold a text, found out from what they are put together of, each of which stands in many.
 *
 * @param {Graph} graph
 * @param {string} wanted
 * @param {boolean[]} known for each text of the graph whether it holds the wanted one
 * @param {number[]} column names below those of the scopes around them
 * @param {Int32Array} parent
 * @param {string[]} around names of scopes
 * @param {Uint8Array} [outer] for each scope whether its name holds the text; if not given, what is found out
 */
function below(graph, wanted, known, column, parent, around, outer) {
  // What begins in the one name and ends in the other has a dot where they meet.
  const ends = Array.from(wanted.matchAll(/\./g), ({ index }) => wanted.slice(index));
  const found = new Uint8Array(column.length);
  column.forEach((text, at) => {
    const word = graph.texts[text];
    const scope = parent[at];
    if (word[0] === "=") found[at] = Number(whole(word, "").toLowerCase().includes(wanted));
    else if (known[text]) found[at] = 1;
    else if (word[0] === "." && scope >= 0)
      found[at] = (outer ?? found)[scope] || Number(ends.some((end) => word.toLowerCase().startsWith(end)) && whole(word, around[scope]).toLowerCase().includes(wanted));
  });
  return found;
}

/** The nodes that yield a tensor whose shape has sizes such as `3x224` in a row. @param {Graph} graph @param {string} wanted */
function ofShape(graph, wanted) {
  const found = new Uint8Array(graph.count);
  if (!/^\d+([x×]\d+)+$/.test(wanted)) return found;
  const shape = `×${wanted.replaceAll("x", "×")}×`;
  const shapes = graph.data.types.shape.map((/** @type {number} */ word) => `×${graph.texts[word]}×`.includes(shape));
  graph.valueType.forEach((type, value) => shapes[type] && (found[graph.producer[value]] = 1));
  return found;
}
