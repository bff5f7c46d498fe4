// The row at the top: what is shown, how it is coloured, where to look.

import { COLOURINGS } from "./colours.js";
import { button, element, sign } from "./elements.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./types.js").View} View */

/** A button that opens a small panel below it. @param {string | Node} face @param {string} title @param {...Node} inside @returns {Node[]} */
export function menu(face, title, ...inside) {
  const id = `menu-${title.toLowerCase().replaceAll(" ", "-")}`;
  const opener = button(face, title, () => {}, { popovertarget: id });
  const panel = element("div", { id, popover: "auto", class: "menu", role: "group", "aria-label": title, toggle: () => {
    const { left, bottom } = opener.getBoundingClientRect();
    panel.style.left = `${Math.max(4, Math.min(left, innerWidth - panel.offsetWidth - 8))}px`;
    panel.style.top = `${bottom + 4}px`;
  } });
  panel.append(...inside);
  return [opener, panel];
}

/** @param {Event} event */
function close(event) {
  const panel = /** @type {HTMLElement} */ (event.currentTarget).closest("[popover]");
  if (panel) /** @type {HTMLElement} */ (panel).hidePopover();
}

/** A line of a menu that does something. @param {string} text @param {() => void} act */
export function entry(text, act) {
  return element("button", { type: "button", click: (/** @type {Event} */ event) => {
    close(event);
    act();
  } }, text);
}

/** Boxes to tick for what is shown. @param {App} app */
function switches(app) {
  /** @type {[keyof View, string][]} */
  const rows = [
    ["state", "Parameters and buffers"], ["views", "Views and casts"], ["constants", "Constants"],
    ["folded", "Fold equal calls"], ["columns", "Long chains in columns"],
  ];
  const inputs = rows.map(([name, text]) => {
    const input = element("input", { type: "checkbox", "data-view": name, change: async () => {
      const isOn = input.checked;
      if (!(await app.become({ [name]: isOn }, app.state.selected))) return;
      app.announce(`${text}: ${isOn ? "on" : "off"}`);
      if (app.untouched) app.fit(app.whole);
    } });
    return { name, input, line: element("label", {}, input, text) };
  });
  const shapes = element("select", { change: () => app.become({ shapes: /** @type {View["shapes"]} */ (shapes.value) }, app.state.selected) },
    ...["changes", "all", "none"].map((value) => element("option", { value }, value)));
  const show = () => {
    const view = { ...app.state.view, ...app.coming?.parts };
    for (const { name, input } of inputs) input.checked = Boolean(view[name]);
    shapes.value = view.shapes;
  };
  app.store.watch(["view"], show);
  show();
  return [...inputs.map(({ line }) => line), element("label", { class: "wide" }, "Shapes along edges", shapes)];
}

/** What can be opened to. @param {App} app */
function depths(app) {
  const open = (/** @type {number | null} */ depth, /** @type {string} */ text) => entry(text, async () => {
    await app.openTo(depth);
    app.announce(`${text}: ${app.state.scene.picture.boxes.length} boxes`);
  });
  const levels = Array.from({ length: Math.min(app.deepest, 12) }, (_, at) => open(at + 1, `Depth ${at + 1}`));
  return [open(null, "What can be read at once"), open(0, "Nothing"), ...levels.slice(0, -1), open(Infinity, "Everything")];
}

/** @param {App} app */
function colours(app) {
  const { graph, store } = app;
  const possible = [...COLOURINGS].filter(([name]) => (name !== "change" || graph.diff) && (name !== "given" || graph.data.colours));
  const select = element(
    "select", { "aria-label": "Colour by", title: "What colours stand for", change: () => store.set({ colourBy: select.value }) },
    ...possible.map(([value, { title }]) => element("option", { value }, title)),
  );
  const show = () => (select.value = app.state.colourBy);
  app.store.watch(["colourBy"], show);
  show();
  return element("label", {}, element("span", {}, "Colour"), select);
}

/**
 * @param {App} app
 * @param {{ start: Node[], end: Node[] }} parts what others put at both ends
 */
export function mountToolbar(app, { start, end }) {
  const bar = app.root.querySelector(".toolbar");
  if (!bar) return;
  const theme = () => app.store.set({ theme: app.state.theme === "dark" ? "light" : "dark" });
  bar.append(
    ...start,
    element("span", { class: "grow" }),
    ...menu("Depth", "Open to a depth", ...depths(app)),
    ...menu("Show", "What is shown", ...switches(app)),
    colours(app),
    button(sign("M2 6V2h4M10 2h4v4M14 10v4h-4M6 14H2v-4"), "Show all of the picture (0)", () => app.seeAll()),
    button(sign("M8 2.5a5.5 5.5 0 1 0 0 11zM8 2.5a5.5 5.5 0 0 1 0 11"), "Dark or light", theme),
    ...end,
  );
}
