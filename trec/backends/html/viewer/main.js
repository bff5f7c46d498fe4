// Where the page begins: reads the graph and puts every part of the page in its place.

import { App } from "./app.js";
import { crumbs } from "./crumbs.js";
import { read } from "./data.js";
import { mountAddress } from "./address.js";
import { mountDetails } from "./details.js";
import { element } from "./elements.js";
import { forceColours } from "./forced.js";
import { mountGestures } from "./gestures.js";
import { Graph } from "./graph.js";
import { help } from "./help.js";
import { legend } from "./legend.js";
import { mountMinimap } from "./minimap.js";
import { mountOutline } from "./outline.js";
import { makeRoom, outlineButton } from "./panels.js";
import { mountPrint, saving } from "./saving.js";
import { Search } from "./search.js";
import { mountTheme } from "./theme.js";
import { mountToolbar } from "./toolbar.js";
import { mountTooltip } from "./tooltip.js";
import { mountTrace } from "./trace.js";
import { mountVoice } from "./voice.js";

/** Start the page. @param {HTMLElement} root @param {Element} block what holds the data */
export async function start(root, block) {
  const graph = new Graph(await read(block));
  makeRoom(root);
  const follow = forceColours(graph);
  const app = new App(graph, root);
  follow(app);
  mountTheme(app);
  mountGestures(app);
  mountTooltip(app);
  mountVoice(app);
  const trace = mountTrace(app);
  mountDetails(app, trace);
  mountMinimap(app);
  const outline = mountOutline(app);
  const search = new Search(app);
  const name = element("h1", {}, graph.title);
  mountToolbar(app, { start: [outlineButton(app, () => outline?.show()), name, search.form], end: [...saving(app), help(app, search.input)] });
  root.querySelector(".foot")?.append(crumbs(app), legend(app));
  mountPrint(app);
  mountAddress(app, search, trace);
  root.dataset.ready = "true";
  return app;
}
