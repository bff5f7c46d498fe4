// Lists of numbers by what they belong to, in two arrays rather than one for each.

/**
 * Rows of unequal length, one after the other: row `i` is from `starts[i]` to before `starts[i + 1]`.
 *
 * @typedef {object} Rows
 * @property {Int32Array} starts
 * @property {Int32Array} items
 */

/**
 * Return the positions in a list in the order of what stands there: in row `i`, where `i` does.
 *
 * @param {number} count one more than the greatest number in the list
 * @param {ArrayLike<number>} list
 * @returns {Rows}
 */
export function grouped(count, list) {
  const starts = new Int32Array(count + 1);
  for (let index = 0; index < list.length; index++) starts[list[index] + 1]++;
  for (let row = 0; row < count; row++) starts[row + 1] += starts[row];
  const next = starts.slice();
  const items = new Int32Array(list.length);
  for (let index = 0; index < list.length; index++) items[next[list[index]]++] = index;
  return { starts, items };
}
