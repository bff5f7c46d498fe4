// The layout of a whole diagram, whether it has several columns or not.

import { Arrangement } from "./arrangement.js";
import { columnsBeside } from "./beside.js";
import { Memory } from "./memory.js";
import { finished } from "./steps.js";

/** @typedef {import("./diagram.js").Diagram} Diagram */
/** @typedef {import("./diagram.js").Placement} Placement */
/** @template Found @typedef {import("./steps.js").Steps<Found>} Steps */

/**
 * Return where everything in a diagram is.
 *
 * @param {Diagram} diagram
 * @param {Memory} memory what is known of scopes of earlier diagrams, which are not laid out again
 * @returns {Placement}
 */
export function arrange(diagram, memory = new Memory()) {
  return finished(arranging(diagram, memory));
}

/**
 * Find out in steps where everything in a diagram is.
 *
 * @param {Diagram} diagram
 * @param {Memory} memory
 * @returns {Steps<Placement>}
 */
export function* arranging(diagram, memory) {
  memory.turn();
  const divided = (diagram.columns?.length ?? 0) > 1 && (diagram.direction ?? "TB") === "TB";
  return divided ? columnsBeside(diagram, memory) : yield* new Arrangement(diagram, memory).steps();
}
