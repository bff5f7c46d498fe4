// The frame round a scope: room at its sides, and its title where no net runs through it.

/** @typedef {import("./diagram.js").Direction} Direction */
/** @typedef {import("./diagram.js").Size} Size */
/** @typedef {import("./scope.js").Content} Content */

/** Room between the border of a frame and what is in it, in points. */
const PAD = 9;
/** Room between a title and a net. */
const BESIDE_NET = 4;
/** By how much a frame may be widened before its title is set in another way. */
const SMALL = 24;

/**
 * Where the content of a scope lies in its frame, before the picture is turned.
 *
 * @typedef {object} Frame
 * @property {number} left
 * @property {number} top
 * @property {number} width
 * @property {number} height
 * @property {number} title how far from the left of the frame, in the picture, its title begins
 * @property {number} setting which of the ways to set the title was taken
 */

/**
 * Return the frame round a scope.
 *
 * @param {Content} content the scope laid out
 * @param {Size[]} settings room for the title in each way that it may be set, the wanted one first; none for the whole
 *   picture, which has no frame
 * @param {Direction} direction where the flow goes; from top to bottom nets enter beside the title, from bottom to top
 *   they leave beside it, and sideways they meet it nowhere
 * @returns {Frame}
 */
export function framed(content, settings, direction) {
  if (!settings.length)
    return { left: 0, top: 0, width: content.width, height: content.height, title: 0, setting: 0 };
  if (direction === "LR" || direction === "RL") {
    // Turned by a right angle, the title lies along the flow, at the left side of it.
    const found = settings.map(([width]) => Math.max(content.height, width));
    const setting = least(found, content.height);
    const along = found[setting] + 2 * PAD;
    const room = settings[setting][1];
    const top = (along - content.height) / 2;
    return { left: room, top, width: content.width + room + PAD, height: along, title: PAD, setting };
  }
  const ports = direction === "TB" ? content.into : content.out;
  const ways = settings.map(([width]) => beside(ports, content.width, width));
  const costs = ways.map(([left, right, , other]) => left + right + other);
  const setting = least(costs, 2 * PAD);
  const [left, right, title] = ways[setting];
  const room = settings[setting][1];
  const top = direction === "TB" ? room : PAD;
  return { left, top, width: left + content.width + right, height: content.height + room + PAD, title, setting };
}

/**
 * Return the frame round a scope that is turned by half a circle later, after which its title stands at the top left.
 *
 * @param {Content} content the scope laid out, downwards
 * @param {Size[]} settings
 * @returns {Frame}
 */
export function framedUpwards(content, settings) {
  const mirrored = (/** @type {number} */ x) => content.width - x;
  const seen = { ...content, into: content.into.map(mirrored), out: content.out.map(mirrored) };
  const frame = framed(seen, settings, "BT");
  return { ...frame, left: frame.width - frame.left - content.width };
}

/**
 * Return the position of the first size that is not much greater than the wanted one, or else of the least.
 *
 * @param {number[]} sizes
 * @param {number} wanted
 */
function least(sizes, wanted) {
  const found = sizes.findIndex((size) => size <= wanted + SMALL);
  return found < 0 ? sizes.indexOf(Math.min(...sizes)) : found;
}

/**
 * Return the room left and right of a content for its title to stand clear of all nets, where it begins, and what
 * counts as room of its own.
 *
 * It stands at the left unless the frame is much narrower with it at the right.
 *
 * @param {number[]} ports
 * @param {number} width
 * @param {number} title
 */
function beside(ports, width, title) {
  const alone = [PAD, Math.max(PAD, title + PAD - width), PAD, 0];
  if (!ports.length) return alone;
  const [first, last] = ends(ports);
  const left = Math.max(PAD, PAD + title + BESIDE_NET - first);
  const right = Math.max(PAD, last + BESIDE_NET + title + PAD - width);
  if (left <= right + 2 * SMALL) return [left, ...alone.slice(1)];
  return [PAD, right, PAD + last + BESIDE_NET, 2 * SMALL];
}

/** @param {number[]} numbers */
function ends(numbers) {
  let [least, most] = [Infinity, -Infinity];
  for (const number of numbers) {
    least = Math.min(least, number);
    most = Math.max(most, number);
  }
  return [least, most];
}
