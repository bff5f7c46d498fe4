// How a diagram is laid out: each scope on its own, the innermost first, equal ones once.

import { framed, framedUpwards } from "./frame.js";
import { Nesting } from "./nesting.js";
import { LOOP, Routes } from "./routes.js";
import { layingOut } from "./scope.js";
import { finished } from "./steps.js";

/** @typedef {import("./diagram.js").Diagram} Diagram */
/** @typedef {import("./diagram.js").Placement} Placement */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./memory.js").Form} Form */
/** @typedef {import("./memory.js").Framed} Framed */
/** @typedef {import("./memory.js").Laid} Laid */
/** @typedef {import("./memory.js").Memory} Memory */
/** @typedef {import("./scope.js").Content} Content */
/** @typedef {import("./shape.js").Shape} Shape */
/** @template Found @typedef {import("./steps.js").Steps<Found>} Steps */

/** Crossings of a scope up to which another order of the nets that enter its members is tried; more take long. */
const FEW = 40;
/** Scopes that are laid out in one step. */
const SOME = 512;
/** Members of a scope from which on it is laid out in steps. */
const MANY = 1000;
/** Width of a box up to which it is a circle or a point, which nets reach in the middle. */
const ROUND = 30;

/** Lay out one diagram. */
export class Arrangement {
  /**
   * @param {Diagram} diagram
   * @param {Memory} memory
   */
  constructor(diagram, memory) {
    this.diagram = diagram;
    this.memory = memory;
    this.direction = diagram.direction ?? "TB";
    this.sideways = this.direction === "LR" || this.direction === "RL";
    this.first = new Set(diagram.first ?? []);
    this.nesting = new Nesting(diagram);
    /** @type {Set<number>} */
    this.looped = new Set();
    /** @type {Form[]} Of each item, what the scope around it sees. */
    this.forms = new Array(this.nesting.root + 1);
    /** @type {Framed[]} Of each scope. */
    this.framed = new Array(this.nesting.root + 1);
    /** Left and top of the frame of each scope in the picture, and of what is in it, before that is turned. */
    this.corners = new Float64Array(4 * this.nesting.root + 4);
    /** The middle of each box. */
    this.boxes = new Float64Array(2 * this.nesting.boxes);
    /** Whether everything stays where it is laid out. */
    this.stays = this.direction === "TB";
  }

  /** Lay out all scopes. @returns {Steps<void>} */
  *run() {
    const { boxes, root, members, keys } = this.nesting;
    yield* this.nesting.climb(this.memory.nets);
    keys.forEach((key, wire) => key < 0 && this.looped.add(this.diagram.wires[4 * wire]));
    for (let box = 0; box < boxes; box++) this.forms[box] = this.boxForm(box);
    yield;
    for (let scope = root - 1; scope >= boxes; scope--) {
      if (members[scope].length > MANY) yield* this.prepare(scope);
      if (members[scope].length) this.visit(scope);
      if (scope % SOME === 0) yield;
    }
    if (members[root].length > MANY) yield* this.prepare(root);
    this.visit(root);
    yield;
    this.spread(root);
    for (let scope = boxes; scope < root; scope++) this.spread(scope);
  }

  // ---- scopes

  /**
   * Lay out a scope, and some of those in it anew.
   *
   * @param {number} scope
   */
  visit(scope) {
    const { members, locals } = this.nesting;
    const row = [locals[scope].id, this.variant(scope)];
    for (const [width, height] of this.title(scope)) row.push(width, height);
    row.push(-1);
    for (const item of members[scope]) row.push(this.framed[item] ? -2 - this.framed[item].id : this.forms[item].id);
    const outcome = this.memory.outcomes.known(row, () => {
      const own = this.laidOut(scope);
      return [own, ...members[scope].map((item) => this.framed[item])];
    });
    members[scope].forEach((item, position) => this.framed[item] && this.take(item, outcome[position + 1]));
    this.take(scope, outcome[0]);
  }

  /**
   * @param {number} scope
   * @param {Framed} row
   */
  take(scope, row) {
    this.framed[scope] = row;
    this.forms[scope] = row.form;
  }

  /** @param {number} scope */
  laidOut(scope) {
    const row = this.inFrame(scope, this.content(scope, []));
    const { crossings } = row.content;
    return crossings > 0 && crossings <= FEW ? this.reordered(scope, row) : row;
  }

  /**
   * Lay out in steps what is in a large scope, so that it is known when it is asked for.
   *
   * @param {number} scope
   * @returns {Steps<void>}
   */
  *prepare(scope) {
    const row = this.contentRow(scope, []);
    if (this.memory.contents.has(row)) return;
    const content = yield* this.layingOut(scope, []);
    this.memory.contents.known(row, (id) => ({ id, content }));
  }

  /**
   * Return a scope without its frame; `entries` is the order in which the nets that enter are put at first.
   *
   * @param {number} scope
   * @param {number[]} entries
   */
  content(scope, entries) {
    const make = (/** @type {number} */ id) => ({ id, content: finished(this.layingOut(scope, entries)) });
    return this.memory.contents.known(this.contentRow(scope, entries), make);
  }

