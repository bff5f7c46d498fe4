// The panel beside the canvas: all that is known of what is chosen, and what it is joined to.

import { button, element, sign, swatch } from "./elements.js";
import { CHANGES } from "./graph.js";
import { rehearse } from "./idle.js";
import { bytes } from "./numbers.js";
import { drawn } from "./search.js";
import { typeText } from "./tooltip.js";
import { nodesOf } from "./trace.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./graph.js").Graph} Graph */
/** @typedef {import("./trace.js").Trace} Trace */
/** @typedef {import("./types.js").Item} Item */

const FEW = 12;
const MANY = 500;
const LONGEST = 2000;

/** @param {string} text */
function cut(text) {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

/** Whether a text is the address of something to look at, which runs nothing. @param {string} link */
function isAddress(link) {
  return URL.canParse(link) && !/^(javascript|data|vbscript):$/.test(new URL(link).protocol);
}

/** A name, without that of what it is in. @param {string} name @param {string} around */
function below(name, around) {
  return around && name.startsWith(`${around}.`) ? name.slice(around.length + 1) : name;
}

/** A name or path that breaks between its parts rather than in a word. @param {string} text */
function breaking(text) {
  const parts = cut(text).split(/(?<=[./_])(?!py:)/);
  return element("bdi", {}, ...parts.flatMap((part, at) => (at ? [element("wbr"), part] : [part])));
}

/** @param {Graph} graph @param {number} node */
function valuesOf(graph, node) {
  const first = graph.firstOutput[node];
  const outputs = Array.from({ length: graph.firstOutput[node + 1] - first }, (_, port) => first + port);
  return { inputs: [...graph.inputsOf(node)], outputs };
}

/** The values that go into a scope and come out of it. @param {Graph} graph @param {Uint8Array} inside the nodes in it, marked */
function crossing(graph, inside) {
  const { firstReader, readers, producer } = graph;
  const inputs = new Set();
  const outputs = [];
  for (let node = inside.indexOf(1); node >= 0; node = inside.indexOf(1, node + 1)) {
    for (const value of graph.inputsOf(node)) if (!inside[producer[value]]) inputs.add(value);
    for (let value = graph.firstOutput[node]; value < graph.firstOutput[node + 1]; value++)
      if (readers.subarray(firstReader[value], firstReader[value + 1]).some((reader) => !inside[reader])) outputs.push(value);
  }
  return { inputs: [...inputs], outputs };
}

/** The panel of one page. */
class Details {
  /** @param {App} app @param {Trace} trace @param {HTMLElement} panel */
  constructor(app, trace, panel) {
    this.app = app;
    this.trace = trace;
    this.panel = panel;
    this.shown = -1;
    app.store.watch(["selected", "theme", "colourBy"], () => this.fill());
    trace.watchers.add(() => this.fill());
    panel.addEventListener("keydown", ({ key }) => key === "Escape" && this.close());
    const { boxes } = app.state.scene.picture;
    const item = boxes.find((box) => app.isModule(box)) ?? boxes[0];
    if (item !== undefined) rehearse(() => app.graph.readers, () => this.tryOut(item));
  }

  fill() {
    const { app, panel } = this;
    const { selected } = app.state;
    const scroll = selected === this.shown ? panel.scrollTop : 0;
    const hadFocus = panel.contains(document.activeElement);
    const focused = document.activeElement?.getAttribute("data-name");
    const isNew = panel.hidden && selected >= 0;
    this.shown = selected;
    panel.hidden = selected < 0;
    if (selected < 0) return panel.replaceChildren();
    panel.replaceChildren(...this.content(selected));
    // Where there is nothing to be scrolled, the browser need not find out where all is.
    if (scroll) panel.scrollTop = scroll;
    if (hadFocus) /** @type {HTMLElement | null} */ (panel.querySelector(`[data-name="${focused}"]`) ?? panel.querySelector("h2"))?.focus({ preventScroll: true });
    if (!isNew) return;
    app.makeRoom(drawn(app, selected));
  }

  /** All that the panel says. @param {Item} item */
  content(item) {
    return [this.head(item), this.facts(item), this.highlight(), this.ways(item), ...this.joints(item)];
  }

  /** Have a panel laid out that nobody sees: fonts and styles take long the first time. @param {Item} item */
  tryOut(item) {
    if (!this.panel.hidden) return;
    const trial = element("aside", { class: "side trial" }, ...this.content(item));
    this.panel.after(trial);
    trial.getBoundingClientRect();
    trial.remove();
  }

  close() {
    this.app.select(-1);
    this.app.canvas.focus();
  }

  /** @param {Item} item */
  head(item) {
    const { graph, stage } = this.app;
    const kind = graph.kindOf(item);
    const title = element("h2", { tabindex: -1 }, swatch(stage.paintOf(item)), breaking(this.app.nameOf(item)));
    const close = button(sign("M4 4l8 8M12 4l-8 8"), "Close (Escape)", () => this.close());
    const all = this.app.together(item);
    const words = all ? [`${all.length} ${kind}s`] : [...new Set([graph.opOf(item), kind === "op" ? "" : kind])].filter(Boolean);
    return element("header", {}, title, close, element("p", {}, words.join(" · ")));
  }

  /** @param {Item} item */
  facts(item) {
    const { graph } = this.app;
    const list = element("dl");
    if (this.app.together(item)) return list;
    const add = (/** @type {string} */ name, /** @type {string | Node} */ value) =>
      value && list.append(element("div", {}, element("dt", {}, name), element("dd", {}, typeof value === "string" ? cut(value) : value)));
    const count = (/** @type {number} */ number) => (number ? number.toLocaleString("en") : "");
    const node = this.nodeOf(item);
    const scope = item < graph.count ? graph.standing[item] : item - graph.count;
    add("change", CHANGES[item < graph.count ? graph.change[item] : graph.scopeChange[scope]]);
    if (scope >= 0 && graph.paths[scope] !== graph.nameOf(item)) add("path", graph.paths[scope]);
    if (graph.phased) add("phase", graph.phaseOf(item));
    const around = graph.around(item);
    if (around > 0) add("in", element("span", {}, this.link(graph.count + around), element("small", {}, graph.opOf(graph.count + around))));
    const calls = scope < 0 ? 0 : graph.times[scope];
    if (calls > 1) add("equal calls", count(calls));
    add("parameters", count(graph.params(item)));
    add("FLOPs", count(graph.flops(item)));
    if (graph.bytes(item)) add("result memory", bytes(graph.bytes(item)));
    if (item >= graph.count && graph.data.scopes.held[scope]) add("parameter memory", bytes(graph.data.scopes.held[scope]));
    const source = graph.source(item) ?? graph.source(node);
    if (source) add("source", isAddress(source.link) ? element("a", { href: source.link, target: "_blank", rel: "noopener" }, breaking(source.text)) : breaking(source.text));
    const attributes = [...graph.attributes(item), ...(node === item || node < 0 ? [] : graph.attributes(node))];
    for (const [name, value] of attributes) if (name !== "flops" && name !== "params") add(name, value);
    return list;
  }

  /** What is to be highlighted around what is chosen. */
  highlight() {
    const { trace } = this;
    const toggle = (/** @type {"up" | "down"} */ way, /** @type {string} */ text, /** @type {string} */ title) =>
      button(text, title, () => trace.set({ [way]: !trace[way] }), { "aria-pressed": trace[way], "data-name": way, class: way });
    const steps = trace.steps === Infinity ? "all" : trace.steps === 1 ? "1 edge" : `${trace.steps} edges`;
    return element(
      "section", { "aria-label": "Highlight" },
      element("div", { class: "line" },
        toggle("up", "Upstream", "Highlight what leads here"), toggle("down", "Downstream", "Highlight what this leads to"),
        element("span", { class: "grow" }),
        button("−", "One edge less", () => trace.set({ steps: trace.steps === Infinity ? 3 : Math.max(1, trace.steps - 1) }), { "data-name": "less" }),
        element("span", { class: "steps" }, steps),
        button("+", "One edge more; all after three", () => trace.set({ steps: trace.steps >= 3 ? Infinity : trace.steps + 1 }), { "data-name": "more" })),
    );
  }

  /** The ways from another item to this one. @param {Item} item */
  ways(item) {
    const { app, trace } = this;
    const name = (/** @type {Item} */ end) => app.nameOf(end);
    const section = element("section", { "aria-label": "Path" });
    if (trace.from < 0) {
      section.append(button("Find a path from here…", "Choose this as the one end of a path, then choose the other", () => {
        trace.set({ from: item, to: -1 });
        app.announce(`Path from ${name(item)}: choose where to`);
      }, { "data-name": "path" }));
      return section;
    }
    const ways = trace.ways();
    const inside = ways ? ways.nodes.reduce((sum, bit) => sum + bit, 0) : 0;
    const text = trace.to < 0 ? `Path from ${name(trace.from)}: choose where to.`
      : ways ? `${inside.toLocaleString("en")} nodes are on a path from ${name(ways.from)} to ${name(ways.to)}.`
      : `No path joins ${name(trace.from)} and ${name(trace.to)}.`;
    const end = button("End", "Highlight no path any more", () => trace.set({ from: -1, to: -1 }), { "data-name": "path" });
    section.append(element("p", { class: "path" }, cut(text)), end);
    if (trace.to >= 0) app.announce(text);
    return section;
  }

  /** The single node that an item is, or is a call of; -1 for a call of several. @param {Item} item */
  nodeOf(item) {
    const { picture } = this.app.state.scene;
    const box = this.app.boxOf(item);
    if (item < this.app.graph.count) return item;
    return picture.boxes[box] === item ? picture.nodes[box] : -1;
  }

  /** What is read, yielded and held. @param {Item} item @returns {HTMLElement[]} */
  joints(item) {
    const { graph } = this.app;
    const all = this.app.together(item);
    if (all) return this.tensors(all);
    const node = this.nodeOf(item);
    const inside = item < graph.count ? null : nodesOf(graph, item);
    const { inputs, outputs } = inside && node < 0 ? crossing(graph, inside) : valuesOf(graph, node);
    const read = this.list("Inputs", inputs, (value) => [this.link(graph.producer[value], graph.valueName(value)), this.type(value)]);
    const yielded = this.list("Outputs", outputs, (value) => [this.type(value), this.users(value, inside)]);
    const linked = (/** @type {Item} */ other) => [this.link(other)];
    const forward = this.list("Differentiates", graph.differentiated.get(node) ?? [], linked);
    const backward = this.list("Differentiated by", graph.derivatives.get(node) ?? [], linked);
    const members = node < 0 ? graph.members[item - graph.count] : [];
    const held = this.list(`Members · ${members.length}`, members, (inner) => {
      const name = below(graph.nameOf(inner), graph.nameOf(item));
      const op = graph.opOf(inner);
      return [this.link(inner, name), ...(name === op ? [] : [element("small", {}, op)])];
    });
    return [...read, ...yielded, ...forward, ...backward, ...held];
  }

  /** Each of the inputs or outputs that are drawn as one, and what is at its other end. @param {number[]} all */
  tensors(all) {
    const { graph } = this.app;
    return this.list(`Tensors · ${all.length}`, all, (node) => {
      const { inputs, outputs } = valuesOf(graph, node);
      const maker = inputs.map((value) => element("ul", { "aria-label": "Yielded by" }, element("li", {}, this.link(graph.producer[value]))));
      return [this.link(node), this.type([...outputs, ...inputs][0]), ...outputs.map((value) => this.users(value, null)), ...maker];
    });
  }

  /** What reads a value. @param {number} value @param {Uint8Array | null} inside what is passed over */
  users(value, inside) {
    const { firstReader, readers } = this.app.graph;
    const users = [...new Set(readers.subarray(firstReader[value], firstReader[value + 1]))].filter((user) => !inside?.[user]);
    const links = users.slice(0, FEW).map((user) => element("li", {}, this.link(user)));
    if (users.length > FEW) links.push(element("li", {}, `and ${users.length - FEW} more`));
    return element("ul", { "aria-label": "Read by" }, ...links);
  }

  /** A list under a title, of which the first are shown at first. @template T @param {string} title @param {T[]} all @param {(one: T) => HTMLElement[]} line */
  list(title, all, line) {
    if (!all.length) return [];
    const list = element("ul");
    const add = (/** @type {number} */ first, /** @type {number} */ end) => list.append(...all.slice(first, end).map((one) => element("li", {}, ...line(one))));
    add(0, FEW);
    const section = element("section", {}, element("h3", {}, title), list);
    if (all.length > FEW) {
      const rest = button(`${Math.min(all.length, MANY) - FEW} more`, "Show more", () => {
        add(FEW, MANY);
        list.children[FEW].querySelector("button")?.focus();
        rest.remove();
      });
      section.append(rest);
    }
    return [section];
  }

  /** @param {number} value */
  type(value) {
    return element("small", {}, typeText(this.app.graph.typeOf(value)));
  }

  /** @param {Item} item @param {string} [text] */
  link(item, text = this.app.graph.nameOf(item)) {
    return element("button", { type: "button", class: "link", click: () => {
      this.app.reveal(item);
      this.app.select(item);
      this.app.show(drawn(this.app, item));
    } }, breaking(text));
  }
}

/** @param {App} app @param {Trace} trace */
export function mountDetails(app, trace) {
  /** @type {HTMLElement | null} */
  const panel = app.root.querySelector(".side");
  if (panel) new Details(app, trace, panel);
}
