// Do what the page does to lay out, and print what came of it as JSON.
// Usage: node layout.mjs diagrams|texts file

import { readFileSync } from "node:fs";
import { arrange, Memory } from "../../trec/backends/html/viewer/layout/arrange.js";
import { Ruler } from "../../trec/backends/html/viewer/layout/text.js";

const described = (placement) => ({
  ...placement,
  boxes: [...placement.boxes],
  labels: [...placement.labels].sort(([one], [other]) => one - other),
});

/** Return where everything is in each diagram, alone and as one in a row of those laid out in the same way. */
function diagrams(found) {
  const memories = {};
  return found.map((row) => {
    const diagram = { ...row, labels: new Map(row.labels) };
    const memory = (memories[`${diagram.direction} ${diagram.wrap}`] ??= new Memory());
    return [arrange(diagram), arrange(diagram, memory), arrange(diagram, memory)].map(described);
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
