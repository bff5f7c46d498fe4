// The row of buttons at the top.

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function mountToolbar(app) {
  const bar = app.root.querySelector(".toolbar");
  if (!bar) return;
  const button = (/** @type {string} */ text, /** @type {string} */ title, /** @type {() => void} */ act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.title = title;
    made.addEventListener("click", act);
    bar.append(made);
    return made;
  };
  const name = document.createElement("strong");
  name.textContent = app.graph.title;
  bar.append(name);
  button("Fit", "Show all of the picture (0)", () => app.fit());
  button("Collapse", "Close what is open (what can be read at once)", () => app.openTo(null));
  button("Expand", "Open everything", () => app.openTo(Infinity));
  button("Theme", "Dark or light", () => app.store.set({ theme: app.state.theme === "dark" ? "light" : "dark" }));
}
