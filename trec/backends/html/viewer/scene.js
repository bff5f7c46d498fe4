// A picture with its places: projected, measured, laid out, and ready to be looked up.

import { Chunks } from "./chunks.js";
import { INPUT } from "./graph.js";
import { ARC } from "./layout/routing.js";
import { arranging } from "./layout/arrange.js";
import { Forks } from "./layout/forks.js";
import { Memory } from "./layout/memory.js";
import { finished } from "./layout/steps.js";
import { measuring } from "./measure.js";
import { projecting } from "./projection.js";
import { stages } from "./stages.js";

/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").View} View */
/** @typedef {import("./types.js").Scene} Scene */
/** @typedef {import("./types.js").Note} Note */
/** @typedef {import("./layout/diagram.js").Placement} Placement */
/** @template Found @typedef {import("./layout/steps.js").Steps<Found>} Steps */

/** Longest column of boxes, in points, where the options name none. */
const COLUMN = 1600;

/** What the layout knows of earlier pictures of each graph, in columns and without. @type {WeakMap<Graph, [Memory, Memory]>} */
const memories = new WeakMap();

/** @param {Graph} graph @param {boolean} columns */
function memoryOf(graph, columns) {
  let memory = memories.get(graph);
  if (!memory) memories.set(graph, (memory = [new Memory(), new Memory()]));
  return memory[columns ? 1 : 0];
}

/** @param {Graph} graph @param {View} view @returns {Scene} */
export function compose(graph, view) {
  return finished(composing(graph, view));
}

/** Make a scene in steps. @param {Graph} graph @param {View} view @returns {Steps<Scene>} */
export function* composing(graph, view) {
  const picture = yield* projecting(graph, view);
  yield;
  const { direction } = graph.data.options;
  const wrap = view.columns ? graph.data.options.wrap || COLUMN : 0;
  /** @type {number[]} */
  const first = [];
  picture.nodes.forEach((node, box) => graph.kind[node] === INPUT && first.push(box));
  const { sizes } = graph.data.style;
  const { diagram, texts, nets } = yield* measuring(picture, graph.ruler, sizes, { direction, wrap, first, ...stages(graph, picture) });
  yield;
  const placement = yield* arranging(diagram, memoryOf(graph, view.columns));
  yield;
  const places = new Float64Array(4 * picture.boxes.length);
  for (let box = 0; box < picture.boxes.length; box++) {
    const [width, height] = [diagram.sizes[2 * box], diagram.sizes[2 * box + 1]];
    places[4 * box] = placement.boxes[2 * box] - width / 2;
    places[4 * box + 1] = placement.boxes[2 * box + 1] - height / 2;
    places[4 * box + 2] = width;
    places[4 * box + 3] = height;
  }
  const frames = new Float64Array(4 * placement.frames.length);
  placement.frames.forEach((frame, at) => frame && frames.set(frame, 4 * at));
  const titles = titlesOf(placement, frames);
  const sideways = direction === "LR" || direction === "RL";
  const notes = notesOf(placement, texts, nets);
  yield;
  const wireIndex = new Chunks(boundsOf(placement.routes));
  yield;
  return {
    picture,
    width: placement.size[0],
    height: placement.size[1],
    sideways,
    places,
    frames,
    titles,
    routes: placement.routes,
    parts: new Forks(nets, placement.routes, sideways),
    notes,
    boxIndex: new Chunks(places),
    frameIndex: new Chunks(frames),
    wireIndex,
    noteIndex: new Chunks(roomOf(notes)),
  };
}

/** @param {Placement} placement @param {Float64Array} frames */
function titlesOf(placement, frames) {
  const titles = new Float64Array(3 * placement.titles.length);
  placement.titles.forEach((title, at) => {
    if (!title) return;
    titles[3 * at] = title[0] - frames[4 * at];
    titles[3 * at + 1] = title[1] - frames[4 * at + 1];
    titles[3 * at + 2] = title[2];
  });
  return titles;
}

/** @param {Placement} placement @param {Map<number, string>} texts @param {Int32Array} nets @returns {Note[]} */
function notesOf(placement, texts, nets) {
  const wires = new Int32Array(nets.length);
  for (let wire = nets.length - 1; wire >= 0; wire--) wires[nets[wire]] = wire;
  return Array.from(placement.labels, ([net, [x, y]]) => ({ text: texts.get(net) ?? "", x, y, wire: wires[net] }));
}

/** About where each text is. @param {Note[]} notes */
function roomOf(notes) {
  const room = new Float64Array(4 * notes.length).fill(10);
  notes.forEach(({ text, x, y }, at) => {
    room[4 * at] = x - 3 * text.length;
    room[4 * at + 1] = y - 5;
    room[4 * at + 2] = 6 * text.length;
  });
  return room;
}

/** The rectangle round each route, in which there is room for its arcs. @param {Placement["routes"]} routes */
function boundsOf(routes) {
  const bounds = routes.bounds();
  for (let at = 0; at < bounds.length; at += 4)
    for (const side of [at, at + 1]) {
      bounds[side] -= ARC;
      bounds[side + 2] += ARC - bounds[side];
    }
  return bounds;
}
