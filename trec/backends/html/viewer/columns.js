// Columns of the data as arrays.

/** Columns with an entry for each row, also where one number stands for all. @param {any} table */
export function columns(table) {
  const rows = Object.entries(table).map(([name, column]) => {
    const isWhole = name === "count" || typeof column !== "number";
    return [name, isWhole ? column : new Array(table.count).fill(column)];
  });
  return Object.fromEntries(rows);
}

/** The name that `Texts.below` in Python shortened. @param {string} text @param {string} around */
export function whole(text, around) {
  return text[0] === "." ? around + text : text[0] === "=" ? text.slice(1) : text;
}

/** @param {number[]} steps differences from one entry to the next @returns {Int32Array} */
export function summed(steps) {
  const sums = Int32Array.from(steps);
  for (let at = 1; at < sums.length; at++) sums[at] += sums[at - 1];
  return sums;
}

/** @param {ArrayLike<number>} counts @returns {Int32Array} where each run begins, and where the last one ends */
export function starts(counts) {
  const first = new Int32Array(counts.length + 1);
  for (let at = 0; at < counts.length; at++) first[at + 1] = first[at] + counts[at];
  return first;
}

/** @param {Int32Array} first where runs begin @returns {Int32Array} for each entry of the runs, which run it is in */
export function owners(first) {
  const owner = new Int32Array(first[first.length - 1]);
  for (let run = 0; run + 1 < first.length; run++) owner.fill(run, first[run], first[run + 1]);
  return owner;
}

/** For each first number of pairs, the second ones. @param {[number, number][]} pairs @returns {Map<number, number[]>} */
export function gathered(pairs) {
  const found = new Map();
  for (const [one, other] of pairs) {
    const row = found.get(one);
    if (row) row.push(other);
    else found.set(one, [other]);
  }
  return found;
}
