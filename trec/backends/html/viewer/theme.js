// Light and dark: the colours of the picture, and by names those of the style sheet.

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function mountTheme(app) {
  const show = () => {
    const { theme, state } = app;
    document.documentElement.dataset.theme = state.theme;
    const { convolution, attention, cluster0 } = theme.paints;
    const colours = {
      background: theme.background, text: theme.text, label: theme.label, error: theme.error, hit: theme.carried,
      panel: cluster0.fill, border: cluster0.border, line: mix(theme, 22), hover: mix(theme, 9),
      up: convolution.border, down: attention.border, accent: convolution.border, "accent-fill": convolution.fill,
    };
    for (const [name, colour] of Object.entries(colours)) document.documentElement.style.setProperty(`--${name}`, colour);
  };
  app.store.watch(["theme"], show);
  show();
}

/** A colour between that of the text and none. @param {import("./types.js").Theme} theme @param {number} share of a hundred */
function mix(theme, share) {
  return `color-mix(in srgb, ${theme.label} ${share}%, transparent)`;
}
