// What a scene is drawn on: a canvas here; a file of SVG has the same methods.

import { curves } from "./layout/routing.js";

/** @typedef {import("./layout/diagram.js").Line} Line */
/** @typedef {"solid" | "dashed" | "dotted"} Dash */

/**
 * @typedef {object} Surface
 * @property {(x: number, y: number, width: number, height: number, corner: number, ink: Ink) => void} rectangle
 * @property {(x: number, y: number, radius: number, ink: Ink) => void} circle
 * @property {(words: string, x: number, y: number, size: number, colour: string, bold: boolean) => void} text x is the
 *   left of the text, y its base line
 * @property {(words: string, size: number, bold: boolean) => number} width
 * @property {(wires: Ways, colour: string, dashed: boolean, width: number) => void} wires
 * @property {(line: Line, colour: string) => void} stroke draw straight pieces
 * @property {(alpha: number) => void} fade how much of what follows is seen, from 0 to 1
 */

/**
 * @typedef {object} Ways
 * @property {Line[]} lines the ways of wires, which end in arrows
 * @property {Line[]} parts what is to be drawn of each, since what several share is drawn once
 * @property {boolean} sideways whether the flow goes from side to side
 */

/**
 * @typedef {object} Ink
 * @property {string} fill
 * @property {string} border may be empty
 * @property {number} width of the border
 * @property {Dash} line
 */

/** @type {Record<Dash, number[]>} */
export const DASHES = { solid: [], dashed: [4, 3], dotted: [1.2, 2] };
const BARB = [5, 2.6];
const BATCH = 64;
/** Zoom below which corners are not round and arrows have no heads. */
const COARSE = 0.3;

/** @implements {Surface} */
export class CanvasSurface {
  /** @param {CanvasRenderingContext2D} context @param {string} font families */
  constructor(context, font) {
    this.context = context;
    this.font = font;
    this.current = "";
    this.zoom = 1;
    /** How much is seen of all that is drawn, from 0 to 1. */
    this.opacity = 1;
    /** @type {Map<string, number>} */
    this.widths = new Map();
  }

  /**
   * Begin a picture: everything after it is in points.
   *
   * @param {string} background
   * @param {number} ratio pixels of the screen for each of the page
   * @param {{ x: number, y: number, zoom: number }} camera
   */
  begin(background, ratio, { x, y, zoom }) {
    const { context } = this;
    const { width, height } = context.canvas;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.globalAlpha = 1;
    context.fillStyle = background;
    context.fillRect(0, 0, width, height);
    context.setTransform(ratio * zoom, 0, 0, ratio * zoom, -x * zoom * ratio, -y * zoom * ratio);
    context.lineJoin = context.lineCap = "round";
    this.current = "";
    this.zoom = zoom;
  }

  /** @param {number} alpha */
  fade(alpha) {
    this.context.globalAlpha = alpha * this.opacity;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} corner @param {Ink} ink */
  rectangle(x, y, width, height, corner, ink) {
    const { context } = this;
    if (this.zoom < COARSE) {
      context.fillStyle = ink.fill;
      context.fillRect(x, y, width, height);
      if (!ink.border || Math.min(width, height) * this.zoom < 3) return;
      this.#stroke(ink);
      context.strokeRect(x, y, width, height);
      return;
    }
    context.beginPath();
    context.roundRect(x, y, width, height, corner);
    this.#ink(ink);
  }

  /** @param {number} x @param {number} y @param {number} radius @param {Ink} ink */
  circle(x, y, radius, ink) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.#ink(ink);
  }

  /** @param {Ink} ink */
  #ink(ink) {
    this.context.fillStyle = ink.fill;
    this.context.fill();
    if (!ink.border) return;
    this.#stroke(ink);
    this.context.stroke();
  }

  /** @param {Ink} ink */
  #stroke({ border, width, line }) {
    this.context.strokeStyle = border;
    this.context.lineWidth = Math.max(width, 0.6 / this.zoom);
    this.context.setLineDash(DASHES[line]);
  }

  /** @param {number} size @param {boolean} bold */
  #use(size, bold) {
    const font = `${bold ? "bold " : ""}${size}px ${this.font}`;
    if (this.current !== font) this.context.font = this.current = font;
  }

  /** @param {string} words @param {number} size @param {boolean} bold */
  width(words, size, bold) {
    const key = `${bold ? "b" : ""}${size} ${words}`;
    let found = this.widths.get(key);
    if (found === undefined) {
      this.#use(size, bold);
      this.widths.set(key, (found = this.context.measureText(words).width));
    }
    return found;
  }

  /** @param {string} words @param {number} x @param {number} y @param {number} size @param {string} colour @param {boolean} bold */
  text(words, x, y, size, colour, bold) {
    this.#use(size, bold);
    this.context.fillStyle = colour;
    this.context.fillText(words, x, y);
  }

  /** @param {Ways} ways @param {string} colour @param {boolean} dashed @param {number} width */
  wires({ lines, parts, sideways }, colour, dashed, width) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = Math.max(width, (this.zoom < COARSE ? 0.3 : 0.5) / this.zoom);
    // A path of very many pieces takes longer than several of some.
    for (let first = 0; first < lines.length; first += BATCH) {
      context.setLineDash(dashed ? DASHES.dashed : DASHES.solid);
      context.beginPath();
      for (const line of parts.slice(first, first + BATCH)) if (line.length) this.#trace(line, sideways);
      context.stroke();
      if (this.zoom < COARSE) continue;
      context.setLineDash(DASHES.solid);
      context.beginPath();
      for (const line of lines.slice(first, first + BATCH)) this.#head(line, sideways);
      context.stroke();
    }
  }

  /** @param {Line} line @param {string} colour */
  stroke(line, colour) {
    const { context } = this;
    context.strokeStyle = colour;
    context.lineWidth = 1;
    context.setLineDash(DASHES.solid);
    context.beginPath();
    for (const [x, y] of line) context.lineTo(x, y);
    context.stroke();
  }

  /** @param {Line} line @param {boolean} sideways */
  #trace(line, sideways) {
    const { context } = this;
    context.moveTo(line[0][0], line[0][1]);
    for (const piece of curves(line, sideways)) {
      const [[x, y], second, third] = piece;
      if (third) context.bezierCurveTo(x, y, second[0], second[1], third[0], third[1]);
      else context.lineTo(x, y);
    }
  }

  /** @param {Line} line @param {boolean} sideways */
  #head(line, sideways) {
    const [one, tip, other] = arrow(line, sideways);
    this.context.moveTo(one[0], one[1]);
    this.context.lineTo(tip[0], tip[1]);
    this.context.lineTo(other[0], other[1]);
  }
}

/**
 * The three points of the open arrowhead at the end of a route.
 *
 * @param {Line} line
 * @param {boolean} sideways
 * @returns {Line}
 */
export function arrow(line, sideways) {
  const along = sideways ? 0 : 1;
  const [last, tip] = line.slice(-2);
  const end = tip[along];
  let before = last[along];
  // An arc comes back against the way before it.
  if (before === end) before = end + (end - (line[line.length - 3] ?? last)[along]);
  const back = end >= before ? end - BARB[0] : end + BARB[0];
  const middle = tip[1 - along];
  const points = [[back, middle - BARB[1]], [end, middle], [back, middle + BARB[1]]];
  return /** @type {Line} */ (points.map(([u, v]) => (sideways ? [u, v] : [v, u])));
}
