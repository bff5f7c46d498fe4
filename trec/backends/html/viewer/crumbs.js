// The scopes around what is chosen, or around what is in the middle of the view, from the outermost in.

import { element } from "./elements.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.js").Item} Item */

/** Scopes that are named at most; of more, the outermost and the innermost ones. */
const [OUTER, INNER] = [3, 17];

/** @param {App} app */
export function crumbs(app) {
  const list = element("ol");
  let shown = "";
  let pending = 0;
  const show = () => {
    pending = 0;
    const { graph, state } = app;
    const item = state.selected >= 0 ? state.selected : middle(app);
    const around = item < 0 ? [] : [item];
    for (let scope = item < 0 ? -1 : graph.around(item); scope >= 0; scope = graph.scopeParent[scope]) around.push(graph.count + scope);
    around.reverse();
    if (!around.length) around.push(graph.count);
    const key = `${around}|${state.selected}`;
    if (key === shown) return;
    shown = key;
    const hadFocus = list.contains(document.activeElement);
    const made = around.map((one, at) => {
      if (at >= OUTER && at < around.length - INNER) return null;
      const text = one === graph.count || app.together(one) ? app.nameOf(one) : graph.face(one).title || graph.nameOf(one);
      const click = () => (one === graph.count ? whole(app) : app.go(one));
      const link = element("button", { type: "button", class: "link", click }, element("bdi", {}, text));
      if (at === around.length - 1 && one === state.selected) link.setAttribute("aria-current", "true");
      return element("li", {}, link);
    }).filter((crumb) => crumb !== null);
    if (made.length < around.length) made.splice(OUTER, 0, element("li", {}, "…"));
    list.replaceChildren(...made);
    if (hadFocus) list.lastElementChild?.querySelector("button")?.focus();
  };
  app.store.watch(["selected", "scene", "camera"], () => {
    pending ||= window.setTimeout(show, 80);
  });
  show();
  return element("nav", { class: "crumbs", "aria-label": "Where" }, list);
}

/** Show all of the picture, and what is known of all of it. @param {App} app */
function whole(app) {
  app.select(app.graph.count);
  app.seeAll();
}

/** The innermost frame that fills the middle of the view. @param {App} app @returns {Item} */
function middle(app) {
  const { graph, state } = app;
  const { frames } = state.scene.picture;
  const { left, top, right, bottom } = app.stage.part(state.camera);
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  let found = -1;
  state.scene.frameIndex.within(x, y, x, y, (frame) => (found = graph.count + frames[frame]));
  return found;
}
