// What the colours of the picture stand for.

import { COLOURINGS } from "./colours.js";
import { element, swatch } from "./elements.js";

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function legend(app) {
  const title = element("span");
  const list = element("ul", { "aria-label": "Colours" });
  const show = () => {
    const { graph, state, theme } = app;
    const colouring = COLOURINGS.get(state.colourBy);
    const keys = colouring?.paint(graph, state.scene.picture, theme).keys ?? [];
    title.textContent = state.colourBy === "family" ? "" : (colouring?.title ?? "");
    list.replaceChildren(...keys.map(({ text, paint }) => element("li", {}, swatch(paint), text)));
  };
  app.store.watch(["scene", "theme", "colourBy"], show);
  show();
  return element("div", { class: "legend" }, title, list);
}
