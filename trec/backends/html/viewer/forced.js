// Colours that the reader's system forces on pages, for the canvas too, which no style sheet reaches.

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./types.js").Theme} Theme */

/** What a colour of the system is, as `#rrggbb`. @param {HTMLElement} probe @param {string} name */
function resolved(probe, name) {
  probe.style.color = name;
  const channels = getComputedStyle(probe).color.match(/\d+(\.\d+)?/g)?.slice(0, 3) ?? ["0", "0", "0"];
  return `#${channels.map((channel) => Math.round(Number(channel)).toString(16).padStart(2, "0")).join("")}`;
}

/** A theme of nothing but the colours of the system; borders keep their strokes. @param {Theme} theme @returns {Theme} */
function forced(theme) {
  const probe = document.body.appendChild(document.createElement("i"));
  const [background, text, accent] = ["Canvas", "CanvasText", "Highlight"].map((name) => resolved(probe, name));
  probe.remove();
  const paints = Object.entries(theme.paints).map(([role, paint]) => {
    const [fill, ink] = role === "terminal" ? [text, background] : [background, text];
    return [role, { ...paint, fill, text: ink, muted: ink, border: text }];
  });
  return { background, text, label: text, edge: text, carried: accent, error: accent, scale: [background, text], paints: Object.fromEntries(paints) };
}

/** @param {Graph} graph before anything of it is drawn @returns {(app: App) => void} what keeps the page in step with the system */
export function forceColours(graph) {
  const query = matchMedia("(forced-colors: active)");
  const own = graph.data.themes;
  const choose = () => (graph.data.themes = query.matches ? { light: forced(own.light), dark: forced(own.dark) } : own);
  choose();
  return (app) => query.addEventListener("change", () => {
    choose();
    const { theme } = app.state;
    app.state.theme = theme === "dark" ? "light" : "dark";
    app.store.set({ theme });
  });
}
