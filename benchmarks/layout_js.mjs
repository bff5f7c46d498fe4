// How long the layout of the page takes; run by layout_js.py.
// Usage: node layout_js.mjs file

import { readFileSync } from "node:fs";
import { Arrangement } from "../trec/backends/html/viewer/layout/arrange.js";

/** What a page keeps of a diagram to know what is seen of its wires while scopes are opened and closed. */
class Seen {
  constructor(diagram) {
    this.boxes = diagram.scopes.length;
    const root = this.boxes + diagram.parents.length;
    const item = (scope) => (scope < 0 ? root : this.boxes + scope);
    this.around = [...diagram.scopes.map(item), ...diagram.parents.map(item), -1];
    this.closed = new Uint8Array(root + 1);
    this.inside = Array.from({ length: root + 1 }, () => []);
    this.wires = diagram.wires;
    this.into = Array.from({ length: root + 1 }, () => []);
    for (let wire = 0; wire < this.wires.length; wire += 4) {
      for (let at = this.wires[wire]; at >= 0; at = this.around[at]) this.inside[at].push(wire);
      for (let at = this.wires[wire + 1]; at >= 0; at = this.around[at]) this.into[at].push(wire);
    }
  }

  shown(item) {
    let found = item;
    for (let at = item; at >= 0; at = this.around[at]) if (this.closed[at]) found = at;
    return found;
  }

  /** Return what leaves an item that is seen. */
  leaving(item) {
    const found = new Map();
    if (this.shown(item) !== item || (item >= this.boxes && !this.closed[item])) return [];
    for (const wire of this.inside[item]) {
      const target = this.shown(this.wires[wire + 1]);
      if (target !== item && !found.has(target)) found.set(target, [item, target, item, wire]);
    }
    return [...found.values()].flat();
  }

  /** Return the items whose wires change when a scope is opened or closed. */
  touching(scope) {
    const sources = [...this.inside[scope], ...this.into[scope]].map((wire) => this.shown(this.wires[wire]));
    return new Set(sources);
  }
}

function timed(work) {
  const start = performance.now();
  const result = work();
  return [performance.now() - start, result];
}

for (const diagram of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  diagram.labels = new Map();
  const [cold, arrangement] = timed(() => new Arrangement(diagram));
  const [places, placement] = timed(() => arrangement.placement());
  const seen = new Seen(diagram);
  const scope = diagram.scopes.find((inner, box) => box > diagram.scopes.length / 2 && inner >= 0);
  const toggle = (picture, close) => {
    const item = seen.boxes + scope;
    const before = seen.touching(item);
    seen.closed[item] = close ? 1 : 0;
    const rows = [...new Set([...before, ...seen.touching(item)])].map((one) => [one, seen.leaving(one)]);
    return timed(() => {
      if (close) picture.close(scope);
      else picture.open(scope);
      for (const [one, wires] of rows) picture.send(one, wires);
      picture.settle();
      picture.panel(seen.boxes + scope);
      picture.panel(picture.nesting.root);
    })[0];
  };
  const closing = toggle(arrangement, true);
  const opening = [toggle(arrangement, false), toggle(arrangement, true), toggle(arrangement, false)];

  // Begun with all scopes closed that lie in no other.
  const closed = diagram.parents.flatMap((parent, index) => (parent < 0 ? [index] : []));
  for (const index of closed) seen.closed[seen.boxes + index] = 1;
  const shown = new Set(diagram.scopes.map((_, box) => seen.shown(box)));
  const wires = [...shown].flatMap((item) => seen.leaving(item));
  const [begun, small] = timed(() => new Arrangement({ ...diagram, closed, wires }));
  let outer = scope;
  while (diagram.parents[outer] >= 0) outer = diagram.parents[outer];
  seen.closed[seen.boxes + outer] = 0;
  const changed = [...seen.touching(seen.boxes + outer)].map((item) => [item, seen.leaving(item)]);
  const [expanded] = timed(() => {
    small.open(outer);
    small.send(seen.boxes + outer, []);
    for (const [item, rows] of changed) small.send(item, rows);
    small.settle();
    small.panel(small.nesting.root);
  });
  const row = { cold, places, closing, opening: opening[0], again: opening[2], begun, expanded };
  for (const name of Object.keys(row)) row[name] = Math.round(row[name] * 10) / 10;
  console.log(JSON.stringify({ ...row, crossings: placement.crossings, size: placement.size }));
}