  /** @param {number} scope @param {number[]} entries */
  contentRow(scope, entries) {
    const row = [this.nesting.locals[scope].id, entries.length, ...entries];
    for (const item of this.nesting.members[scope]) row.push(this.forms[item].id);
    return row;
  }

  /** @param {number} scope @param {number[]} entries */
  layingOut(scope, entries) {
    const { members, locals } = this.nesting;
    const shapes = members[scope].map((item) => this.forms[item].shape);
    return layingOut(locals[scope].rows, shapes, entries, this.sideways, this.diagram.wrap ?? 0);
  }

  /**
   * Return in what way a scope is laid out: as all others, by itself but turned by half a circle, or as a row of columns.
   *
   * @param {number} _scope
   * @returns {number} one of `DOWN`, `TURNED`, `BESIDE`
   */
  variant(_scope) {
    return DOWN;
  }

  /** @param {number} scope */
  title(scope) {
    return this.diagram.titles[scope - this.nesting.boxes] ?? NONE;
  }

  /**
   * Return a scope in its frame.
   *
   * @param {number} scope
   * @param {Laid} laid
   */
  inFrame(scope, { id, content }) {
    const title = this.title(scope);
    const turned = this.variant(scope) === TURNED;
    return this.memory.frames.known([id, turned ? 1 : 0, ...title.flat()], (id) => {
      const frame = turned ? framedUpwards(content, title) : framed(content, title, this.direction);
      const { into, out, intoWays, outWays, length } = content;
      const shift = frame.left - frame.width / 2;
      const shifted = (/** @type {number} */ x) => x + shift;
      const inside = { length, into: into.map(shifted), out: out.map(shifted), intoWays, outWays };
      const form = this.form({ ...BOX, width: frame.width, height: frame.height, ...inside });
      return { id, content, frame, form };
    });
  }

  /**
   * Return a scope whose nets enter the scopes in it in the order in which they begin, if fewer cross then.
   *
   * @param {number} scope
   * @param {Framed} row
   */
  reordered(scope, row) {
    /** @type {Map<number, Framed>} */
    const before = new Map();
    let saved = 0;
    const arrivals = this.arrivals(scope, row.content);
    this.nesting.members[scope].forEach((item, position) => {
      const inner = this.framed[item];
      if (!inner || inner.content.into.length < 2) return;
      const { into, crossings } = inner.content;
      const order = arrivals[position];
      if (order.every((port, index) => !index || into[order[index - 1]] <= into[port])) return;
      const laid = this.content(item, order);
      if (laid.content.crossings > crossings) return;
      before.set(item, inner);
      saved += crossings - laid.content.crossings;
      this.take(item, this.inFrame(item, laid));
    });
    if (!before.size) return row;
    const again = this.inFrame(scope, this.content(scope, []));
    if (again.content.crossings < row.content.crossings + saved) return again;
    for (const [item, inner] of before) this.take(item, inner);
    return row;
  }

  /**
   * Return for each member its ports in the order, from left to right, in which the nets that reach them begin.
   *
   * @param {number} scope
   * @param {Content} content
   */
  arrivals(scope, content) {
    /** @type {[number, number][][]} */
    const found = this.nesting.members[scope].map(() => []);
    this.nesting.locals[scope].rows.forEach((net, index) =>
      net.targets.forEach((target, number) => {
        const line = content.lines[index].get(target) ?? [];
        found[target].push([net.ports[number], line[net.back ? line.length - 1 : 0][0]]);
      }),
    );
    return found.map((ports) => ports.sort((a, b) => a[1] - b[1] || a[0] - b[0]).map(([port]) => port));
  }

  // ---- what is seen of items

  /** @param {number} box */
  boxForm(box) {
    let [width, height] = [this.diagram.sizes[2 * box], this.diagram.sizes[2 * box + 1]];
    if (this.sideways) [width, height] = [height, width];
    const loop = this.looped.has(box) ? LOOP : 0;
    const first = this.first.has(box);
    if (loop || first) return this.formOf(width, height, loop, first);
    const { boxes } = this.memory;
    let same = boxes.get(width);
    if (!same) boxes.set(width, (same = new Map()));
    let form = same.get(height);
    if (!form) same.set(height, (form = this.formOf(width, height, 0, false)));
    return form;
  }

  /** @param {number} width @param {number} height @param {number} loop @param {boolean} first */
  formOf(width, height, loop, first) {
    return this.memory.forms.known([width, height, loop, first ? 1 : 0], (id) => ({
      id,
      shape: { ...BOX, width, height, ports: width > ROUND, loop, first },
    }));
  }

  /** @param {Shape} shape */
  form(shape) {
    const { width, height, length, into, out, intoWays, outWays } = shape;
    const row = [width, height, length, into.length, ...into, ...out, ...intoWays, ...outWays];
    return this.memory.forms.known([...row, FRAMED], (id) => ({ id, shape }));
  }

  // ---- places

