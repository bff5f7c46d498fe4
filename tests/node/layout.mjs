// Lay out diagrams as the page does, and print what came of them as JSON.
// Usage: node layout.mjs file

import { readFileSync } from "node:fs";
import { arrange } from "../../trec/backends/html/viewer/layout/arrange.js";

const entries = (map) => [...map].sort(([one], [other]) => one - other);

const found = JSON.parse(readFileSync(process.argv[2], "utf8")).map((diagram) => {
  const placement = arrange({ ...diagram, labels: new Map(diagram.labels) });
  return { ...placement, boxes: [...placement.boxes], labels: entries(placement.labels) };
});
process.stdout.write(JSON.stringify(found));
