// What the keys do.

import { button, element, sign } from "./elements.js";

/** @typedef {import("./app.js").App} App */

/** @type {[string, [string, string][]][]} */
const KEYS = [
  ["Picture", [
    ["Arrows", "go to the next box"], ["Enter", "open or close a module"], ["[ ]", "go to what a box reads, to what reads it"],
    ["+ −", "nearer, farther"], ["0", "show all"], ["Escape", "choose nothing"],
  ]],
  ["Outline", [
    ["↑ ↓ Home End", "go from row to row"], ["→ ←", "open, close, go in or out"], ["*", "open all beside"], ["Letters", "go to a name"],
  ]],
  ["Search", [
    ["/", "to the field"], ["Enter, Shift Enter", "next hit, previous hit"], ["op:conv*", "operators"], ["class:Bottleneck", "calls of a class"],
    ["shape:1x*x768", "results of a shape"], ["kind:param", "or input, op, constant …"],
    ["layers.*.attn", "modules at a path"], ["and or not ( )", "join these"], ['"my block"', "a name with spaces"],
  ]],
];

/** @param {[string, string]} row */
function line([key, text]) {
  return element("div", {}, element("dt", {}, element("kbd", {}, key)), element("dd", {}, text));
}

/** The button of the help, and what opens it and goes to the search by key. @param {App} app @param {HTMLInputElement} field */
export function help(app, field) {
  const close = button(sign("M4 4l8 8M12 4l-8 8"), "Close", () => dialog.close());
  const parts = KEYS.map(([title, rows]) => element("section", {}, element("h3", {}, title), element("dl", {}, ...rows.map(line))));
  const dialog = element(
    "dialog", { class: "help", "aria-labelledby": "help" },
    element("header", {}, element("h2", { id: "help" }, "Keys"), close),
    element("div", { class: "parts", tabindex: 0, role: "group", "aria-labelledby": "help" }, ...parts),
  );
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  app.root.append(dialog);
  addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, dialog")) return;
    if (event.key === "?") dialog.showModal();
    else if (event.key === "/") field.focus();
    else return;
    event.preventDefault();
  });
  return button("?", "Keys (?)", () => dialog.showModal());
}
