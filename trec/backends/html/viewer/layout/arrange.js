// The layout of a whole diagram: each scope on its own, the innermost first, equal ones once.
//
// What is known of a scope depends on nothing but its nets and the shapes of its members, so when one of them is opened
// or closed only the scopes around it are laid out again. Order and size of the rest stand.

import { framed } from "./frame.js";
import { Interning } from "./interning.js";
import { Nesting } from "./nesting.js";
import { Panels } from "./panels.js";
import { layOut } from "./scope.js";

/** @typedef {import("./diagram.js").Diagram} Diagram */
/** @typedef {import("./diagram.js").Line} Line */
/** @typedef {import("./diagram.js").Panel} Panel */
/** @typedef {import("./diagram.js").Placement} Placement */
/** @typedef {import("./diagram.js").Point} Point */
/** @typedef {import("./diagram.js").Size} Size */
/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./scope.js").Content} Content */
/** @typedef {import("./shape.js").Shape} Shape */
/** @typedef {{ id: number, shape: Shape }} Form a shape of which there is one object */
/** @typedef {{ id: number, content: Content }} Laid a scope laid out, of which there is one object */

/** Room beside a box for a net that returns to it, in points. */
export const LOOP = 18;
/** Crossings of a scope up to which another order of the nets that enter its members is tried; more take long. */
const FEW = 40;
/** Width of a box up to which it is a circle or a point, which nets reach in the middle. */
const ROUND = 30;

/**
 * A scope laid out, in its frame; there is one object for all equal ones.
 *
 * @typedef {object} Framed
 * @property {number} id
 * @property {Content} content
 * @property {Frame} frame
 * @property {Form} form what the scope around it sees
 * @property {Panel} [panel] see panels.js
 */

/**
 * Return where everything in a diagram is.
 *
 * @param {Diagram} diagram
 * @returns {Placement}
 */
export function arrange(diagram) {
  return new Arrangement(diagram).placement();
}

/** The layout of one diagram, kept while its scopes are opened and closed; see diagram.js. */
export class Arrangement {
  /** @param {Diagram} diagram */
  constructor(diagram) {
    this.diagram = diagram;
    this.direction = diagram.direction ?? "TB";
    this.sideways = this.direction === "LR" || this.direction === "RL";
    this.first = new Set(diagram.first ?? []);
    this.nesting = new Nesting(diagram);
    for (const scope of diagram.closed ?? []) this.nesting.open[this.nesting.boxes + scope] = 0;
    /** @type {Interning<Form>} */
    this.forms = new Interning();
    /** @type {Interning<Laid>} */
    this.contents = new Interning();
    /** @type {Interning<Framed>} */
    this.frames = new Interning();
    /** @type {Interning<number>} */
    this.titles = new Interning();
    /** @type {Interning<Framed[]>} For a scope and then for each of its members, what they came to be. */
    this.outcomes = new Interning();
    /** @type {Framed[]} Each scope as it would be on its own. */
    this.own = [];
    /** @type {Framed[]} Each scope as it suits the one around it, */
    this.taken = [];
    this.panels = new Panels(this);
    this.settle();
  }

  /**
   * Show what is in a scope.
   *
   * @param {number} scope an index into `parents`
   */
  open(scope) {
    this.set(scope, 1);
  }

  /**
   * Show a scope as a box.
   *
   * @param {number} scope an index into `parents`
   */
  close(scope) {
    this.set(scope, 0);
  }

  /**
   * @param {number} scope
   * @param {number} open
   */
  set(scope, open) {
    const item = this.nesting.boxes + scope;
    this.nesting.open[item] = open;
    this.nesting.touch(item, true);
  }

  /**
   * Replace the wires that leave an item.
   *
   * @param {number} item
   * @param {ArrayLike<number>} wires as in `Diagram.wires`
   */
  send(item, wires) {
    this.nesting.silence(item);
    for (let at = 0; at < wires.length; at += 4)
      this.nesting.add(wires[at], wires[at + 1], wires[at + 2], wires[at + 3]);
  }

  /** Lay out what changed since that was done last, and the scopes around it. */
  settle() {
    this.visit(this.nesting.root);
    this.panels.forget();
  }

  /**
   * Lay out a scope if it or anything in it has changed, and tell whether it is another now.
   *
   * @param {number} scope
   */
  visit(scope) {
    const { nesting } = this;
    nesting.touched[scope] = 0;
    for (const item of nesting.members[scope]) if (nesting.open[item] && nesting.touched[item]) this.visit(item);
    const { nets } = nesting.local(scope);
    const row = [nets.id, this.titleOf(scope)];
    for (const item of nesting.members[scope])
      row.push(nesting.open[item] ? 2 * this.own[item].id : 2 * this.boxForm(item).id + 1);
    const [own, ...inner] = this.outcomes.known(row, () => this.laidOut(scope));
    this.own[scope] = this.taken[scope] = own;
    nesting.members[scope].forEach((item, position) => (this.taken[item] = inner[position]));
  }

  /**
   * Return a scope and its members laid out.
   *
   * @param {number} scope
   */
  laidOut(scope) {
    const members = this.nesting.members[scope];
    for (const item of members) this.taken[item] = this.own[item];
    let row = this.framed(scope, this.content(scope, []));
    if (row.content.crossings > 0 && row.content.crossings <= FEW) row = this.reordered(scope, row);
    return [row, ...members.map((item) => this.taken[item])];
  }

