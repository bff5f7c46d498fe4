"""Write a page that shows a residual network with sigma.js, frames of modules included.

The page loads sigma and graphology from a CDN, so it needs the network; `graph.to_html` does not.

Run: python examples/sigma_page.py [folder]
"""

from __future__ import annotations

import json

from models import ResNet
from places import output

import trec

PAGE = """<!DOCTYPE html>
<meta charset="utf-8">
<title>TITLE</title>
<style>
  html, body { margin: 0; height: 100%; font: 14px sans-serif }
  #view { position: relative; height: 100% }
  #view > canvas.frames { position: absolute; inset: 0 }
  #told { position: fixed; left: 12px; bottom: 12px; background: #fffd; padding: 4px 8px }
</style>
<div id="view"></div><div id="told">Point at a step</div>
<script src="https://cdn.jsdelivr.net/npm/graphology@0.26.0/dist/graphology.umd.min.js"></script>
<script src="https://cdn.jsdelivr.net/npm/sigma@3.0.3/dist/sigma.min.js"></script>
<script>
  const graph = graphology.Graph.from(DATA);
  graph.updateEachEdgeAttributes((key, attributes) => ({ ...attributes, hidden: "route" in attributes }));
  const view = document.getElementById("view"), told = document.getElementById("told");
  const renderer = new Sigma(graph, view, { itemSizesReference: "positions", labelRenderedSizeThreshold: 9 });
  renderer.on("enterNode", ({ node }) => {
    const { name, op, tensor_shape } = graph.getNodeAttributes(node);
    told.textContent = [name, op, tensor_shape].filter(Boolean).join(" · ");
  });

  // A canvas below those of sigma: the frames of modules, and the edges that are not straight.
  const canvas = Object.assign(document.createElement("canvas"), { className: "frames" });
  view.prepend(canvas);
  const draw = () => {
    Object.assign(canvas, { width: view.clientWidth, height: view.clientHeight });
    const pen = canvas.getContext("2d");
    for (const { x, y, width, height, color, border, label } of graph.getAttribute("scopes")) {
      const start = renderer.graphToViewport({ x, y });
      const end = renderer.graphToViewport({ x: x + width, y: y - height });
      Object.assign(pen, { fillStyle: color, strokeStyle: border, lineWidth: 1 });
      pen.fillRect(start.x, start.y, end.x - start.x, end.y - start.y);
      pen.strokeRect(start.x, start.y, end.x - start.x, end.y - start.y);
      pen.fillStyle = "#333";
      if (end.x - start.x > pen.measureText(label).width + 8) pen.fillText(label, start.x + 4, start.y - 4);
    }
    graph.forEachEdge((key, { route, color }) => {
      if (!route) return;
      pen.strokeStyle = color;
      pen.beginPath();
      for (let at = 0; at < route.length; at += 2) {
        const { x, y } = renderer.graphToViewport({ x: route[at], y: route[at + 1] });
        pen.lineTo(x, y);
      }
      pen.stroke();
    });
  };
  renderer.on("afterRender", draw);
  draw();
</script>
"""


def main() -> None:
    """Write the page, with the graph in it."""
    graph = trec.capture(ResNet().eval(), (1, 3, 32, 32)).hide("kind:param or kind:buffer")
    data = json.dumps(graph.to_sigma(wrap=900), separators=(",", ":")).replace("<", "\\u003c")
    path = output("resnet-sigma.html")
    path.write_text(PAGE.replace("TITLE", graph.name).replace("DATA", data), encoding="utf-8")
    print(f"{path.name}: {len(graph.nodes)} nodes; open it in a browser with access to the network")


if __name__ == "__main__":
    main()
