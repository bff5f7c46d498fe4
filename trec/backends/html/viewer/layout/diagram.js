// What a layout is asked for and what it answers: the public interface of this folder.
//
// The whole at once, as `arrange` in Python does it:
//
//     import { arrange } from "./layout/arrange.js";
//     const placement = arrange(diagram);             // all positions and routes, absolute
//
// In a page, where scopes are opened and closed in place:
//
//     import { Arrangement } from "./layout/arrange.js";
//     const picture = new Arrangement(diagram);       // `diagram.closed` says which scopes begin as boxes
//     picture.close(scope);                           // or .open(scope): of a scope, as a box or as a frame
//     picture.send(box, wires);                       // what leaves a box now, instead of all that left it
//     picture.settle();                               // lays out what that changed and the scopes around it
//     picture.panel(scope);                           // what is in a scope, relative to the corner of its frame
//     picture.corner(scope);                          // where that corner is in the picture
//     picture.centre(item);                           // where the middle of a box or closed scope is
//     picture.route(source, target, net);             // the way of one wire, absolute
//
// Items are numbered: the boxes, then the scopes in the order of `parents`, then the picture itself, the root. A scope
// that is closed is a box of its own size, and a wire may begin or end at it; wires never begin or end in what is
// hidden. Equal scopes share one panel, an object that is never changed: what is drawn for it may be kept with it.

/** @typedef {[number, number]} Point x to the right, y downwards, in points */
/** @typedef {[number, number]} Size width and height in points */
/** @typedef {Point[]} Line the points that a wire passes; see routing.js */
/** @typedef {"TB" | "LR" | "BT" | "RL"} Direction where the flow goes: from top to bottom, ... */

/**
 * Boxes in scopes and the wires between them; all lengths are in points.
 *
 * @typedef {object} Diagram
 * @property {ArrayLike<number>} sizes width and height of each box, and of each scope for when it is closed
 * @property {ArrayLike<number>} scopes for each box, the scope that it lies in, an index into `parents`; -1 for none
 * @property {ArrayLike<number>} parents for each scope, the one around it, which precedes it; -1 for none
 * @property {Size[][]} titles for each scope, the room for its title in each way to set it, the wanted one first
 * @property {ArrayLike<number>} wires four numbers for each: the items where it begins and ends, its net, and its rank.
 *   Wires of one net have one source; they leave it as one line, which forks where their ways part. Wires are followed
 *   by rising rank, which is the order in which what flows along them is read.
 * @property {Map<number, Size>} labels room for the text beside a net, where it begins; none for nets without text
 * @property {Iterable<number>} [first] boxes that stand where the flow begins, even if they are needed only later
 * @property {Direction} [direction] where the flow goes; from top to bottom if not given
 * @property {ArrayLike<number>} [order] the boxes in the order in which they run; the order of `sizes` if not given
 * @property {number} [wrap] longest column of a scope, along the flow; 0, as if not given, for any length
 * @property {Iterable<number>} [closed] scopes that are boxes, indices into `parents`; none if not given
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
 * @property {Line[]} routes for each wire, the points that it passes from its source to its target
 * @property {Map<number, Point>} labels for each net with a text, the centre of that text
 * @property {number} crossings how often wires cross
 */

/**
 * What is in one scope, turned as the picture is, from the top left corner of its frame; shared by equal scopes.
 *
 * @typedef {object} Panel
 * @property {number} width of the frame
 * @property {number} height of the frame
 * @property {Point} title top left corner of its title
 * @property {number} setting which of the ways to set the title was taken
 * @property {Float64Array} centres centre of each member, x and y; `Arrangement.members` says which item that is
 * @property {Map<number, Line>[]} ways for each net that `Arrangement.nets` tells, its way to each member that it leads
 *   to, under the position of that, and under -1 its way out of the scope; wires against the order of the members are
 *   there the other way round
 * @property {[number, Point][]} labels positions of nets with a text here, and the centre of that
 * @property {number} crossings how often nets cross in it
 */

export {};
