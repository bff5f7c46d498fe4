// How long the layout of the page takes; run by layout_js.py.
// Usage: node layout_js.mjs file

import { readFileSync } from "node:fs";
import { arrange, Memory } from "../trec/backends/html/viewer/layout/arrange.js";

/** Return what is seen of a diagram while some scopes, of which none is in another, are boxes. */
function seen(diagram, closed) {
  const shut = new Int32Array(diagram.parents.length).fill(-1);
  const scopes = [];
  diagram.parents.forEach((parent, scope) => {
    shut[scope] = closed.has(scope) ? scope : (shut[parent] ?? -1);
  });
  const renamed = new Int32Array(diagram.parents.length).fill(-1);
  diagram.parents.forEach((_, scope) => shut[scope] < 0 && (renamed[scope] = scopes.push(scope) - 1));
  const outer = (scope) => (scope < 0 ? -1 : renamed[scope]);
  const sizes = [];
  const around = [];
  const boxOf = new Int32Array(diagram.scopes.length);
  const boxOfScope = new Map();
  diagram.scopes.forEach((scope, box) => {
    const hidden = scope < 0 ? -1 : shut[scope];
    if (boxOfScope.has(hidden)) return void (boxOf[box] = boxOfScope.get(hidden));
    boxOf[box] = around.push(outer(hidden < 0 ? scope : diagram.parents[hidden])) - 1;
    if (hidden >= 0) boxOfScope.set(hidden, boxOf[box]);
    sizes.push(...(hidden < 0 ? diagram.sizes.slice(2 * box, 2 * box + 2) : [80, 34]));
  });
  const wires = [];
  const known = new Set();
  for (let at = 0; at < diagram.wires.length; at += 4) {
    const [source, target] = [boxOf[diagram.wires[at]], boxOf[diagram.wires[at + 1]]];
    const pair = source * around.length + target;
    if (source === target || known.has(pair)) continue;
    known.add(pair);
    wires.push(source, target, source, wires.length / 4);
  }
  const parents = scopes.map((scope) => outer(diagram.parents[scope]));
  return { sizes, scopes: around, parents, titles: parents.map(() => diagram.titles[0]), wires, labels: new Map() };
}

/** Return how many milliseconds of processor time something takes, and its result. */
function timed(work) {
  const start = process.cpuUsage();
  const result = work();
  const { user, system } = process.cpuUsage(start);
  return [(user + system) / 1000, result];
}

const [diagram] = JSON.parse(readFileSync(process.argv[2], "utf8"));
const outermost = new Set(diagram.parents.flatMap((parent, scope) => (parent < 0 ? [scope] : [])));
const middle = [...outermost][outermost.size >> 1];
const memory = new Memory();
const pictures = {
  closed: seen(diagram, outermost),
  opened: seen(diagram, new Set([...outermost].filter((scope) => scope !== middle))),
  all: seen(diagram, new Set()),
  "one closed": seen(diagram, new Set([middle])),
  again: seen(diagram, new Set()),
};
const row = {};
for (const [name, picture] of Object.entries(pictures)) {
  const [spent, placement] = timed(() => arrange(picture, memory));
  row[name] = spent;
  if (name === "all") row.crossings = placement.crossings;
}
console.log(JSON.stringify(row));
