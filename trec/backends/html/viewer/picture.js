// The picture as a file: SVG in which texts are texts, or PNG, both as it is shown.

import { Drawer } from "./draw.js";
import { keysOf } from "./legend.js";
import { curves } from "./layout/routing.js";
import { arrow, CanvasSurface, DASHES } from "./surface.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./draw.js").Colours} Colours */
/** @typedef {import("./types.js").Paint} Paint */
/** @typedef {import("./surface.js").Ink} Ink */
/** @typedef {import("./surface.js").Surface} Surface */
/** @typedef {import("./surface.js").Ways} Ways */

const MARGIN = 16;
/** Room of a title and of a row of a legend, how much larger the title is, the side of colours, and the least room of a row. */
const [HEAD, ROW, LARGER, SWATCH, NARROW] = [20, 17, 4, 11, 320];
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

  stroke() {}

  /** @param {number} alpha */
  fade(alpha) {
    this.alpha = alpha;
  }
}

/**
 * The picture without what only says that a click does something, and with what stands above and below it, as `trec.backends.svg_page` has it: its title if it was given one, and
 * a legend where the colours stand for more than families.
 */
class Sheet {
  /** @param {App} app @param {CanvasSurface} ruler what measures texts @param {boolean} [titled] */
  constructor(app, ruler, titled = true) {
    const { graph, state } = app;
    this.app = app;
    this.size = graph.data.style.sizes[0];
    this.title = titled ? graph.data.options.title : "";
    /** Texts in rows, with the colours that they explain. @type {{ text: string, paint: Paint | null, width: number }[][]} */
    this.rows = [];
    const { title, keys } = keysOf(app);
    const { width, height } = state.scene;
    const widths = [width, this.title ? ruler.width(this.title, this.size + LARGER, true) : 0];
    let room = 0;
    const cells = title && keys.length ? [{ text: title, paint: null }, ...keys] : [];
    for (const { text, paint } of cells) {
      const cell = { text, paint, width: ruler.width(text, this.size, !paint) + (paint ? SWATCH + 16 : 12) };
      room += cell.width;
      if (!this.rows.length || room > Math.max(width, NARROW)) {
        this.rows.push([]);
        room = cell.width;
      }
      this.rows[this.rows.length - 1].push(cell);
      widths.push(room);
    }
    const [wide, head] = [Math.max(...widths), this.title ? HEAD : 0];
    this.width = wide + 2 * MARGIN;
    this.height = head + height + ROW * this.rows.length + 2 * MARGIN;
    this.left = (width - wide) / 2 - MARGIN;
    this.top = -head - MARGIN;
  }

  /** @param {Surface} surface */
  draw(surface) {
    const { app, size } = this;
    const { scene, lit } = app.state;
    const { text: colour } = app.theme;
    new Drawer(surface, scene, app.stage.colours(), lit).draw(ALL);
    surface.fade(1);
    const middle = scene.width / 2;
    if (this.title) surface.text(this.title, middle - surface.width(this.title, size + LARGER, true) / 2, 8 - HEAD, size + LARGER, colour, true);
    this.rows.forEach((row, at) => {
      let x = middle - row.reduce((sum, cell) => sum + cell.width, 0) / 2;
      const y = scene.height + ROW * (at + 1);
      for (const { text, paint, width } of row) {
        if (paint) surface.rectangle(x, y + 2 - SWATCH, SWATCH, SWATCH, 2.5, paint);
        surface.text(text, paint ? x + SWATCH + 5 : x, y, size, colour, !paint);
        x += width;
      }
    });
  }
}

/** The picture as text of an SVG file. @param {App} app @param {boolean} [titled] whether its title stands above it */
export function svg(app, titled) {
  const sheet = new Sheet(app, app.stage.surface, titled);
  const surface = new SvgSurface(app.stage.surface);
  sheet.draw(surface);
  const [left, top, width, height] = [sheet.left, sheet.top, sheet.width, sheet.height].map(short);
  const font = escaped(app.graph.data.style.font);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}"`,
    ` font-family="${font}" stroke-linecap="round" stroke-linejoin="round">`,
    `<title>${escaped(app.graph.title)}</title>`,
    `<rect x="${left}" y="${top}" width="${width}" height="${height}" fill="${app.theme.background}"/>`,
    ...surface.lines,
    "</svg>",
  ].join("\n");
}

/** The picture as a PNG file, twice as large as it is, or as large as can be. @param {App} app @returns {Promise<Blob | null>} */
export function png(app) {
  const sheet = new Sheet(app, app.stage.surface);
  const { width, height } = sheet;
  const ratio = Math.min(SHARPNESS, LONGEST / Math.max(width, height), Math.sqrt(LARGEST / width / height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  const context = canvas.getContext("2d", { alpha: false });
  if (!context) return Promise.resolve(null);
  const surface = new CanvasSurface(context, app.graph.data.style.font);
  surface.stroke = () => {};
  surface.begin(app.theme.background, ratio, { x: sheet.left, y: sheet.top, zoom: 1 });
  sheet.draw(surface);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
