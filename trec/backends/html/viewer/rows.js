// What the tree beside the canvas holds: a row for all that is shown and in what is open.

import { folding } from "./folding.js";
import { contentOf } from "./content.js";
import { EMPTY, ONE, SHOWN } from "./visibility.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.js").Item} Item */

/**
 * @typedef {object} Row
 * @property {Item} item
 * @property {number} level 1 for the outermost
 * @property {number} place from 1, among the rows in the same scope
 * @property {number} among how many these are
 * @property {boolean} opens whether it has rows inside
 */

/** The rows of what is open. @param {App} app @returns {Row[]} */
export function rowsOf(app) {
  const { graph } = app;
  const { view, scene } = app.state;
  const shared = new Set([...scene.picture.together.values()].flatMap((all) => all.slice(1)));
  const { shown, counts, lone } = contentOf(graph, view);
  const { iteration } = folding(graph);
  /** @type {Row[]} */
  const rows = [];
  /** What stands for a member: a function of a single operator is that operator. @param {Item} item @returns {Item} */
  const standing = (item) => {
    if (item < graph.count) return shown[item] === SHOWN && !shared.has(item) ? item : -1;
    const scope = item - graph.count;
    if ((view.folded && iteration[scope] === scope) || counts[scope] === EMPTY) return -1;
    return counts[scope] === ONE && graph.data.scopes.kind[scope] !== 0 ? lone[scope] : item;
  };
  /** The rows of a scope, each of which is to be followed by those in it. @param {number} scope @param {number} level */
  const inside = (scope, level) => {
    const items = graph.members[scope].map(standing).filter((item) => item >= 0);
    return items.map((item, at) => ({ item, level, place: at + 1, among: items.length, opens: app.isModule(item) })).values();
  };
  const ways = [inside(0, 1)];
  while (ways.length) {
    const { done, value: row } = ways[ways.length - 1].next();
    if (done) {
      ways.pop();
      continue;
    }
    rows.push(row);
    if (row.opens && view.open[row.item - graph.count]) ways.push(inside(row.item - graph.count, row.level + 1));
  }
  return rows;
}
