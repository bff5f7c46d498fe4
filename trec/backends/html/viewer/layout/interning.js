// Equal rows of numbers get one number, by which what is known of them is found again.

/** Numbers in rows that are kept in any case. */
const FEW = 20000;

/** @template Known @typedef {{ row: ArrayLike<number>, value: Known, used: number }} Entry a row, what is known of it, and the last picture that asked for it */

/** @template Known */
export class Interning {
  constructor() {
    /** @type {Map<number, Entry<Known>[]>} By hash. */
    this.found = new Map();
    this.count = 0;
    /** Number of the picture. */
    this.picture = 0;
    /** Numbers in the rows that are kept, and in those of them that this picture asked for. */
    this.kept = 0;
    this.used = 0;
  }

  /** Whether there is much that the last picture did not ask for. */
  get isFull() {
    return this.kept > 3 * this.used + FEW;
  }

  /** Begin another picture. @param {boolean} forgets whether what the last two did not ask for is forgotten */
  turn(forgets) {
    if (forgets) {
      this.kept = 0;
      for (const [hash, entries] of this.found) {
        const left = entries.filter((entry) => entry.used >= this.picture - 1);
        for (const { row } of left) this.kept += row.length;
        if (left.length) this.found.set(hash, left);
        else this.found.delete(hash);
      }
    }
    this.picture++;
    this.used = 0;
  }

  /** Whether anything is known of a row of numbers. @param {ArrayLike<number>} row */
  has(row) {
    return this.found.get(hashOf(row))?.some((entry) => isEqual(entry.row, row)) ?? false;
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
      this.kept += row.length;
    }
    if (entry.used !== this.picture) this.used += row.length;
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
