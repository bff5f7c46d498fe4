// How wide text is, by the same table as in Python, of which the page has what its texts need.

/** Width of a glyph that is in no table, in thousandths of the font size. */
const UNKNOWN = 900;
const ELLIPSIS = "…";

/**
 * @typedef {object} Glyphs
 * @property {string} characters
 * @property {number[]} regular width of each, in thousandths of the font size
 * @property {number[]} bold
 */

/** Widths of texts in one table of glyphs. */
export class Ruler {
  /** @param {Glyphs} glyphs */
  constructor({ characters, regular, bold }) {
    this.regular = new Map(Array.from(characters, (character, index) => [character, regular[index]]));
    this.bold = new Map(Array.from(characters, (character, index) => [character, bold[index]]));
    /** @type {Map<string, number>} */
    this.known = new Map();
  }

  /**
   * Return the most that a line of text takes in any common sans-serif font, in the unit of the size.
   *
   * @param {string} text
   * @param {number} size size of the font
   * @param {boolean} bold
   */
  width(text, size, bold = false) {
    const key = (bold ? "b" : "r") + text;
    let total = this.known.get(key);
    if (total === undefined) {
      const table = bold ? this.bold : this.regular;
      total = 0;
      for (const character of text) total += table.get(character) ?? UNKNOWN;
      this.known.set(key, total);
    }
    return (total * size) / 1000;
  }

  /**
   * Return the text, without so much of its middle that it is at most as wide as the room.
   *
   * @param {string} text
   * @param {number} size
   * @param {number} room
   * @param {boolean} bold
   */
  fitted(text, size, room, bold = false) {
    if (this.width(text, size, bold) <= room) return text;
    const characters = Array.from(text);
    const shortened = (/** @type {number} */ kept) => {
      const tail = Math.floor(kept / 2);
      const end = characters.slice(characters.length - tail);
      return [...characters.slice(0, kept - tail), ELLIPSIS, ...end].join("");
    };
    let low = 0;
    let high = characters.length;
    while (low < high) {
      const middle = Math.floor((low + high + 1) / 2);
      if (this.width(shortened(middle), size, bold) <= room) low = middle;
      else high = middle - 1;
    }
    return shortened(low);
  }
}
