// What stands on boxes that the data has no face for.

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Face} Face */

/** @type {WeakMap<Face, Map<number, Face>>} */
const stacks = new WeakMap();

/**
 * The face of what stands for so many equal calls; faces are kept, so that equal ones are one object.
 *
 * @param {Face} face
 * @param {number} times
 * @returns {Face}
 */
export function repeated(face, times) {
  if (times === 1) return face;
  let known = stacks.get(face);
  if (!known) stacks.set(face, (known = new Map()));
  let found = known.get(times);
  if (!found) {
    const subtitle = `${face.subtitle} ×${times}`.trimStart();
    known.set(times, (found = { ...face, subtitle, times: face.times * times }));
  }
  return found;
}

/** @type {WeakMap<Face, Map<Face, Face>>} */
const pairs = new WeakMap();

/**
 * The face of a call that holds a single operator: that of the call, coloured by the operator if nothing else does.
 *
 * @param {Face} call
 * @param {Face} op
 * @returns {Face}
 */
export function alone(call, op) {
  let known = pairs.get(call);
  if (!known) pairs.set(call, (known = new Map()));
  let found = known.get(op);
  if (!found) {
    const role = call.role === "other" && op.role !== "arithmetic" ? op.role : call.role;
    const detail = call.detail.endsWith(op.detail) ? call.detail : [call.detail, op.detail].filter(Boolean).join(" · ");
    const line = op.line === "dashed" ? op.line : call.line;
    known.set(op, (found = { ...call, role, detail, line, error: call.error || op.error }));
  }
  return found;
}
