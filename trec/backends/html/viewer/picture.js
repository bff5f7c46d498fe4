// The picture as a file: SVG in which texts are texts, or PNG, both as it is shown.

import { Drawer } from "./draw.js";
import { curves } from "./layout/routing.js";
import { arrow, CanvasSurface, DASHES } from "./surface.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./draw.js").Colours} Colours */
/** @typedef {import("./surface.js").Ink} Ink */
/** @typedef {import("./surface.js").Surface} Surface */
/** @typedef {import("./surface.js").Ways} Ways */

const MARGIN = 16;
const SHARPNESS = 2;
/** Pixels along a side, and in all, beyond which browsers make no canvas. */
const [LONGEST, LARGEST] = [16000, 1.2e8];
const ALL = { left: -Infinity, top: -Infinity, right: Infinity, bottom: Infinity, zoom: 1 };

/** A text as it stands in XML, without what no XML may hold. @param {string} text */
export function escaped(text) {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, "\ufffd")
    .replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign] ?? "&quot;");
}

/** @param {number} length */
function short(length) {
  return String(Math.round(length * 100) / 100);
}

/** @implements {Surface} */
class SvgSurface {
  /** @param {CanvasSurface} ruler what measures texts */
  constructor(ruler) {
    this.ruler = ruler;
    /** @type {string[]} */
    this.lines = [];
    this.alpha = 1;
  }

  /** @param {string} tag @param {Record<string, string | number>} attributes @param {string} [inside] */
  add(tag, attributes, inside) {
    const all = this.alpha < 1 ? { ...attributes, opacity: this.alpha } : attributes;
    const words = Object.entries(all).map(([name, value]) => ` ${name}="${typeof value === "number" ? short(value) : escaped(value)}"`);
    this.lines.push(`<${tag}${words.join("")}${inside === undefined ? "/>" : `>${inside}</${tag}>`}`);
  }

  /** @param {Ink} ink @returns {Record<string, string | number>} */
  ink({ fill, border, width, line }) {
    if (!border) return { fill };
    const dashes = DASHES[line].join(" ");
    return { fill, stroke: border, "stroke-width": width, ...(dashes ? { "stroke-dasharray": dashes } : {}) };
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} corner @param {Ink} ink */
  rectangle(x, y, width, height, corner, ink) {
    this.add("rect", { x, y, width, height, rx: corner, ...this.ink(ink) });
  }

  /** @param {number} x @param {number} y @param {number} radius @param {Ink} ink */
  circle(x, y, radius, ink) {
    this.add("circle", { cx: x, cy: y, r: radius, ...this.ink(ink) });
  }

  /** @param {string} words @param {number} size @param {boolean} bold */
  width(words, size, bold) {
    return this.ruler.width(words, size, bold);
  }

  /** @param {string} words @param {number} x @param {number} y @param {number} size @param {string} colour @param {boolean} bold */
  text(words, x, y, size, colour, bold) {
    this.add("text", { x, y, "font-size": size, fill: colour, ...(bold ? { "font-weight": "bold" } : {}) }, escaped(words));
  }

  /** @param {Ways} ways @param {string} colour @param {boolean} dashed @param {number} width */
  wires({ lines, parts, sideways }, colour, dashed, width) {
    const stroke = { fill: "none", stroke: colour, "stroke-width": width };
    const point = (/** @type {number[]} */ [x, y]) => `${short(x)} ${short(y)}`;
    lines.forEach((line, at) => {
      const part = parts[at];
      const pieces = curves(part, sideways).map((piece) => (piece.length > 1 ? `C${piece.map(point).join(" ")}` : `L${point(piece[0])}`));
      if (part.length) this.add("path", { d: `M${point(part[0])}${pieces.join("")}`, ...stroke, ...(dashed ? { "stroke-dasharray": DASHES.dashed.join(" ") } : {}) });
      this.add("path", { d: `M${arrow(line, sideways).map(point).join("L")}`, ...stroke });
    });
  }

  /** What only says that a click does something is not saved. */
  stroke() {}

  /** @param {number} alpha */
  fade(alpha) {
    this.alpha = alpha;
  }
}

/** The picture as text of an SVG file. @param {App} app */
export function svg(app) {
  const { scene, lit } = app.state;
  const surface = new SvgSurface(app.stage.surface);
  new Drawer(surface, scene, app.stage.colours(), lit).draw(ALL);
  const [width, height] = [scene.width + 2 * MARGIN, scene.height + 2 * MARGIN].map(short);
  const font = escaped(app.graph.data.style.font);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}"`,
    ` font-family="${font}" stroke-linecap="round" stroke-linejoin="round">`,
    `<title>${escaped(app.graph.title)}</title>`,
    `<rect x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}" fill="${app.theme.background}"/>`,
    ...surface.lines,
    "</svg>",
  ].join("\n");
}

/** The picture as a PNG file, twice as large as it is, or as large as can be. @param {App} app @returns {Promise<Blob | null>} */
export function png(app) {
  const { scene, lit } = app.state;
  const [width, height] = [scene.width + 2 * MARGIN, scene.height + 2 * MARGIN];
  const ratio = Math.min(SHARPNESS, LONGEST / Math.max(width, height), Math.sqrt(LARGEST / width / height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  const context = canvas.getContext("2d", { alpha: false });
  if (!context) return Promise.resolve(null);
  const surface = new CanvasSurface(context, app.graph.data.style.font);
  surface.begin(app.theme.background, ratio, { x: -MARGIN, y: -MARGIN, zoom: 1 });
  new Drawer(surface, scene, app.stage.colours(), lit).draw(ALL);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
