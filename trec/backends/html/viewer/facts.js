// Colours by what is known of nodes and calls: names get the colours of families, numbers the shades of a scale.

import { MODULE, OP } from "./graph.js";
import { bytes, number } from "./numbers.js";

/** @typedef {import("./colours.js").Colouring} Colouring */
/** @typedef {import("./colours.js").Key} Key */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Item} Item */
/** @typedef {import("./types.js").Paint} Paint */
/** @typedef {import("./types.js").Theme} Theme */

const PALETTE = ["convolution", "linear", "normalisation", "activation", "attention", "pooling", "embedding", "recurrent"];
/** Colours of a scale that its legend shows. */
const STEPS = 5;
/** Ratio of the greatest number to the least from which a scale counts by orders of magnitude. */
const WIDE = 30;
/** Colours of text on a scale, as `trec.backends.colouring` has them: for details, for names, where those are too close. */
const DARK = ["#3c4654", "#1b2430", "#000000"];
const LIGHT = ["#e4e9f0", "#ffffff"];
/** Luminance on which black and white text can be read alike, and the least contrast ratio of text. */
const [MIDDLE, READ] = [0.179, 4.5];

/** Colours by a name that each box has. @param {string} title @param {(graph: Graph, item: Item) => string} ask @returns {Colouring} */
export function byName(title, ask) {
  return {
    title,
    paint(graph, picture, theme) {
      const names = picture.boxes.map((item) => (isColoured(graph, item) ? ask(graph, item) : null));
      /** @type {Map<string, number>} */
      const counts = new Map();
      for (const name of names) if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
      const order = [...counts.keys()].sort((one, other) => (counts.get(other) ?? 0) - (counts.get(one) ?? 0) || (one < other ? -1 : 1));
      const known = new Map(order.slice(0, PALETTE.length).map((name, at) => [name, theme.paints[PALETTE[at]]]));
      const rest = theme.paints.other;
      /** @type {Key[]} */
      const keys = [...known].map(([name, paint]) => ({ text: name || "none", paint }));
      if (order.length > PALETTE.length) keys.push({ text: "others", paint: rest });
      return { paints: names.map((name) => (name === null ? null : (known.get(name) ?? rest))), keys };
    },
  };
}

/**
 * Colours by a number, greater ones farther along the scale of the theme.
 *
 * @param {string} title
 * @param {(graph: Graph, item: Item) => number} ask
 * @param {(count: number) => string} [write]
 * @returns {Colouring}
 */
export function byNumber(title, ask, write = number) {
  return {
    title,
    paint(graph, picture, theme) {
      const numbers = picture.boxes.map((item) => (isColoured(graph, item) ? ask(graph, item) : NaN));
      let [least, greatest] = [Infinity, 0];
      for (const found of numbers) if (found > 0) [least, greatest] = [Math.min(least, found), Math.max(greatest, found)];
      if (!greatest) return { paints: numbers.map(() => null), keys: [] };
      const isWide = greatest / least > WIDE;
      const share = (/** @type {number} */ found) => {
        if (found <= least || greatest === least) return found < greatest ? 0 : 1;
        return isWide ? Math.log(found / least) / Math.log(greatest / least) : (found - least) / (greatest - least);
      };
      const steps = greatest === least ? [1] : Array.from({ length: STEPS }, (_, step) => step / (STEPS - 1));
      const keys = steps.map((part) => {
        const at = isWide ? least * (greatest / least) ** part : least + (greatest - least) * part;
        return { text: write(Math.round(at)), paint: shade(theme, part) };
      });
      const plain = theme.paints.view;
      if (numbers.includes(0)) keys.unshift({ text: "none", paint: plain });
      return { paints: numbers.map((found) => (found > 0 ? shade(theme, share(found)) : found === 0 ? plain : null)), keys };
    },
  };
}

/** @param {Graph} graph @param {Item} item */
function isColoured(graph, item) {
  return item >= graph.count || graph.kind[item] === OP || graph.kind[item] === MODULE;
}

/** The colours at a place between the ends of a scale, with text that can be read. @param {Theme} theme @param {number} share @returns {Paint} */
export function shade(theme, share) {
  const [low, high] = theme.scale.map(channels);
  const mixed = low.map((one, at) => Math.round(one + (high[at] - one) * share));
  const light = luminance(mixed);
  const border = mixed.map((channel) => Math.round(light > 0.2 ? channel * 0.6 : 255 - (255 - channel) * 0.6));
  const inks = light > MIDDLE ? DARK : LIGHT;
  const [text, muted] = [1, 0].map((first) => inks.slice(first).find((ink) => contrast(ink, light) >= READ) ?? inks[inks.length - 1]);
  return { fill: hex(mixed), border: hex(border), text, muted, line: "solid", width: 1 };
}

/** The contrast ratio of a text to what is behind it. @param {string} ink @param {number} ground its luminance */
function contrast(ink, ground) {
  const own = luminance(channels(ink));
  return (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
}

/** @param {string} colour */
function channels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

/** @param {number[]} mixed */
function hex(mixed) {
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
}

/** The relative luminance of a colour, as the Web Content Accessibility Guidelines define it. @param {number[]} mixed */
function luminance(mixed) {
  const linear = (/** @type {number} */ part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const [red, green, blue] = mixed.map((channel) => linear(channel / 255));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The class of a call, or of the one that a node is in; of what no module calls, the operator. @param {Graph} graph @param {Item} item */
function classOf(graph, item) {
  if (item >= graph.count) return graph.opOf(item);
  const scope = graph.scopeOf(item);
  return graph.kind[item] === MODULE || graph.data.scopes.kind[scope] === 0 ? graph.opOf(graph.count + scope) : graph.opOf(item);
}

/** The element type of the first result; of a call, of the last one in it. @param {Graph} graph @param {Item} item */
function dtypeOf(graph, item) {
  let node = item;
  while (node >= graph.count) node = graph.members[node - graph.count].at(-1) ?? -1;
  return node >= 0 && graph.firstOutput[node] < graph.firstOutput[node + 1] ? graph.typeOf(graph.firstOutput[node]).dtype : "none";
}

/** Colours that a function in Python gave to nodes. @type {Colouring} */
const given = {
  title: "as given",
  paint(graph, picture) {
    /** @type {{ paints: Paint[], nodes: [number, number][], keys: [string, number][] }} */
    const { paints, nodes, keys } = graph.data.colours ?? { paints: [], nodes: [], keys: [] };
    const byNode = new Map(nodes);
    return {
      paints: picture.nodes.map((node) => paints[byNode.get(node) ?? -1] ?? null),
      keys: keys.map(([text, paint]) => ({ text, paint: paints[paint] })),
    };
  },
};

/** @type {[string, Colouring][]} */
export const FACTS = [
  ["given", given],
  ["kind", byName("kind", (graph, item) => graph.kindOf(item))],
  ["class", byName("class", classOf)],
  ["module", byName("module", (graph, item) => (graph.paths[graph.scopeOf(item)] ?? "").split(".")[0])],
  ["dtype", byName("element type", dtypeOf)],
  ["params", byNumber("parameters", (graph, item) => graph.params(item))],
  ["flops", byNumber("FLOPs", (graph, item) => graph.flops(item))],
  ["memory", byNumber("memory", (graph, item) => graph.bytes(item), bytes)],
];
