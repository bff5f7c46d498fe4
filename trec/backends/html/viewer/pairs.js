// What is known of pairs of boxes, found by the two, in arrays that leave nothing to be cleared away.

/** @template {{ source: number, target: number }} Row */
export class Pairs {
  constructor() {
    /** @type {Row[]} In the order in which they were added. */
    this.rows = [];
    /** For each slot, one more than the row there; 0 for none. */
    this.slots = new Int32Array(64);
  }

  /** @param {number} source @param {number} target @returns {Row | undefined} */
  get(source, target) {
    return this.rows[this.slots[this.#slot(source, target)] - 1];
  }

  /** @param {Row} row of a pair that there is none of yet */
  add(row) {
    if (2 * this.rows.length >= this.slots.length) {
      this.slots = new Int32Array(4 * this.slots.length);
      this.rows.forEach(({ source, target }, at) => (this.slots[this.#slot(source, target)] = at + 1));
    }
    this.slots[this.#slot(row.source, row.target)] = this.rows.push(row);
  }

  /** The slot of a pair, or the free one that it would have. @param {number} source @param {number} target */
  #slot(source, target) {
    const mask = this.slots.length - 1;
    let slot = (Math.imul(source, 0x9e3779b1) ^ Math.imul(target, 0x85ebca6b)) >>> 8;
    for (slot &= mask; this.slots[slot]; slot = (slot + 1) & mask) {
      const row = this.rows[this.slots[slot] - 1];
      if (row.source === source && row.target === target) break;
    }
    return slot;
  }
}
