// Columns beside one another whose flow goes down in some and up in others, as in a forward and a backward pass.
//
// Each column is laid out on its own as a scope that runs downwards. One that runs upwards is turned by half a circle,
// so nets that leave the column before it at the bottom enter it at the bottom, in an order in which no two cross.

import { Arrangement, BESIDE, DOWN, TURNED } from "./arrangement.js";
import { Row } from "./gutters.js";
import { Routes } from "./routes.js";

/** @typedef {import("./diagram.js").Diagram} Diagram */
/** @typedef {import("./diagram.js").Placement} Placement */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./memory.js").Laid} Laid */
/** @typedef {import("./memory.js").Memory} Memory */

/**
 * Return where everything in a diagram with several columns is.
 *
 * @param {Diagram} diagram
 * @param {Memory} memory
 * @returns {Placement}
 */
export function columnsBeside(diagram, memory) {
  const columns = Array.from(diagram.columns ?? []);
  const columnOf = Array.from(diagram.columnOf ?? []);
  const wholes = wholesOf(diagram, columnOf);
  const made = columns.map((_, column) => column).filter((column) => !wholes.has(column));
  const count = made.length;
  const outermost = new Set(wholes.values());
  const columnOfScope = columnsOfScopes(diagram, columnOf);
  const outer = Array.from(diagram.parents, (parent, scope) => {
    if (parent >= 0) return parent + count;
    return outermost.has(scope) || columnOfScope[scope] < 0 ? -1 : made.indexOf(columnOfScope[scope]);
  });
  const wrapped = {
    ...diagram,
    scopes: Array.from(diagram.scopes, (scope, box) => (scope >= 0 ? scope + count : made.indexOf(columnOf[box]))),
    parents: [...made.map(() => -1), ...outer],
    titles: [...made.map(() => []), ...diagram.titles],
  };
  const items = columns.map((_, column) => {
    const whole = wholes.get(column);
    return whole === undefined ? made.indexOf(column) : whole + count;
  });
  const placed = new Columns(wrapped, memory, items.filter((_, column) => columns[column])).placement();
  return { ...placed, frames: placed.frames.slice(count), titles: placed.titles.slice(count) };
}

/**
 * Return the column that each scope lies in; -1 for one without a box.
 *
 * @param {Diagram} diagram
 * @param {number[]} columnOf
 */
function columnsOfScopes({ scopes, parents }, columnOf) {
  const found = new Int32Array(parents.length).fill(-1);
  for (let box = 0; box < scopes.length; box++)
    for (let scope = scopes[box]; scope >= 0 && found[scope] < 0; scope = parents[scope]) found[scope] = columnOf[box];
  return found;
}

/**
 * Return the columns that are one scope each, with that scope.
 *
 * @param {Diagram} diagram
 * @param {number[]} columnOf
 */
function wholesOf({ scopes, parents }, columnOf) {
  /** For each column its only outermost scope; -1 if there are several or a box is in none. @type {Map<number, number>} */
  const held = new Map();
  for (let box = 0; box < scopes.length; box++) {
    let outer = scopes[box];
    while (outer >= 0 && parents[outer] >= 0) outer = parents[outer];
    const column = columnOf[box];
    held.set(column, (held.get(column) ?? outer) === outer ? outer : -1);
  }
  return new Map([...held].filter(([, scope]) => scope >= 0));
}

/** Lay out one diagram whose outermost scopes are its columns. */
class Columns extends Arrangement {
  /**
   * @param {Diagram} diagram
   * @param {Memory} memory
   * @param {number[]} upward the scopes that are columns in which the flow goes up
   */
  constructor(diagram, memory, upward) {
    super(diagram, memory);
    const { boxes, root, parent } = this.nesting;
    this.upward = new Set(upward.map((scope) => boxes + scope));
    this.stays = !upward.length;
    /** The column that each item lies in, an item itself; -1 for the root. */
    this.column = new Int32Array(root + 1).fill(-1);
    const found = (/** @type {number} */ item) => (parent[item] === root ? item : this.column[parent[item]]);
    for (let scope = boxes; scope < root; scope++) this.column[scope] = found(scope);
    for (let box = 0; box < boxes; box++) this.column[box] = found(box);
  }

  /** @override @param {number} scope */
  variant(scope) {
    if (scope === this.nesting.root) return BESIDE;
    return this.upward.has(this.column[scope]) ? TURNED : DOWN;
  }

  /** @override @param {number} x @param {number} y @param {number} item @returns {Point} */
  turned(x, y, item) {
    const column = this.column[item];
    if (!this.upward.has(column)) return [x, y];
    const [left, top] = this.corners.subarray(4 * column, 4 * column + 2);
    const { width, height } = this.framed[column].frame;
    return [2 * left + width - x, 2 * top + height - y];
  }

  /** @override @param {number} scope @param {number[]} entries */
  content(scope, entries) {
    if (scope !== this.nesting.root) return super.content(scope, entries);
    const members = this.nesting.members[scope];
    const row = this.row();
    members.forEach((item, column) => {
      if (!this.upward.has(item)) return;
      const { into, crossings } = this.framed[item].content;
      const order = row.arrivals(column);
      if (order.every((port, at) => !at || into[order[at - 1]] <= into[port])) return;
      const laid = super.content(item, order);
      if (laid.content.crossings <= crossings) this.take(item, this.inFrame(item, laid));
    });
    const forms = members.map((item) => this.forms[item].id);
    const upward = members.map((item) => (this.upward.has(item) ? 1 : 0));
    const key = [this.nesting.locals[scope].id, -1, ...forms, ...upward];
    return this.memory.contents.known(key, (id) => ({ id, content: this.row().content() }));
  }

  /** Return the columns as they are now. */
  row() {
    const { root, members, locals } = this.nesting;
    const shapes = members[root].map((item) => this.forms[item].shape);
    return new Row(shapes, members[root].map((item) => this.upward.has(item)), locals[root].rows);
  }

  /** @override @param {Float64Array} middles */
  routes(middles) {
    const { nesting, content, corners, place } = super.routes(middles);
    return new TurnedRoutes(nesting, content, corners, place, (x, y, item) => this.turned(x, y, item));
  }
}

/** Routes of which some pieces are turned. */
class TurnedRoutes extends Routes {
  /**
   * @param {Routes["nesting"]} nesting
   * @param {Routes["content"]} content
   * @param {Routes["corners"]} corners
   * @param {Routes["place"]} place
   * @param {(x: number, y: number, item: number) => Point} turned where a point in an item is in the picture
   */
  constructor(nesting, content, corners, place, turned) {
    super(nesting, content, corners, place, null);
    this.turned = turned;
  }

  /** @override @param {number} scope @param {number} key @param {number} target @param {(x: number, y: number) => void} visit */
  piece(scope, key, target, visit) {
    super.piece(scope, key, target, (x, y) => visit(...this.turned(x, y, scope)));
  }

  /** @override @param {number} box @param {(x: number, y: number) => void} visit */
  loop(box, visit) {
    super.loop(box, (x, y) => visit(...this.turned(x, y, box)));
  }
}
