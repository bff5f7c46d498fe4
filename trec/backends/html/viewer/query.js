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

/** A term as it is written. @param {Term} term */
export function named({ key, pattern }) {
  return key ? `${key}:${pattern}` : pattern;
}

/** A text in quotes, as Python writes it. @param {string} text */
export function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\\n\r\t]/g, (sign) => ({ "\\": "\\\\", "\n": "\\n", "\r": "\\r" })[sign] ?? "\\t");
  return `${mark}${escaped.replaceAll(mark, `\\${mark}`)}${mark}`;
}

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
    if (!match || TOKEN.lastIndex === this.start) throw this.fault("a quote that is not closed");
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
      throw new QueryError(`${quoted(this.text)} has the unknown key ${quoted(`${key}:`)}; ${hint} Known keys are: ${KEYS.map((word) => `${word}:`).join(", ")}`);
    }
    if (!pattern && key !== "shape") throw this.fault(/["']/.test(this.text[this.end] ?? "") ? "a quote that is not closed" : "a pattern that is empty");
    return { key, pattern };
  }

  whole() {
    const found = this.joined("or");
    const { word } = this;
    if (word === null) return found;
    const [name, quotes] = typeof word === "string" ? [word, ""] : [named(word), " (a name with spaces stands in quotes)"];
    throw this.fault(`${name} where 'and' or 'or' could follow${quotes}`);
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
      if (this.word !== ")") throw this.fault("an opening parenthesis without a closing one");
      this.advance();
    } else throw this.fault(`${word === null ? "an end" : quoted(word)} where a term should be`);
    this.depth--;
    return found;
  }

  /** @param {string} what */
  fault(what) {
    const shown = `${this.text.slice(0, this.start).trimEnd()} >>> ${this.text.slice(this.start)}`.trim();
    return new QueryError(`the selector ${quoted(this.text)} is not complete: it has ${what}, at ${quoted(shown)}; expected terms such as layers.*.attn, op:conv* or class:Linear, joined by and, or, not and parentheses`);
  }
}
