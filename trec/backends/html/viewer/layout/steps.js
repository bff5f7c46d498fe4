// Work that is done in steps, so that whoever does it may do something else between two of them.

/** @template Found @typedef {Generator<void, Found, void>} Steps what is found by the last of them */

/**
 * Do all steps at once and return what they find.
 *
 * @template Found
 * @param {Steps<Found>} steps
 */
export function finished(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
