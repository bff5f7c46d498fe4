// How often nets cross between two layers.

/** Counts crossings again and again, in the same room. */
export class Counter {
  /** @param {number} most lines between two layers */
  constructor(most) {
    this.from = new Float64Array(most);
    this.to = new Float64Array(most);
  }

  /**
   * Return how many pairs of lines cross. They are sorted, so that sorting them again takes little.
   *
   * @param {number[]} lines
   * @param {Float64Array} starts where each line begins
   * @param {Float64Array} ends where it ends
   */
  crossings(lines, starts, ends) {
    lines.sort((one, other) => starts[one] - starts[other] || ends[one] - ends[other]);
    const { from } = this;
    let sorted = true;
    for (let index = 0; index < lines.length; index++) {
      from[index] = ends[lines[index]];
      if (index && from[index - 1] > from[index]) sorted = false;
    }
    return sorted ? 0 : this.inversions(lines.length);
  }

  /**
   * Return how many pairs of numbers stand the wrong way round, sorting them by merging.
   *
   * @param {number} count
   */
  inversions(count) {
    let { from, to } = this;
    let found = 0;
    for (let width = 1; width < count; width *= 2) {
      for (let start = 0; start < count; start += 2 * width) {
        const middle = Math.min(start + width, count);
        const end = Math.min(start + 2 * width, count);
        let left = start;
        let right = middle;
        for (let index = start; index < end; index++)
          if (right >= end || (left < middle && from[left] <= from[right])) to[index] = from[left++];
          else {
            to[index] = from[right++];
            found += middle - left;
          }
      }
      const other = from;
      from = to;
      to = other;
    }
    return found;
  }
}
