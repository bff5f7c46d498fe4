// Colours along a scale of the page, as JSON: [fill, border, text, muted] for each share.
// Usage: node shade.mjs ends, which is { scale, shares } as JSON

import { shade } from "../../trec/backends/html/viewer/facts.js";

const { scale, shares } = JSON.parse(process.argv[2]);
const paints = shares.map((share) => shade({ scale }, share));
process.stdout.write(JSON.stringify(paints.map(({ fill, border, text, muted }) => [fill, border, text, muted])));
