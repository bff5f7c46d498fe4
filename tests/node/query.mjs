// What queries select of the graphs of pages, as JSON: for each query the marks of nodes and of scopes, or a message;
// with `why`, why they select nothing.
// Usage: node query.mjs file [why], which holds a list of [data of a page, list of queries]

import { readFileSync } from "node:fs";
import { Graph } from "../../trec/backends/html/viewer/graph.js";
import { selected, whyNothing } from "../../trec/backends/html/viewer/selection.js";

const answers = JSON.parse(readFileSync(process.argv[2], "utf8")).map(([data, queries]) => {
  const graph = new Graph(data);
  return queries.map((query) => {
    try {
      if (process.argv[3]) return whyNothing(graph, query);
      const { nodes, scopes } = selected(graph, query);
      return [nodes.join(""), scopes.join("")];
    } catch (error) {
      if (error.constructor.name !== "QueryError") throw error;
      return error.message;
    }
  });
});
process.stdout.write(JSON.stringify(answers));
