// Where the page begins: reads the graph and puts every part of the page in its place.

import { App } from "./app.js";
import { read } from "./data.js";
import { mountGestures } from "./gestures.js";
import { Graph } from "./graph.js";
import { mountTheme } from "./theme.js";
import { mountToolbar } from "./toolbar.js";
import { mountTooltip } from "./tooltip.js";

/** Start the page. @param {HTMLElement} root @param {Element} block what holds the data */
export async function start(root, block) {
  const app = new App(new Graph(await read(block)), root);
  mountTheme(app);
  mountToolbar(app);
  mountGestures(app);
  mountTooltip(app);
  root.dataset.ready = "true";
  return app;
}
