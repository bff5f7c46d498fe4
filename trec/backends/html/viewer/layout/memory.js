// What is known of scopes that were laid out, by which equal ones are not laid out again.

import { Interning } from "./interning.js";

/** @typedef {import("./frame.js").Frame} Frame */
/** @typedef {import("./nesting.js").Nets} Nets */
/** @typedef {import("./scope.js").Content} Content */
/** @typedef {import("./shape.js").Shape} Shape */
/** @typedef {{ id: number, shape: Shape }} Form a shape of which there is one object */
/** @typedef {{ id: number, content: Content }} Laid a scope laid out, of which there is one object */
/** @typedef {{ id: number, content: Content, frame: Frame, form: Form }} Framed that in its frame, and seen outside */

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

  /** Begin another picture. What is kept of one kind keeps what belongs to it of the others, so they forget together. */
  turn() {
    const kinds = [this.nets, this.forms, this.contents, this.frames, this.outcomes];
    const forgets = kinds.some((kind) => kind.isFull);
    for (const kind of kinds) kind.turn(forgets);
  }
}
