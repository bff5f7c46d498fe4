// What is known of a member of a scope when it is laid out with others.

/**
 * @typedef {object} Shape
 * @property {number} width
 * @property {number} height
 * @property {number} length how many layers are in it
 * @property {boolean} ports whether nets may arrive and leave anywhere along its border, unlike at a circle
 * @property {number} loop room at its right side for a net that returns to it; 0 without one
 * @property {boolean} first whether it stands where the flow begins
 * @property {number[]} into for a scope, how far right of its middle each net enters
 * @property {number[]} out for a scope, how far right of its middle each net leaves
 * @property {number[]} intoWays for a scope, how many layers the longest way from each net that enters passes
 * @property {number[]} outWays for a scope, how many layers the longest way to each net that leaves passes
 */

export {};
