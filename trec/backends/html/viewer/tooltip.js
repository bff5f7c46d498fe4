// What is said of the box or wire under the pointer.

import { pointAt } from "./camera.js";
import { element } from "./elements.js";
import { curves } from "./layout/routing.js";
import { bytes, number } from "./numbers.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.js").Item} Item */

const REACH = 5;
const LONGEST = 300;
/** Types of results that are named. */
const MOST = 4;

/** @param {App} app */
export function mountTooltip(app) {
  const { canvas, store } = app;
  const tip = element("div", { class: "tip", role: "tooltip", hidden: true });
  canvas.after(tip);

  const place = (/** @type {number} */ x, /** @type {number} */ y) => {
    const { width, height } = app.stage.size;
    tip.style.left = `${Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 8))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > height ? Math.max(4, y - tip.offsetHeight - 12) : y + 18}px`;
  };
  let shown = "";
  canvas.addEventListener("pointermove", (event) => {
    if (event.buttons || event.pointerType === "touch") return void (tip.hidden = true);
    const { offsetX: x, offsetY: y } = event;
    const { hovered } = app.state;
    const wire = app.boxOf(hovered) < 0 ? wireAt(app, x, y) : -1;
    tip.hidden = wire < 0 && hovered < 0;
    if (tip.hidden) return;
    if (shown !== `${wire} ${hovered}`) {
      const lines = wire < 0 ? ofItem(app, hovered) : ofWire(app, wire);
      tip.replaceChildren(...lines.map((text, at) => element(at ? "div" : "b", {}, text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)));
      shown = `${wire} ${hovered}`;
    }
    place(x, y);
  });
  for (const name of ["pointerleave", "pointerdown", "wheel"]) canvas.addEventListener(name, () => (tip.hidden = true), { passive: true });
  store.watch(["scene"], () => {
    tip.hidden = true;
    shown = "";
  });
}

/** What is known of an item, in lines. @param {App} app @param {Item} item @returns {string[]} */
export function ofItem(app, item) {
  const { graph } = app;
  if (item < 0) return [];
  const kind = graph.kindOf(item);
  const all = app.together(item);
  if (all) return [app.nameOf(item), `${all.length} ${kind}s`, ...few(all.map((node) => `${graph.nameOf(node)}: ${typeText(graph.typeOf(outputsOf(app, node)[0]))}`))];
  const lines = [app.nameOf(item), [...new Set([graph.opOf(item), kind === "op" ? "" : kind])].filter(Boolean).join(" · ")];
  for (const value of outputsOf(app, item).slice(0, MOST)) lines.push(typeText(graph.typeOf(value)));
  const costs = [[graph.params(item), "params"], [graph.flops(item), "FLOPs"]]
    .flatMap(([count, unit]) => (count ? [`${number(Number(count))} ${unit}`] : []));
  if (graph.bytes(item)) costs.push(bytes(graph.bytes(item)));
  if (costs.length) lines.push(costs.join(" · "));
  if (graph.phased) lines.push(trainingOf(graph, item));
  const attributes = graph.attributes(item).filter(([name]) => name !== "flops");
  if (attributes.length) lines.push(attributes.map(([name, value]) => `${name}=${value}`).join(", "));
  const source = graph.source(item) ?? graph.source(app.state.scene.picture.nodes[app.boxOf(item)] ?? -1);
  if (source) lines.push(source.text);
  return lines.filter(Boolean);
}

/** As many of several texts as are named. @param {string[]} texts */
function few(texts) {
  return texts.length > MOST ? [...texts.slice(0, MOST), `and ${texts.length - MOST} more`] : texts;
}

/** What part of a step of training an item is, and what it differentiates. @param {App["graph"]} graph @param {Item} item */
function trainingOf(graph, item) {
  const names = few((graph.differentiated.get(item) ?? []).map((node) => graph.nameOf(node)));
  return names.length ? `${graph.phaseOf(item)}, differentiates ${names.join(", ")}` : graph.phaseOf(item);
}

/** The values that an item yields, or returns; of a scope, those that leave its box. @param {App} app @param {Item} item */
function outputsOf(app, item) {
  const { graph } = app;
  const box = app.boxOf(item);
  const { nodes, wires } = app.state.scene.picture;
  const node = item < graph.count ? item : (nodes[box] ?? -1);
  if (node < 0) return [...new Set(wires.flatMap(({ source, value }) => (source === box ? [value] : [])))];
  const values = Array.from({ length: graph.firstOutput[node + 1] - graph.firstOutput[node] }, (_, port) => graph.firstOutput[node] + port);
  return values.length ? values : [...graph.inputsOf(node)];
}

/** @param {{ shape: string, dtype: string, device: string }} type */
export function typeText({ shape, dtype, device }) {
  return `${shape || "?"}, ${dtype}, ${device}`;
}

/** @param {App} app @param {number} index @returns {string[]} */
function ofWire(app, index) {
  const { graph } = app;
  const { value, count } = app.state.scene.picture.wires[index];
  return [graph.valueName(value), typeText(graph.typeOf(value)), count > 1 ? `${count} uses` : ""].filter(Boolean);
}

/** The wire under a pixel; -1 for none. @param {App} app @param {number} x @param {number} y */
export function wireAt(app, x, y) {
  const { scene, camera } = app.state;
  const point = pointAt(camera, x, y);
  const reach = REACH / camera.zoom;
  let best = -1;
  let least = reach;
  scene.wireIndex.within(point.x - reach, point.y - reach, point.x + reach, point.y + reach, (wire) => {
    const far = distance(scene.routes.line(wire), scene.sideways, point);
    if (far < least) [best, least] = [wire, far];
  });
  return best;
}

/** @param {import("./layout/diagram.js").Line} line @param {boolean} sideways @param {{ x: number, y: number }} point */
function distance(line, sideways, point) {
  let least = Infinity;
  let [x, y] = line[0];
  for (const piece of curves(line, sideways)) {
    const [endX, endY] = piece[piece.length - 1];
    const steps = piece.length > 1 ? 12 : 1;
    let [fromX, fromY] = [x, y];
    for (let step = 1; step <= steps; step++) {
      const [toX, toY] = steps === 1 ? [endX, endY] : bezier([[x, y], ...piece], step / steps);
      least = Math.min(least, toSegment(point, fromX, fromY, toX, toY));
      [fromX, fromY] = [toX, toY];
    }
    [x, y] = [endX, endY];
  }
  return least;
}

/** @param {number[][]} points four of them @param {number} part */
function bezier(points, part) {
  const rest = 1 - part;
  const weights = [rest ** 3, 3 * rest ** 2 * part, 3 * rest * part ** 2, part ** 3];
  return [0, 1].map((axis) => points.reduce((sum, point, at) => sum + weights[at] * point[axis], 0));
}

/** @param {{ x: number, y: number }} point @param {number} x @param {number} y @param {number} endX @param {number} endY */
function toSegment(point, x, y, endX, endY) {
  const [dx, dy] = [endX - x, endY - y];
  const length = dx * dx + dy * dy;
  const part = length ? Math.max(0, Math.min(1, ((point.x - x) * dx + (point.y - y) * dy) / length)) : 0;
  return Math.hypot(point.x - x - part * dx, point.y - y - part * dy);
}