  /**
   * Return a scope without its frame; `entries` is the order in which the nets that enter are put at first.
   *
   * @param {number} scope
   * @param {number[]} entries
   */
  content(scope, entries) {
    const { nets } = this.nesting.locals[scope];
    const forms = this.nesting.members[scope].map((item) =>
      this.nesting.open[item] ? this.taken[item].form : this.boxForm(item),
    );
    const row = [nets.id, entries.length, ...entries, ...forms.map((form) => form.id)];
    const shapes = forms.map((form) => form.shape);
    return this.contents.known(row, (id) => ({
      id,
      content: layOut(nets.rows, shapes, entries, this.sideways, this.diagram.wrap ?? 0),
    }));
  }

  /**
   * Return a scope in its frame.
   *
   * @param {number} scope
   * @param {Laid} laid
   */
  framed(scope, laid) {
    return this.frames.known([laid.id, this.titleOf(scope)], (id) => {
      const { content } = laid;
      const frame = framed(content, this.titleSettings(scope), this.direction);
      const shift = frame.left - frame.width / 2;
      const form = this.form({
        width: frame.width,
        height: frame.height,
        length: content.length,
        ports: false,
        loop: 0,
        first: false,
        into: content.into.map((x) => x + shift),
        out: content.out.map((x) => x + shift),
        intoWays: content.intoWays,
        outWays: content.outWays,
      });
      return { id, content, frame, form };
    });
  }

  /** @param {number} scope */
  titleSettings(scope) {
    return this.diagram.titles[scope - this.nesting.boxes] ?? [];
  }

  /**
   * Return a number that is the same for equal titles.
   *
   * @param {number} scope
   */
  titleOf(scope) {
    return this.titles.known(this.titleSettings(scope).flat(), (id) => id);
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
      const inner = this.nesting.open[item] ? this.taken[item] : null;
      if (!inner || inner.content.into.length < 2) return;
      const order = arrivals[position];
      const { into, crossings } = inner.content;
      if (order.every((port, index) => !index || into[order[index - 1]] <= into[port])) return;
      const laid = this.content(item, order);
      if (laid.content.crossings > crossings) return;
      before.set(item, inner);
      saved += crossings - laid.content.crossings;
      this.taken[item] = this.framed(item, laid);
    });
    if (!before.size) return row;
    const again = this.framed(scope, this.content(scope, []));
    if (again.content.crossings < row.content.crossings + saved) return again;
    for (const [item, inner] of before) this.taken[item] = inner;
    return row;
  }

  /**
   * Return for each member its ports in the order, from left to right, in which the nets that reach them begin.
   *
   * @param {number} scope
   * @param {Content} content
   */
  arrivals(scope, content) {
    const { nets } = this.nesting.locals[scope];
    /** @type {[number, number][][]} */
    const found = this.nesting.members[scope].map(() => []);
    nets.rows.forEach((net, index) =>
      net.targets.forEach((target, number) => {
        const line = content.lines[index].get(target) ?? [];
        found[target].push([net.ports[number], line[0][0]]);
      }),
    );
    return found.map((ports) => ports.sort((a, b) => a[1] - b[1] || a[0] - b[0]).map(([port]) => port));
  }

  /**
   * Return what is known of a box where it is laid out with others.
   *
   * @param {number} item
   */
  boxForm(item) {
    let [width, height] = [this.diagram.sizes[2 * item], this.diagram.sizes[2 * item + 1]];
    if (this.sideways) [width, height] = [height, width];
    return this.form({
      width,
      height,
      length: 1,
      ports: width > ROUND,
      loop: this.nesting.looped.has(item) ? LOOP : 0,
      first: this.first.has(item),
      into: [],
      out: [],
      intoWays: [],
      outWays: [],
    });
  }

  /** @param {Shape} shape */
  form(shape) {
    const { width, height, length, loop, first, into, out, intoWays, outWays } = shape;
    const row = [width, height, length, shape.ports ? 1 : 0, loop, first ? 1 : 0, into.length, out.length];
    row.push(...into, ...out, ...intoWays, ...outWays);
    return this.forms.known(row, (id) => ({ id, shape }));
  }

  // ---- what came of it

  /**
   * Return the items in a scope; their positions are those in its panel.
   *
   * @param {number} scope an item, as in all that follows
   */
  members(scope) {
    return this.nesting.members[scope];
  }

  /**
   * Return the numbers of the nets that a scope sees; their positions are those in its panel.
   *
   * @param {number} scope
   */
  nets(scope) {
    return this.nesting.locals[scope].keys.map((key) => this.nesting.netOf(key));
  }

  /**
   * Return what is in an open scope, relative to the top left corner of its frame.
   *
   * @param {number} scope
   */
  panel(scope) {
    return this.panels.panel(scope);
  }

  /**
   * Return the top left corner of the frame of an open scope.
   *
   * @param {number} scope
   */
  corner(scope) {
    return this.panels.corner(scope);
  }

  /**
   * Return the middle of a box, or of a scope.
   *
   * @param {number} item
   */
  centre(item) {
    return this.panels.centre(item);
  }

  /**
   * Return the points that a wire passes.
   *
   * @param {number} source
   * @param {number} target
   * @param {number} net
   */
  route(source, target, net) {
    return this.panels.route(source, target, net);
  }

  /** Return where everything is. */
  placement() {
    return this.panels.placement();
  }
}
