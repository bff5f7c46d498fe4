// Which words somebody may have meant.

/** Share of letters above which a word is like another one. */
const LIKE = 0.5;

/**
 * How many letters two words share: those of the longest stretch that is in both, and so on before and behind it.
 *
 * Source: Ratcliff and Metzener, "Pattern Matching: The Gestalt Approach", 1988, as Python's `difflib` has it.
 *
 * @param {string} one
 * @param {string} other
 * @returns {number}
 */
function shared(one, other) {
  let [length, end, otherEnd] = [0, 0, 0];
  /** @type {number[]} */
  let above = [];
  for (let at = 0; at < one.length; at++) {
    /** @type {number[]} */
    const row = [];
    for (let to = 0; to < other.length; to++) {
      if (one[at] !== other[to]) continue;
      row[to] = (above[to - 1] ?? 0) + 1;
      if (row[to] > length) [length, end, otherEnd] = [row[to], at + 1, to + 1];
    }
    above = row;
  }
  if (!length) return 0;
  return length + shared(one.slice(0, end - length), other.slice(0, otherEnd - length)) + shared(one.slice(end), other.slice(otherEnd));
}

/** The words most like one, the most alike first. @param {string} word @param {string[]} words @param {number} most @returns {string[]} */
export function likely(word, words, most) {
  /** @type {{ other: string, share: number }[]} */
  const found = [];
  for (const other of words) {
    const all = word.length + other.length;
    if (2 * Math.min(word.length, other.length) < LIKE * all) continue;
    const share = (2 * shared(other, word)) / all;
    if (share >= LIKE) found.push({ other, share });
  }
  found.sort((one, two) => two.share - one.share || (one.other < two.other ? 1 : -1));
  return found.slice(0, most).map(({ other }) => other);
}
