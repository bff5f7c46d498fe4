// Light and dark: the colours of the picture, and by names those of the style sheet.

/** @typedef {import("./app.js").App} App */

/** @param {App} app */
export function mountTheme(app) {
  const show = () => {
    const { theme, state } = app;
    document.documentElement.dataset.theme = state.theme;
    const { style } = document.documentElement;
    style.setProperty("--background", theme.background);
    style.setProperty("--text", theme.text);
    style.setProperty("--label", theme.label);
    style.setProperty("--panel", theme.paints.cluster0.fill);
    style.setProperty("--border", theme.paints.cluster0.border);
    style.setProperty("--line", mix(theme, 22));
    style.setProperty("--hover", mix(theme, 9));
    style.setProperty("--error", theme.error);
    style.setProperty("--hit", theme.carried);
    style.setProperty("--up", theme.paints.convolution.border);
    style.setProperty("--down", theme.paints.attention.border);
    style.setProperty("--accent", theme.paints.convolution.border);
    style.setProperty("--accent-fill", theme.paints.convolution.fill);
  };
  app.store.watch(["theme"], show);
  show();
}

/** A colour between that of the text and none. @param {import("./types.js").Theme} theme @param {number} share of a hundred */
function mix(theme, share) {
  return `color-mix(in srgb, ${theme.label} ${share}%, transparent)`;
}
