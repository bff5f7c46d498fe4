// Finds what lies in a part of the picture: neighbours in order are near one another, so boxes of many find them quickly.

const MANY = 48;

/** Rectangles in order, each as left, top, width and height. */
export class Chunks {
  /** @param {Float64Array} places */
  constructor(places) {
    this.places = places;
    this.count = places.length / 4;
    /** Left, top, right and bottom of so many rectangles in a row. */
    this.bounds = new Float64Array(4 * Math.ceil(this.count / MANY));
    for (let chunk = 0; 4 * chunk < this.bounds.length; chunk++) this.#measure(chunk);
  }

  /** @param {number} chunk */
  #measure(chunk) {
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
    const { places } = this;
    for (let at = chunk * MANY; at < Math.min(this.count, (chunk + 1) * MANY); at++) {
      left = Math.min(left, places[4 * at]);
      top = Math.min(top, places[4 * at + 1]);
      right = Math.max(right, places[4 * at] + places[4 * at + 2]);
      bottom = Math.max(bottom, places[4 * at + 1] + places[4 * at + 3]);
    }
    this.bounds.set([left, top, right, bottom], 4 * chunk);
  }

  /**
   * The indices of what touches a part of the picture, in order.
   *
   * @param {number} left
   * @param {number} top
   * @param {number} right
   * @param {number} bottom
   * @param {(at: number) => void} visit
   * @param {number} [least] of many neighbours that are together smaller than this, only the first is visited
   */
  within(left, top, right, bottom, visit, least = 0) {
    const { bounds, places } = this;
    for (let chunk = 0; 4 * chunk < bounds.length; chunk++) {
      const corner = 4 * chunk;
      if (bounds[corner] > right || bounds[corner + 2] < left) continue;
      if (bounds[corner + 1] > bottom || bounds[corner + 3] < top) continue;
      if (bounds[corner + 2] - bounds[corner] < least && bounds[corner + 3] - bounds[corner + 1] < least) {
        visit(chunk * MANY);
        continue;
      }
      for (let at = chunk * MANY; at < Math.min(this.count, (chunk + 1) * MANY); at++) {
        const x = places[4 * at];
        const y = places[4 * at + 1];
        if (x <= right && y <= bottom && x + places[4 * at + 2] >= left && y + places[4 * at + 3] >= top) visit(at);
      }
    }
  }
}
