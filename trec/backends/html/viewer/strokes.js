// The strokes that wires are drawn with: what loops carry, what goes through the host or not in all runs, what a diff added or removed.

export const STROKES = ["plain", "host", "carried", "added", "removed"];
export const [PLAIN, HOSTED, CARRIED, ADDED, REMOVED] = STROKES.keys();

/** The colour of a stroke. @param {import("./types.js").Theme} theme @param {number} stroke */
export function colourOf(theme, stroke) {
  if (stroke === CARRIED) return theme.carried;
  if (stroke === ADDED) return theme.paints.added.border;
  return stroke === REMOVED ? theme.paints.removed.border : theme.edge;
}

/** Whether a stroke is dashed, which tells it from others without any colour. @param {number} stroke */
export function isDashed(stroke) {
  return stroke === HOSTED || stroke === CARRIED || stroke === REMOVED;
}
