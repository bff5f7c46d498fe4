// Equal rows of numbers get one number, by which what is known of them is found again.

/** Rows that are kept in any case. */
const FEW = 1000;

/** @template Known @typedef {{ row: ArrayLike<number>, value: Known, used: number }} Entry a row, what is known of it, and the last picture that asked for it */

/** @template Known */
export class Interning {
  constructor() {
    /** @type {Map<number, Entry<Known>[]>} By hash. */
    this.found = new Map();
    this.count = 0;
    /** Number of the picture. */
    this.picture = 0;
    /** Rows that are kept, and how many of them this picture asked for. */
    this.kept = 0;
    this.used = 0;
  }

  /** Begin another picture; once there is much that the last two did not ask for, that is forgotten. */
  turn() {
    if (this.kept > 3 * this.used + FEW) {
      this.kept = 0;
      for (const [hash, entries] of this.found) {
        const left = entries.filter((entry) => entry.used >= this.picture - 1);
        this.kept += left.length;
        if (left.length) this.found.set(hash, left);
        else this.found.delete(hash);
      }
    }
    this.picture++;
    this.used = 0;
  }

  /**
   * Return what is known of a row of numbers; of one that is new, what is made of its number.
   *
   * @param {ArrayLike<number>} row
   * @param {(id: number) => Known} make
   */
  known(row, make) {
    const hash = hashOf(row);
    let entries = this.found.get(hash);
    if (!entries) this.found.set(hash, (entries = []));
    let entry;
    for (const other of entries) if (isEqual(other.row, row)) entry = other;
    if (!entry) {
      entries.push((entry = { row, value: make(this.count++), used: -1 }));
      this.kept++;
    }
    if (entry.used !== this.picture) this.used++;
    entry.used = this.picture;
    return entry.value;
  }
}

/** @param {ArrayLike<number>} row */
function hashOf(row) {
  let hash = row.length;
  for (let index = 0; index < row.length; index++) {
    hash = Math.imul(hash ^ (row[index] * 64), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}

/** @param {ArrayLike<number>} one @param {ArrayLike<number>} other */
function isEqual(one, other) {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}
