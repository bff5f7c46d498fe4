// What the colours of the picture stand for.

import { COLOURINGS } from "./colours.js";
import { element, swatch } from "./elements.js";

/** @typedef {import("./app.js").App} App */

/** What the colours stand for, and each of them. @param {App} app */
export function keysOf({ graph, state, theme }) {
  const colouring = COLOURINGS.get(state.colourBy);
  const keys = colouring?.paint(graph, state.scene.picture, theme).keys ?? [];
  return { title: state.colourBy === "family" ? "" : (colouring?.title ?? ""), keys };
}

/** @param {App} app */
export function legend(app) {
  const title = element("span");
  const list = element("ul", { "aria-label": "Colours" });
  const show = () => {
    const { title: text, keys } = keysOf(app);
    title.textContent = text;
    list.replaceChildren(...keys.map(({ text, paint }) => element("li", {}, swatch(paint), text)));
  };
  app.store.watch(["scene", "theme", "colourBy"], show);
  show();
  return element("div", { class: "legend" }, title, list);
}
