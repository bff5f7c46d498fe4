// What a layout is asked for and what it answers: the public interface of this folder.
//
//     import { arrange } from "./layout/arrange.js";
//     import { Memory } from "./layout/memory.js";
//     const memory = new Memory();                    // optional
//     const placement = arrange(diagram, memory);     // all positions and routes
//
// A scope that is equal to one of at least the last two pictures of a memory is not laid out again: when something is
// opened or closed in place, only the scopes around it are. A memory is for one direction and one `wrap`. text.js says
// how wide texts are, and `curves` in routing.js how a route is drawn.

/** @typedef {[number, number]} Point x to the right, y downwards, in points */
/** @typedef {[number, number]} Size width and height in points */
/** @typedef {Point[]} Line the points that a wire passes; see routing.js */
/** @typedef {"TB" | "LR" | "BT" | "RL"} Direction where the flow goes: from top to bottom, ... */

/**
 * Boxes in scopes and the wires between them; all lengths are in points.
 *
 * @typedef {object} Diagram
 * @property {ArrayLike<number>} sizes width and height of each box
 * @property {ArrayLike<number>} scopes for each box, the scope that it lies in, an index into `parents`; -1 for none
 * @property {ArrayLike<number>} parents for each scope, the one around it, which precedes it; -1 for none
 * @property {Size[][]} titles for each scope, the room for its title in each way to set it, the wanted one first
 * @property {ArrayLike<number>} wires four numbers for each: the boxes where it begins and ends, its net, and its own
 *   index. Wires of one net have one source; they leave it as one line, which forks where their ways part.
 * @property {Map<number, Size>} labels room for the text beside a net, where it begins; none for nets without text
 * @property {Iterable<number>} [first] boxes that stand where the flow begins, even if they are needed only later
 * @property {Direction} [direction] where the flow goes; from top to bottom if not given
 * @property {ArrayLike<number>} [order] the boxes in the order in which they run; the order of `sizes` if not given
 * @property {number} [wrap] longest column of a scope, along the flow; 0, as if not given, for any length
 * @property {ArrayLike<boolean>} [columns] for each column of the picture whether the flow goes up in it; none or one if
 *   it is not divided. A scope lies in one column. Only pictures from top to bottom are divided.
 * @property {ArrayLike<number>} [columnOf] for each box, the column that it lies in
 */

/**
 * Where everything is, from the top left corner of the picture.
 *
 * @typedef {object} Placement
 * @property {Size} size of the whole
 * @property {Float64Array} boxes centre of each box, x and y
 * @property {([number, number, number, number] | null)[]} frames for each scope, left, top, width and height; null for
 *   a scope without any box in it
 * @property {([number, number, number] | null)[]} titles for each scope, the top left corner of its title and which of
 *   the ways to set it was taken
 * @property {import("./routes.js").Routes} routes the points that each wire passes from its source to its target
 * @property {Map<number, Point>} labels for each net with a text, the centre of that text
 * @property {number} crossings how often wires cross
 */

export {};
