// The layout of a whole diagram: each scope on its own, the innermost first, equal ones once.

import { framed } from "./frame.js";
import { Interning } from "./interning.js";
import { Nesting } from "./nesting.js";
import { LOOP, Routes } from "./routes.js";
import { layOut } from "./scope.js";

/** @typedef {import("./diagram.js").Diagram} Diagram */
/** @typedef {import("./diagram.js").Placement} Placement */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./nesting.js").Nets} Nets */
/** @typedef {import("./scope.js").Content} Content */
/** @typedef {import("./shape.js").Shape} Shape */
/** @typedef {{ id: number, shape: Shape }} Form a shape of which there is one object */
/** @typedef {{ id: number, content: Content }} Laid a scope laid out, of which there is one object */
/** @typedef {{ id: number, content: Content, frame: Frame, form: Form }} Framed that in its frame, and seen outside */

/** Crossings of a scope up to which another order of the nets that enter its members is tried; more take long. */
const FEW = 40;
/** Width of a box up to which it is a circle or a point, which nets reach in the middle. */
const ROUND = 30;

/** What is known of scopes in pictures with one direction and one length of columns, at least of the last two. */
export class Memory {
  constructor() {
    /** @type {Interning<Nets>} */
    this.nets = new Interning();
    /** @type {Interning<Form>} */
    this.forms = new Interning();
    /** @type {Map<number, Map<number, Form>>} Of boxes that nothing is known of but their width and height. */
    this.boxes = new Map();
    /** @type {Interning<Laid>} */
    this.contents = new Interning();
    /** @type {Interning<Framed>} */
    this.frames = new Interning();
    /** @type {Interning<Framed[]>} For a scope and then for each of its members, what they came to be. */
    this.outcomes = new Interning();
  }

  /** Begin another picture. */
  turn() {
    for (const kind of [this.nets, this.forms, this.contents, this.frames, this.outcomes]) kind.turn();
  }
}

/**
 * Return where everything in a diagram is.
 *
 * @param {Diagram} diagram
 * @param {Memory} memory what is known of scopes of earlier diagrams, which are not laid out again
 * @returns {Placement}
 */
export function arrange(diagram, memory = new Memory()) {
  memory.turn();
  return new Arrangement(diagram, memory).placement();
}

/** Lay out one diagram. */
class Arrangement {
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
    this.nesting = new Nesting(diagram, memory.nets);
    /** @type {Set<number>} */
    this.looped = new Set();
    this.nesting.keys.forEach((key, wire) => key < 0 && this.looped.add(diagram.wires[4 * wire]));
    /** @type {Form[]} Of each item, what the scope around it sees. */
    this.forms = new Array(this.nesting.root + 1);
    for (let box = 0; box < this.nesting.boxes; box++) this.forms[box] = this.boxForm(box);
    /** @type {Framed[]} Of each scope. */
    this.framed = new Array(this.nesting.root + 1);
    const { boxes, root } = this.nesting;
    for (let scope = root - 1; scope >= boxes; scope--) if (this.nesting.members[scope].length) this.visit(scope);
    this.visit(root);
    /** Left and top of the frame of each scope in the picture, and of what is in it, before that is turned. */
    this.corners = new Float64Array(4 * root + 4);
    /** The middle of each box. */
    this.boxes = new Float64Array(2 * boxes);
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
    const row = [locals[scope].id];
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
   * Return a scope without its frame; `entries` is the order in which the nets that enter are put at first.
   *
   * @param {number} scope
   * @param {number[]} entries
   */
  content(scope, entries) {
    const nets = this.nesting.locals[scope];
    const forms = this.nesting.members[scope].map((item) => this.forms[item]);
    const row = [nets.id, entries.length, ...entries];
    for (const form of forms) row.push(form.id);
    return this.memory.contents.known(row, (id) => {
      const shapes = forms.map((form) => form.shape);
      return { id, content: layOut(nets.rows, shapes, entries, this.sideways, this.diagram.wrap ?? 0) };
    });
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
    return this.memory.frames.known([id, ...title.flat()], (id) => {
      const frame = framed(content, title, this.direction);
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
   * Return where everything is.
   *
   * @returns {Placement}
   */
  placement() {
    const { direction, sideways, nesting, boxes } = this;
    const whole = this.framed[nesting.root].frame;
    const height = whole.height;
    /** @type {(x: number, y: number) => Point} */
    const turn = (x, y) => {
      if (direction === "TB") return [x, y];
      if (direction === "BT") return [x, height - y];
      return direction === "LR" ? [y, x] : [height - y, x];
    };
    /** @type {Placement["frames"]} */
    const frames = [];
    /** @type {Placement["titles"]} */
    const titles = [];
    /** @type {[number, Point][]} By key. */
    const texts = [];
    let crossings = 0;
    for (let scope = nesting.boxes; scope <= nesting.root; scope++) {
      const row = this.framed[scope];
      const at = scope - nesting.boxes;
      if (scope < nesting.root) [frames[at], titles[at]] = [null, null];
      if (!row) continue;
      const { frame, content } = row;
      crossings += content.crossings;
      const [across, along, left, top] = this.corners.subarray(4 * scope, 4 * scope + 4);
      if (scope < nesting.root) {
        let [x, y, width, height] = [across, along, frame.width, frame.height];
        if (direction !== "TB") {
          [x, y] = turn(across, along);
          const [toX, toY] = turn(across + frame.width, along + frame.height);
          [x, y, width, height] = [Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y)];
        }
        frames[at] = [x, y, width, height];
        titles[at] = [x + frame.title, y, frame.setting];
      }
      if (!content.labels.size) continue;
      for (const [net, [x, y]] of content.labels) texts.push([nesting.index[scope][net], turn(left + x, top + y)]);
    }
    // Of wires that share a net those that run the other way come last.
    texts.sort((one, other) => one[0] - other[0]);
    /** @type {Placement["labels"]} */
    const labels = new Map();
    for (const [key, point] of texts) labels.set(nesting.netOf[key], point);
    const content = (/** @type {number} */ scope) => this.framed[scope].content;
    const middles = direction === "TB" ? boxes : boxes.slice();
    const place = (/** @type {number} */ box) => {
      const { width, height } = this.forms[box].shape;
      return /** @type {[number, number, number, number]} */ ([middles[2 * box], middles[2 * box + 1], width, height]);
    };
    const routes = new Routes(nesting, content, this.corners, place, direction === "TB" ? null : turn);
    if (middles !== boxes)
      for (let box = 0; box < boxes.length; box += 2) boxes.set(turn(boxes[box], boxes[box + 1]), box);
    const size = /** @type {Point} */ (sideways ? [height, whole.width] : [whole.width, height]);
    return { size, boxes, frames, titles, routes, labels, crossings };
  }
}

/** The title of what has none. @type {import("./diagram.js").Size[]} */
const NONE = [];
/** What tells the form of a frame from that of a box. */
const FRAMED = -1;
/** What all boxes are alike in. */
const BOX = { length: 1, ports: false, loop: 0, first: false, into: [], out: [], intoWays: [], outWays: [] };
