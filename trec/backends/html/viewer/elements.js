// Elements of the page, made in one call.

/** @typedef {Record<string, string | number | boolean | ((event: any) => void)>} Properties */

/**
 * An element: functions become listeners, all else attributes; false leaves an attribute out. Texts stay texts.
 *
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...(Node | string)} inside
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false || name.startsWith("aria-")) made.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : String(value));
  }
  made.append(...inside);
  return made;
}

/**
 * A button with a text or a sign on it.
 *
 * @param {string | Node} face
 * @param {string} title what it does, said where the face is only a sign
 * @param {(event: MouseEvent) => void} click
 * @param {Properties} [properties]
 */
export function button(face, title, click, properties = {}) {
  const made = element("button", { type: "button", title, ...properties, click }, face);
  if (typeof face !== "string" || face.length < 2) made.setAttribute("aria-label", title);
  return made;
}

/** A sign of strokes on a field of 16 by 16. @param {string} path as SVG writes it */
export function sign(path) {
  const space = "http://www.w3.org/2000/svg";
  const made = document.createElementNS(space, "svg");
  made.setAttribute("viewBox", "0 0 16 16");
  made.setAttribute("aria-hidden", "true");
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  made.append(line);
  return made;
}

/** A small field of the colours of boxes. @param {import("./types.js").Paint} paint */
export function swatch(paint) {
  const made = element("span", { class: "swatch", "aria-hidden": "true" });
  made.style.background = paint.fill;
  made.style.borderColor = paint.border;
  made.style.borderStyle = paint.line;
  return made;
}
