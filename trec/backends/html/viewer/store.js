// The state of the page: one object, changed in one place, watched by whoever shows a part of it.

/** @typedef {import("./types.js").State} State */

export class Store {
  /** @param {State} state */
  constructor(state) {
    /** @readonly */
    this.state = state;
    /** @type {[Set<keyof State>, () => void][]} */
    this.watchers = [];
  }

  /**
   * Call a function after any of these parts of the state has changed.
   *
   * @param {(keyof State)[]} names
   * @param {() => void} tell
   */
  watch(names, tell) {
    this.watchers.push([new Set(names), tell]);
  }

  /**
   * Change parts of the state and tell all who watch one of them, once each.
   *
   * @param {Partial<State>} parts
   */
  set(parts) {
    const changed = /** @type {(keyof State)[]} */ (Object.keys(parts)).filter((name) => this.state[name] !== parts[name]);
    if (!changed.length) return;
    Object.assign(this.state, parts);
    for (const [names, tell] of this.watchers) if (changed.some((name) => names.has(name))) tell();
  }
}
