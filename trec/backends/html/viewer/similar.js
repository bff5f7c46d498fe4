// Which words somebody may have meant.

/** Share of the pairs of letters that two words have in common, from 0 to 1. @param {string} one @param {string} other */
function likeness(one, other) {
  const pairs = (/** @type {string} */ word) => Array.from({ length: word.length + 1 }, (_, at) => ` ${word} `.slice(at, at + 2).toLowerCase());
  const left = pairs(one);
  const right = pairs(other);
  const all = left.length + right.length;
  let common = 0;
  for (const pair of left) {
    const at = right.indexOf(pair);
    if (at < 0) continue;
    right[at] = "";
    common++;
  }
  return (2 * common) / all;
}

/** The words most like one, the most alike first. @param {string} word @param {Iterable<string>} words @param {number} most @returns {string[]} */
export function likely(word, words, most) {
  return [...new Set(words)]
    .map((other) => ({ other, share: other.toLowerCase().includes(word.toLowerCase()) ? 1 : likeness(word, other) }))
    .filter(({ share }) => share > 0.4)
    .sort((one, other) => other.share - one.share)
    .slice(0, most)
    .map(({ other }) => other);
}
