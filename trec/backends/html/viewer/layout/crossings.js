// How often nets cross between two layers.

/**
 * Return how many pairs of lines cross, of which each goes from one place to another. Both arrays are used up.
 *
 * @param {Float64Array} starts
 * @param {Float64Array} ends
 */
export function crossings(starts, ends) {
  const count = starts.length;
  const order = Uint32Array.from(starts, (_, index) => index);
  let sorted = true;
  for (let index = 1; sorted && index < count; index++)
    sorted = starts[index - 1] < starts[index] || (starts[index - 1] === starts[index] && ends[index - 1] <= ends[index]);
  if (!sorted) order.sort((one, other) => starts[one] - starts[other] || ends[one] - ends[other]);
  return inversions(Float64Array.from(order, (index) => ends[index]), starts);
}

/**
 * Return how many pairs of numbers stand the wrong way round, sorting them by merging.
 *
 * @param {Float64Array} from
 * @param {Float64Array} to room for as many
 */
function inversions(from, to) {
  const count = from.length;
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
    [from, to] = [to, from];
  }
  return found;
}