  /**
   * Find out where what is in a scope is.
   *
   * @param {number} scope
   */
  spread(scope) {
    const { members, boxes } = this.nesting;
    const left = this.corners[4 * scope + 2];
    const top = this.corners[4 * scope + 3];
    const inside = members[scope];
    for (let position = 0; position < inside.length; position++) {
      const item = inside[position];
      const [x, y] = this.framed[scope].content.centres[position];
      if (item < boxes) {
        this.boxes[2 * item] = left + x;
        this.boxes[2 * item + 1] = top + y;
        continue;
      }
      const { frame } = this.framed[item];
      const [across, along] = [left + x - frame.width / 2, top + y - frame.height / 2];
      this.corners[4 * item] = across;
      this.corners[4 * item + 1] = along;
      this.corners[4 * item + 2] = across + frame.left;
      this.corners[4 * item + 3] = along + frame.top;
    }
  }

  /**
   * Return where a point is in the picture.
   *
   * @param {number} x
   * @param {number} y
   * @param {number} _item what it is laid out in
   * @returns {Point}
   */
  turned(x, y, _item) {
    const { height } = this.framed[this.nesting.root].frame;
    if (this.direction === "TB") return [x, y];
    if (this.direction === "BT") return [x, height - y];
    return this.direction === "LR" ? [y, x] : [height - y, x];
  }

  /**
   * Return where the frame of a scope is in the picture: left, top, width and height.
   *
   * @param {number} scope
   * @returns {[number, number, number, number]}
   */
  rectangle(scope) {
    const [across, along] = this.corners.subarray(4 * scope, 4 * scope + 2);
    const { width, height } = this.framed[scope].frame;
    if (this.stays) return [across, along, width, height];
    const [x, y] = this.turned(across, along, scope);
    const [toX, toY] = this.turned(across + width, along + height, scope);
    return [Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y)];
  }

  /**
   * Return where everything is.
   *
   * @returns {Placement}
   */
  placement() {
    return finished(this.steps());
  }

  /**
   * Find out where everything is.
   *
   * @returns {Steps<Placement>}
   */
  *steps() {
    yield;
    yield* this.run();
    const { nesting, boxes, stays } = this;
    /** @type {Placement["frames"]} */
    const frames = [];
    /** @type {Placement["titles"]} */
    const titles = [];
    let crossings = 0;
    for (let scope = nesting.boxes; scope <= nesting.root; scope++) {
      const row = this.framed[scope];
      crossings += row?.content.crossings ?? 0;
      if (scope === nesting.root) continue;
      const rectangle = row ? this.rectangle(scope) : null;
      frames.push(rectangle);
      titles.push(rectangle && [rectangle[0] + row.frame.title, rectangle[1], row.frame.setting]);
    }
    const labels = this.labels();
    const middles = stays ? boxes : boxes.slice();
    const routes = this.routes(middles);
    if (!stays)
      for (let box = 0; box < nesting.boxes; box++)
        boxes.set(this.turned(middles[2 * box], middles[2 * box + 1], box), 2 * box);
    const { width, height } = this.framed[nesting.root].frame;
    const size = /** @type {Point} */ (this.sideways ? [height, width] : [width, height]);
    return { size, boxes, frames, titles, routes, labels, crossings };
  }

  /** Return the centre of the text of each net that has one. */
  labels() {
    const { nesting, stays } = this;
    /** @type {Point[]} By key: of wires that share a net those that run the other way come last. */
    const texts = new Array(nesting.netOf.length);
    for (let scope = nesting.boxes; scope <= nesting.root; scope++) {
      const content = this.framed[scope]?.content;
      if (!content?.labels.size) continue;
      const [left, top] = this.corners.subarray(4 * scope + 2, 4 * scope + 4);
      for (const [net, [x, y]] of content.labels) {
        const point = /** @type {Point} */ ([left + x, top + y]);
        texts[nesting.index[scope][net]] = stays ? point : this.turned(...point, scope);
      }
    }
    /** @type {Placement["labels"]} */
    const labels = new Map();
    texts.forEach((point, key) => labels.set(nesting.netOf[key], point));
    return labels;
  }

  /**
   * Return the points that wires pass.
   *
   * @param {Float64Array} middles the middle of each box, before the picture is turned
   */
  routes(middles) {
    const place = (/** @type {number} */ box) => {
      const { width, height } = this.forms[box].shape;
      return /** @type {[number, number, number, number]} */ ([middles[2 * box], middles[2 * box + 1], width, height]);
    };
    const content = (/** @type {number} */ scope) => this.framed[scope].content;
    const turn = this.stays ? null : (/** @type {number} */ x, /** @type {number} */ y) => this.turned(x, y, -1);
    return new Routes(this.nesting, content, this.corners, place, turn);
  }
}

/** In what way a scope is laid out. */
export const [DOWN, TURNED, BESIDE] = [0, 1, 2];
/** The title of what has none. @type {import("./diagram.js").Size[]} */
const NONE = [];
/** What tells the form of a frame from that of a box. */
const FRAMED = -1;
/** What all boxes are alike in. */
const BOX = { length: 1, ports: false, loop: 0, first: false, into: [], out: [], intoWays: [], outWays: [] };
