// The query form of selectors, from text to an expression, as `trec.analysis.query` has it.

import { likely } from "./similar.js";

/** @typedef {{ key: string, pattern: string }} Term */
/** @typedef {{ not: Expression }} Negation */
/** @typedef {{ join: "and" | "or", left: Expression, right: Expression }} Joint */
/** @typedef {Term | Negation | Joint} Expression */

const KEYS = ["class", "device", "dtype", "in", "is", "kind", "name", "op", "path", "phase", "scope", "shape"];
const TOKEN = /\s*(?:([()])|([a-z]+:)?(?:"([^"]*)"|'([^']*)'|([^\s()"']*)))/y;
const WORDS = ["and", "or", "not", "(", ")"];
const DEEPEST = 100;

/** A query that cannot be understood, or is about what there is not; the message says why. */
export class QueryError extends Error {}

/** The expression that a query stands for. @param {string} text @returns {Expression} */
export function parse(text) {
  return new Parser(text).whole();
}

class Parser {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.end = this.start = this.depth = 0;
    /** The token ahead: a mark or a word that joins, a term, or null at the end. @type {string | Term | null} */
    this.word = null;
    this.advance();
  }

  advance() {
    const rest = this.text.slice(this.end);
    this.start = this.end + rest.length - rest.trimStart().length;
    this.word = null;
    if (!rest.trim()) return;
    TOKEN.lastIndex = this.end;
    const match = TOKEN.exec(this.text);
    if (!match || TOKEN.lastIndex === this.start) throw this.fault("a quote is not closed");
    this.end = TOKEN.lastIndex;
    const [, mark, key, double, single, plain] = match;
    if (mark || (key === undefined && WORDS.includes(plain))) this.word = mark || plain;
    else this.word = this.term(key ? key.slice(0, -1) : "", double ?? single ?? plain);
  }

  /** @param {string} key @param {string} pattern @returns {Term} */
  term(key, pattern) {
    if (key && !KEYS.includes(key)) {
      const close = likely(key, KEYS, 3).map((word) => `${word}:`);
      const hint = close.length ? `did you mean ${close.join(" or ")}?` : "put names in quotes.";
      throw new QueryError(`There is no key “${key}:”; ${hint} Keys are ${KEYS.map((word) => `${word}:`).join(" ")}`);
    }
    if (!pattern && key !== "shape") throw this.fault(/["']/.test(this.text[this.end] ?? "") ? "a quote is not closed" : "a pattern is empty");
    return { key, pattern };
  }

  whole() {
    const found = this.joined("or");
    if (this.word !== null) throw this.fault("“and” or “or” could follow");
    return found;
  }

  /** @param {"and" | "or"} join @returns {Expression} */
  joined(join) {
    const next = () => (join === "or" ? this.joined("and") : this.single());
    let left = next();
    while (this.word === join) {
      this.advance();
      left = { join, left, right: next() };
    }
    return left;
  }

  /** @returns {Expression} */
  single() {
    if (++this.depth > DEEPEST) throw this.fault("more than a hundred levels");
    const { word } = this;
    /** @type {Expression} */
    let found;
    if (word !== null && typeof word !== "string") {
      found = word;
      this.advance();
    } else if (word === "not") {
      this.advance();
      found = { not: this.single() };
    } else if (word === "(") {
      this.advance();
      found = this.joined("or");
      if (this.word !== ")") throw this.fault("a parenthesis is not closed");
      this.advance();
    } else throw this.fault("a term is missing");
    this.depth--;
    return found;
  }

  /** @param {string} what */
  fault(what) {
    const shown = `${this.text.slice(0, this.start).trimEnd()} ▸ ${this.text.slice(this.start)}`.trim();
    return new QueryError(`Not complete: ${what}, at ${shown}`);
  }
}
