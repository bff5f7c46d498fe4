// Do what the page does to lay out, and print what came of it as JSON.
// Usage: node layout.mjs diagrams|texts file

import { readFileSync } from "node:fs";
import { arrange } from "../../trec/backends/html/viewer/layout/arrange.js";
import { Forks } from "../../trec/backends/html/viewer/layout/forks.js";
import { Memory } from "../../trec/backends/html/viewer/layout/memory.js";
import { Ruler } from "../../trec/backends/html/viewer/layout/text.js";

function described(diagram, placement) {
  const nets = Int32Array.from(diagram.wires.filter((_, at) => at % 4 === 2));
  const forks = new Forks(nets, placement.routes, diagram.direction === "LR" || diagram.direction === "RL");
  return {
    ...placement,
    boxes: [...placement.boxes],
    labels: [...placement.labels].sort(([one], [other]) => one - other),
    routes: Array.from(nets, (_, wire) => placement.routes.line(wire)),
    forks: Array.from(nets, (_, wire) => forks.line(wire)),
  };
}

/** Return where everything is in each diagram, alone and as one in a row of those laid out in the same way. */
function diagrams(found) {
  const memories = {};
  return found.map((row) => {
    const diagram = { ...row, labels: new Map(row.labels) };
    const memory = (memories[`${diagram.direction} ${diagram.wrap}`] ??= new Memory());
    const placements = [arrange(diagram), arrange(diagram, memory), arrange(diagram, memory)];
    return placements.map((placement) => described(diagram, placement));
  });
}

/** Return how wide each text is, and as much of it as fits. */
function texts({ glyphs, rows }) {
  const ruler = new Ruler(glyphs);
  return rows.map(([text, size, room, bold]) => [
    ruler.width(text, size, bold),
    ruler.fitted(text, size, room, bold),
  ]);
}

const [what, file] = process.argv.slice(2);
process.stdout.write(JSON.stringify({ diagrams, texts }[what](JSON.parse(readFileSync(file, "utf8")))));
