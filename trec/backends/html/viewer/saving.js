// What leaves the page: files of the picture, and paper.

import { element } from "./elements.js";
import { png, svg } from "./picture.js";
import { entry, menu } from "./toolbar.js";

/** @typedef {import("./app.js").App} App */

/** Boxes from which paper has the pixels of the screen. */
const MANY = 20000;

/** Hand a file to whoever looks at the page. @param {string} name @param {Blob} blob */
function save(name, blob) {
  const href = URL.createObjectURL(blob);
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

/** The menu of files. @param {App} app */
export function saving(app) {
  const name = app.graph.title.replace(/[^\p{L}\p{N}._-]+/gu, "_").slice(0, 80) || "graph";
  return menu("Save", "Save the picture",
    entry("SVG", () => {
      save(`${name}.svg`, new Blob([svg(app)], { type: "image/svg+xml" }));
      app.announce("Saved as SVG");
    }),
    entry("PNG", async () => {
      const blob = await png(app);
      if (blob) save(`${name}.png`, blob);
      app.announce(blob ? "Saved as PNG" : "The picture is too large for a PNG");
    }));
}

/** Put the picture on paper in strokes rather than pixels, in light colours, with its name below. @param {App} app */
export function mountPrint(app) {
  const sheet = element("figure", { class: "sheet" });
  let { theme } = app.state;
  addEventListener("beforeprint", () => {
    if (app.state.scene.picture.boxes.length > MANY) return;
    if (!sheet.isConnected) theme = app.state.theme;
    app.store.set({ theme: "light" });
    const { graph } = app;
    const picture = new DOMParser().parseFromString(svg(app, false), "image/svg+xml").documentElement;
    const params = graph.params(graph.count);
    const caption = `${graph.title}${params ? ` · ${params.toLocaleString("en")} parameters` : ""}`;
    sheet.replaceChildren(document.importNode(picture, true), element("figcaption", {}, caption));
    document.body.append(sheet);
  });
  addEventListener("afterprint", () => {
    if (!sheet.isConnected) return;
    sheet.remove();
    app.store.set({ theme });
  });
}
