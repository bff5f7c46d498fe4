// A scene, or the part of it that is seen, put on a surface: frames, wires, boxes, texts, from back to front.

import { LEADING } from "./measure.js";
import { colourOf, isDashed } from "./strokes.js";

/** @typedef {import("./types.js").Face} Face */
/** @typedef {import("./types.js").Lit} Lit */
/** @typedef {import("./types.js").Paint} Paint */
/** @typedef {import("./types.js").Scene} Scene */
/** @typedef {import("./types.js").Theme} Theme */
/** @typedef {import("./surface.js").Surface} Surface */

/**
 * @typedef {object} Colours
 * @property {Theme} theme
 * @property {Paint[]} boxes colours of each box
 * @property {Paint[]} frames colours of each frame
 * @property {[number, number, number]} sizes font sizes of subtitles, details and the texts along wires
 */

/**
 * @typedef {object} Part
 * @property {number} left what is seen, in points
 * @property {number} top
 * @property {number} right
 * @property {number} bottom
 * @property {number} zoom pixels for each point, which says how much detail can be seen
 */

const CORNER = 5;
const FRAME_CORNER = 6;
const BEHIND = 3;
/** Pixels below which texts, and boxes, are too small to be seen. */
const READABLE = 3.5;
const VISIBLE = 1.5;
/** Pixels below which many boxes in a row are drawn as one. */
const TOGETHER = 3;
/** Size in pixels of the titles of frames whose own are too small to be read, and the room that they need. */
const SIGN = 10;
const SIGN_ROOM = 30;
const LEGIBLE = 6;
/** Size of the arrow of boxes that can be opened, and how far from their right side it is, in points. */
const HINT = 2;
const HINT_AWAY = 5.5;
const WIRE_WIDTH = 0.9;
const LIT_WIDTH = 2.2;
const DIM = 0.35;

/** Draws one scene in one set of colours. */
export class Drawer {
  /** @param {Surface} surface @param {Scene} scene @param {Colours} colours @param {Lit | null} lit */
  constructor(surface, scene, colours, lit) {
    this.surface = surface;
    this.scene = scene;
    this.colours = colours;
    this.lit = lit;
    /** Left, top, right and bottom of titles that are larger than they are. @type {Map<number, number[]>} */
    this.signs = new Map();
  }

  /** @param {Part} part */
  draw(part) {
    this.place(part);
    this.frames(part);
    this.wires(part);
    this.boxes(part);
    this.notes(part);
    this.titles(part);
  }

  /** Where the titles of frames can stand that are too small to be read, as large as can be read. @param {Part} part */
  place(part) {
    const { scene, surface } = this;
    const size = SIGN / part.zoom;
    this.signs.clear();
    if (this.colours.sizes[0] * part.zoom > LEGIBLE) return;
    scene.frameIndex.within(part.left, part.top, part.right, part.bottom, (frame) => {
      const [x, y, width, height] = scene.frames.subarray(4 * frame, 4 * frame + 4);
      if (width * part.zoom < SIGN_ROOM || height * part.zoom < SIGN_ROOM) return;
      const face = scene.picture.titles[frame];
      if (face.size * part.zoom > LEGIBLE) return;
      const left = Math.max(x, part.left) + size * 0.4;
      const top = Math.max(y - size * 0.5, part.top);
      const right = left + surface.width(face.title, SIGN, true) / part.zoom;
      const bottom = top + size * 1.2;
      if (right > x + width || bottom > y + height) return;
      for (const other of this.signs.values())
        if (left < other[2] && right > other[0] && top < other[3] && bottom > other[1]) return;
      this.signs.set(frame, [left, top, right, bottom]);
    }, SIGN_ROOM / part.zoom);
  }

  /** Write the titles that were placed. @param {Part} part */
  titles(part) {
    const { scene, surface, colours } = this;
    const size = SIGN / part.zoom;
    for (const [frame, [left, top, right, bottom]] of this.signs) {
      const { fill, text } = colours.frames[frame];
      const ink = { fill, border: "", width: 0, line: /** @type {const} */ ("solid") };
      surface.rectangle(left - size * 0.2, top, right - left + size * 0.4, bottom - top, 0, ink);
      surface.text(scene.picture.titles[frame].title, left, top + size * 0.95, size, text, true);
    }
  }

