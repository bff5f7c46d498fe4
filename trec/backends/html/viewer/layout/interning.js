// Equal rows of numbers get one number, by which what is known of them is found again.

/** @template Known */
export class Interning {
  constructor() {
    /** @typedef {Map<number, [ArrayLike<number>, Known][]>} Found by hash, rows and what is known of them */
    /** @type {Found} */
    this.found = new Map();
    /** @type {Found} What was found in the picture before. */
    this.before = new Map();
    this.count = 0;
  }

  /** Begin another picture, of which what was known for the one before the last is forgotten. */
  turn() {
    this.before = this.found;
    this.found = new Map();
  }

  /**
   * Return what is known of a row of numbers; of one that is new, what is made of its number.
   *
   * @param {ArrayLike<number>} row
   * @param {(id: number) => Known} make
   */
  known(row, make) {
    const hash = hashOf(row);
    let entry = at(this.found, hash, row);
    if (entry) return entry[1];
    entry = at(this.before, hash, row) ?? [row, make(this.count++)];
    const rows = this.found.get(hash);
    if (rows) rows.push(entry);
    else this.found.set(hash, [entry]);
    return entry[1];
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

/**
 * @template Known
 * @param {Map<number, [ArrayLike<number>, Known][]>} found
 * @param {number} hash
 * @param {ArrayLike<number>} row
 */
function at(found, hash, row) {
  for (const entry of found.get(hash) ?? []) {
    const [other] = entry;
    let index = other.length === row.length ? 0 : -1;
    while (index >= 0 && index < row.length && other[index] === row[index]) index++;
    if (index === row.length) return entry;
  }
}
