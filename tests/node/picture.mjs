// What the page shows of graphs, as JSON. Usage: node picture.mjs viewer cases.json
// A case is the data of a page, the depth that is open (null for all), and the other parts of the view.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [viewer, file] = process.argv.slice(2);
const { Graph } = await import(pathToFileURL(`${viewer}/graph.js`).href);
const { project } = await import(pathToFileURL(`${viewer}/projection.js`).href);
const { openTo } = await import(pathToFileURL(`${viewer}/opening.js`).href);
const { stages } = await import(pathToFileURL(`${viewer}/stages.js`).href);
const { STROKES } = await import(pathToFileURL(`${viewer}/strokes.js`).href);

const found = JSON.parse(readFileSync(file, "utf8")).map(({ data, depth, view }) => {
  const graph = new Graph(data);
  const open = depth === null ? new Uint8Array(graph.scopeCount).fill(1) : openTo(graph, depth);
  if (depth !== null) graph.data.scopes.kind.forEach((kind, scope) => kind !== 0 && (open[scope] = 1));
  const picture = project(graph, { views: true, constants: true, columns: false, ...view, open });
  const { boxes, nodes, faces, around, titles, outer, wires } = picture;
  const { columns, columnOf } = stages(graph, picture);
  const words = ({ title, subtitle, detail, shape, role, line, error, times }) => [title, subtitle, detail, shape, role, line, error, times];
  return {
    names: boxes.map((item, box) => graph.nameOf(nodes[box] < 0 ? item : nodes[box])),
    boxes: faces.map((face, box) => [...words(face), around[box]]),
    frames: titles.map((face, frame) => [face.title, face.subtitle, face.detail, face.times, outer[frame]]),
    wires: wires.map(({ source, target, label, stroke }) => [source, target, label, STROKES[stroke]]),
    columns: [columns, columnOf],
  };
});
process.stdout.write(JSON.stringify(found));
