// Equal rows of numbers get one number, by which what is known of them is found again.

/** @template Known */
export class Interning {
  constructor() {
    /** @type {Map<number, [number[], Known][]>} */
    this.byHash = new Map();
    this.count = 0;
  }

  /**
   * Return what is known of a row of numbers; of one that is new, what is made of its number.
   *
   * @param {number[]} row
   * @param {(id: number) => Known} make
   */
  known(row, make) {
    let hash = row.length;
    for (let index = 0; index < row.length; index++) {
      hash = Math.imul(hash ^ (row[index] * 64), 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    let rows = this.byHash.get(hash);
    if (!rows) this.byHash.set(hash, (rows = []));
    for (const [other, known] of rows) if (equal(row, other)) return known;
    const known = make(this.count++);
    rows.push([row, known]);
    return known;
  }
}

/**
 * @param {number[]} one
 * @param {number[]} other
 */
function equal(one, other) {
  if (one.length !== other.length) return false;
  for (let index = 0; index < one.length; index++) if (one[index] !== other[index]) return false;
  return true;
}