  /** @param {Part} part */
  frames(part) {
    const { scene } = this;
    scene.frameIndex.within(part.left, part.top, part.right, part.bottom, (frame) => {
      const [x, y, width, height] = scene.frames.subarray(4 * frame, 4 * frame + 4);
      if (Math.max(width, height) * part.zoom >= VISIBLE) this.frame(frame, x, y, width, height, part.zoom);
    }, TOGETHER / part.zoom);
  }

  /** @param {number} frame @param {number} x @param {number} y @param {number} width @param {number} height @param {number} zoom */
  frame(frame, x, y, width, height, zoom) {
    const { surface, scene, colours } = this;
    const face = scene.picture.titles[frame];
    const ink = inked(colours.frames[frame], face, colours.theme);
    if (face.times > 1) surface.rectangle(x + BEHIND, y + BEHIND, width, height, FRAME_CORNER, ink);
    surface.rectangle(x, y, width, height, FRAME_CORNER, ink);
    if (face.size * zoom < READABLE || this.signs.has(frame)) return;
    const [titleX, titleY, below] = scene.titles.subarray(3 * frame, 3 * frame + 3);
    this.#title(face, x + titleX, y + titleY + face.size + 3, colours.frames[frame], below === 1);
  }

  /** @param {Face} face @param {number} x @param {number} y base line @param {Paint} paint @param {boolean} below */
  #title(face, x, y, paint, below) {
    const { surface } = this;
    const [small, tiny] = this.colours.sizes;
    if (below) {
      surface.text(face.title, x, y, face.size, paint.text, face.bold);
      y += small * LEADING;
      surface.text(face.subtitle, x, y, small, paint.muted, false);
    } else this.#head(face, x, y, paint);
    if (face.detail) surface.text(face.detail, x, y + tiny * LEADING, tiny, paint.muted, false);
  }

  /** @param {Part} part */
  wires(part) {
    const { scene, surface, lit, colours } = this;
    /** @type {number[][]} */
    const groups = [];
    const least = part.zoom < 0.1 ? 4 : VISIBLE;
    scene.wireIndex.within(part.left, part.top, part.right, part.bottom, (wire) => {
      const [, , width, height] = scene.wireIndex.places.subarray(4 * wire, 4 * wire + 4);
      if (Math.max(width, height) * part.zoom < least || lit?.wires.has(wire)) return;
      (groups[scene.picture.wires[wire].stroke] ??= []).push(wire);
    }, least / part.zoom);
    if (lit?.dims) surface.fade(DIM);
    groups.forEach((wires, stroke) => {
      const lines = wires.map((wire) => scene.routes.line(wire));
      const parts = wires.map((wire) => scene.parts.line(wire));
      surface.wires({ ...scene, lines, parts }, colourOf(colours.theme, stroke), isDashed(stroke), WIRE_WIDTH);
    });
    if (!lit) return;
    surface.fade(1);
    for (const [wire, how] of lit.wires) {
      const colour = litColour(colours.theme, how);
      const { stroke } = scene.picture.wires[wire];
      const lines = [scene.routes.line(wire)];
      surface.wires({ ...scene, lines, parts: lines }, colour, isDashed(stroke), LIT_WIDTH);
    }
  }

  /** @param {Part} part */
  boxes(part) {
    const { scene, surface, lit } = this;
    scene.boxIndex.within(part.left - BEHIND, part.top - BEHIND, part.right, part.bottom, (box) => {
      const [x, y, width, height] = scene.places.subarray(4 * box, 4 * box + 4);
      if (lit?.dims) surface.fade(lit.boxes.has(box) ? 1 : DIM);
      this.box(box, x, y, width, height, part.zoom);
    }, TOGETHER / part.zoom);
    if (lit) surface.fade(1);
  }

  /** @param {number} box @param {number} x @param {number} y @param {number} width @param {number} height @param {number} zoom */
  box(box, x, y, width, height, zoom) {
    const { surface, colours } = this;
    const face = this.scene.picture.faces[box];
    const paint = colours.boxes[box];
    if (height * zoom < VISIBLE) {
      surface.rectangle(x, y, width, height, 0, { fill: paint.border, border: "", width: 0, line: "solid" });
      return;
    }
    const ink = inked(paint, face, colours.theme);
    if (face.shape === "circle" || face.shape === "point") {
      if (face.shape === "point") ink.fill = ink.border;
      surface.circle(x + width / 2, y + height / 2, width / 2, ink);
    } else {
      const corner = face.shape === "pill" ? height / 2 : CORNER;
      if (face.times > 1) surface.rectangle(x + BEHIND, y + BEHIND, width, height, corner, ink);
      surface.rectangle(x, y, width, height, corner, ink);
    }
    if (face.shape === "point" || face.size * zoom < READABLE) return;
    this.#label(face, x + width / 2, y + height / 2, paint);
    if (this.scene.picture.nodes[box] < 0) this.#hint(x + width - HINT_AWAY, y + height / 2, paint.muted);
  }

  /** A small arrow at the right of a box that can be opened. @param {number} x @param {number} y @param {string} colour */
  #hint(x, y, colour) {
    /** @type {import("./layout/diagram.js").Line} */
    const line = [[x, y - HINT], [x + HINT, y], [x, y + HINT]];
    this.surface.stroke(line, colour);
  }

  /** @param {Face} face @param {number} x the middle @param {number} y the middle @param {Paint} paint */
  #label(face, x, y, paint) {
    const { surface } = this;
    const tiny = this.colours.sizes[1];
    const below = face.detail ? tiny * LEADING : 0;
    const base = y + face.size * 0.36 - below / 2;
    this.#head(face, x - this.#headWidth(face) / 2, base, paint);
    if (!face.detail) return;
    const detail = face.detail;
    surface.text(detail, x - surface.width(detail, tiny, false) / 2, base + below, tiny, paint.muted, false);
  }

  /** Title and subtitle on one line. @param {Face} face @param {number} x left @param {number} y base line @param {Paint} paint */
  #head(face, x, y, paint) {
    const { surface } = this;
    const small = this.colours.sizes[0];
    const title = face.title;
    surface.text(title, x, y, face.size, paint.text, face.bold);
    if (!face.subtitle) return;
    const left = x + surface.width(title, face.size, face.bold) + gapOf(face);
    surface.text(face.subtitle, left, y, small, paint.muted, false);
  }

  /** @param {Face} face */
  #headWidth(face) {
    const small = this.colours.sizes[0];
    const title = this.surface.width(face.title, face.size, face.bold);
    return face.subtitle ? title + gapOf(face) + this.surface.width(face.subtitle, small, false) : title;
  }

  /** @param {Part} part */
  notes(part) {
    const { scene, surface, colours, lit } = this;
    const size = colours.sizes[2];
    if (size * part.zoom < READABLE) return;
    if (lit?.dims) surface.fade(DIM);
    scene.noteIndex.within(part.left, part.top, part.right, part.bottom, (at) => {
      const { text, x, y } = scene.notes[at];
      surface.text(text, x - surface.width(text, size, false) / 2, y + size * 0.36, size, colours.theme.label, false);
    });
    if (lit) surface.fade(1);
  }
}

/** Room between a title and a subtitle, as SVG leaves it. @param {Face} face */
function gapOf(face) {
  return 2 + face.size * 0.278;
}

/** @param {Paint} paint @param {Face} face @param {Theme} theme */
function inked(paint, face, theme) {
  if (face.error) return { fill: paint.fill, border: theme.error, width: 2, line: face.line };
  return { fill: paint.fill, border: paint.border, width: paint.width, line: face.line === "solid" ? paint.line : face.line };
}

/** @param {Theme} theme @param {"up" | "down" | "path"} how */
export function litColour(theme, how) {
  const role = { up: "convolution", down: "attention", path: "recurrent" }[how];
  return theme.paints[role].border;
}
