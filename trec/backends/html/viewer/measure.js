// How large everything of a picture is, and what leaves a box as one line: a picture as the layout takes it.

/** @typedef {import("./types.js").Picture} Picture */
/** @typedef {import("./types.js").Face} Face */
/** @typedef {import("./layout/diagram.js").Diagram} Diagram */
/** @typedef {import("./layout/diagram.js").Size} Size */
/** @typedef {import("./layout/text.js").Ruler} Ruler */

/** Font sizes of subtitles, details and the texts along wires. @typedef {[number, number, number]} Sizes */

const GAP = 6;
const TITLE_ROOM = 7;
const SIDE = 7;
const PILL = 11;
const ABOVE = 4;
export const LEADING = 1.2;
const CIRCLE = 18;
const POINT = 5;

/** How wide the first line of a face is. @param {Face} face @param {Sizes} sizes @param {Ruler} ruler */
function head(face, sizes, ruler) {
  const title = ruler.width(face.title, face.size, face.bold);
  return face.subtitle ? title + GAP + ruler.width(face.subtitle, sizes[0]) : title;
}

/** @param {Face} face @param {Sizes} sizes @param {Ruler} ruler @returns {Size} */
function boxSize(face, sizes, ruler) {
  if (face.shape === "point") return [POINT, POINT];
  let across = head(face, sizes, ruler);
  if (face.shape === "circle") return [Math.max(CIRCLE, across + 6), Math.max(CIRCLE, across + 6)];
  let height = 2 * ABOVE + face.size * LEADING;
  if (face.detail) {
    across = Math.max(across, ruler.width(face.detail, sizes[1]));
    height += sizes[1] * LEADING;
  }
  return [Math.max(across + 2 * (face.shape === "pill" ? PILL : SIDE), height), height];
}

/** Room for the title and the subtitle of a frame on one line, and on two if it has both. @param {Face} face @param {Sizes} sizes @param {Ruler} ruler @returns {Size[]} */
function titleSizes(face, sizes, ruler) {
  const detail = face.detail ? ruler.width(face.detail, sizes[1]) : 0;
  const height = face.size * LEADING + TITLE_ROOM + (face.detail ? sizes[1] * LEADING : 0);
  /** @type {Size} */
  const one = [Math.max(head(face, sizes, ruler), detail), height];
  if (!face.subtitle) return [one];
  const across = Math.max(ruler.width(face.title, face.size, face.bold), ruler.width(face.subtitle, sizes[0]), detail);
  return [one, [across, height + sizes[0] * LEADING]];
}

/** @type {WeakMap<Face, Size>} */
const boxSizes = new WeakMap();
/** @type {WeakMap<Face, Size[]>} */
const frameSizes = new WeakMap();

/** @template T @param {WeakMap<Face, T>} known @param {Face} face @param {() => T} make @returns {T} */
function kept(known, face, make) {
  let found = known.get(face);
  if (found === undefined) known.set(face, (found = make()));
  return found;
}

/**
 * @param {Picture} picture
 * @param {Ruler} ruler
 * @param {Sizes} sizes
 * @param {Pick<Diagram, "direction" | "wrap" | "first" | "columns" | "columnOf">} options
 * @returns {import("./layout/steps.js").Steps<{ diagram: Diagram, texts: Map<number, string>, nets: Int32Array }>}
 */
export function* measuring(picture, ruler, sizes, options) {
  const count = picture.boxes.length;
  const room = new Float64Array(2 * count);
  for (let box = 0; box < count; box++) {
    const face = picture.faces[box];
    const size = boxSizes.get(face) ?? kept(boxSizes, face, () => boxSize(face, sizes, ruler));
    room[2 * box] = size[0];
    room[2 * box + 1] = size[1];
  }
  yield;
  const { nets, texts } = netsOf(picture);
  yield;
  const wires = new Int32Array(4 * picture.wires.length);
  picture.wires.forEach(({ source, target }, at) => {
    wires[4 * at] = source;
    wires[4 * at + 1] = target;
    wires[4 * at + 2] = nets[at];
    wires[4 * at + 3] = at;
  });
  /** @type {Map<number, Size>} */
  const labels = new Map();
  for (const [net, text] of texts) labels.set(net, [ruler.width(text, sizes[2]), sizes[2] * LEADING]);
  const titles = picture.titles.map((face) => kept(frameSizes, face, () => titleSizes(face, sizes, ruler)));
  const diagram = { sizes: room, scopes: picture.around, parents: picture.outer, titles, wires, labels, ...options };
  return { diagram, texts, nets };
}

/**
 * For each wire, the line that it leaves its box with; and the text of each line that has one.
 *
 * Wires from one box share a line if they have one stroke and one text, or if the same several values flow along them.
 * One without a text joins the line that has the only text of its stroke, because what flows along it is the same.
 *
 * @param {Picture} picture
 */
function netsOf(picture) {
  /** The only text of each stroke from each box; null where there are several. @type {Map<number, string | null>} */
  const written = new Map();
  for (const { source, stroke, label, flow } of picture.wires) {
    if (!label || flow >= 0) continue;
    const sender = source * 8 + stroke;
    const before = written.get(sender);
    written.set(sender, before === undefined || before === label ? label : null);
  }
  /** For each stroke from each box, one more than the net that was found last; 0 for none. */
  const newest = new Int32Array(8 * picture.boxes.length);
  /** For each net, the same of the one found before it. @type {number[]} */
  const before = [];
  /** For each net its text, and the several values that flow along it if it has one of its own; -1 for any. @type {[string, number][]} */
  const known = [];
  /** @type {Map<number, string>} */
  const texts = new Map();
  const nets = new Int32Array(picture.wires.length);
  picture.wires.forEach(({ source, stroke, label: own, flow: values }, wire) => {
    const sender = source * 8 + stroke;
    const label = own || (written.get(sender) ?? "");
    const flow = own ? values : -1;
    let net = newest[sender] - 1;
    while (net >= 0 && (known[net][1] !== flow || (flow < 0 && known[net][0] !== label))) net = before[net] - 1;
    if (net < 0) {
      net = known.push([label, flow]) - 1;
      before.push(newest[sender]);
      newest[sender] = net + 1;
      if (label) texts.set(net, label);
    }
    nets[wire] = net;
  });
  return { nets, texts };
}
