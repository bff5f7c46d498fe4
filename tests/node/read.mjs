// Read files that trec wrote with the libraries they are for, and print what was found as JSON.
// Usage: node read.mjs format file...

import { readFileSync } from "node:fs";

const text = (file) => readFileSync(file, "utf8");

const describe = (graph) => ({
  nodes: graph.mapNodes((key, attributes) => [key, attributes]),
  edges: graph.mapEdges((key, attributes, source, target) => [source, target, attributes]),
});

async function sigma() {
  const { default: Graph } = await import("graphology");
  return (file) => {
    const data = JSON.parse(text(file));
    const graph = Graph.from(data);
    if (!data.options.multi) {
      const imported = new Graph();
      imported.import(data);
      if (imported.order !== graph.order || imported.size !== graph.size) throw Error("import() differs from from()");
    }
    return describe(graph);
  };
}

async function gexf() {
  const { default: Graph } = await import("graphology");
  const { parse } = await import("graphology-gexf/node/index.js");
  return (file) => describe(parse(Graph, text(file), { addMissingNodes: false }));
}

async function cytoscape() {
  const { default: cytoscape } = await import("cytoscape");
  return (file) => {
    const cy = cytoscape({ headless: true, ...JSON.parse(text(file)) });
    return {
      nodes: cy.nodes().map((node) => [node.id(), node.data(), node.parent().map((parent) => parent.id())]),
      edges: cy.edges().map((edge) => [edge.source().id(), edge.target().id(), edge.data()]),
    };
  };
}

async function mermaid() {
  const { JSDOM } = await import("jsdom");
  const { window } = new JSDOM("");
  Object.assign(globalThis, { window, document: window.document });
  const { default: mermaid } = await import("mermaid");
  mermaid.initialize({ maxEdges: 1e6, maxTextSize: 1e8 });
  return async (file) => {
    const { db } = await mermaid.mermaidAPI.getDiagramFromText(text(file));
    return {
      title: db.getDiagramTitle(),
      nodes: [...db.getVertices().values()].map(({ id, text }) => [id, text]),
      edges: db.getEdges().map(({ start, end, text }) => [start, end, text]),
      subgraphs: db.getSubGraphs().map(({ id, title, nodes }) => [id, title, nodes]),
    };
  };
}

const [format, ...files] = process.argv.slice(2);
const read = await { sigma, gexf, cytoscape, mermaid }[format]();
const found = [];
for (const file of files) found.push(await read(file));
process.stdout.write(JSON.stringify(found));
