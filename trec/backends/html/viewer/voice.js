// What happens is said to those who listen: what is chosen, what opens and closes.

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function mountVoice(app) {
  const { graph, store } = app;
  let { open } = app.state.view;
  store.watch(["selected"], () => {
    const { selected } = app.state;
    if (selected < 0) return app.announce("Nothing chosen");
    const state = !app.isModule(selected) || app.boxOf(selected) < 0 && !app.isOpen(selected) ? "" : app.isOpen(selected) ? "open" : "closed";
    app.announce([app.nameOf(selected), graph.opOf(selected), state].filter(Boolean).join(", "));
  });
  store.watch(["view"], () => {
    const now = app.state.view.open;
    /** @type {number[]} */
    const changed = [];
    now.forEach((bit, scope) => bit !== open[scope] && changed.push(scope));
    open = now;
    if (!changed.length) return;
    const { length } = app.state.scene.picture.boxes;
    const what = changed.length === 1 ? `${app.nameOf(graph.count + changed[0])} ${now[changed[0]] ? "open" : "closed"}, ` : "";
    app.announce(`${what}${length} boxes`);
  });
}
