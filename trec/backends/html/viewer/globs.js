// Globs over dotted paths, over plain names and over shapes, as `trec.analysis.globs` has them. A name or path that is
// written as it is always matches, also where it has brackets.

/** @param {string} text */
function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&").replace(/\\-/g, "\\x2d");
}

/** @param {string} source */
function whole(source) {
  return new RegExp(`^(?:${source})$`, "su");
}

/** @param {string} source @param {string} pattern */
function wholeOrLiteral(source, pattern) {
  return whole(`${source}|${escaped(pattern)}`);
}

/** What matches dotted paths; `**` stands for any number of components. @param {string} pattern */
export function pathGlob(pattern) {
  let source = "";
  let dot = "";
  for (const component of pattern.split(".")) {
    if (component === "**") {
      source += dot ? String.raw`(?:\.[^.]+)*` : String.raw`(?:[^.]+(?:\.(?!$)|$))*`;
      dot &&= String.raw`\.`;
    } else {
      source += dot + wordGlob(component);
      dot = String.raw`\.`;
    }
  }
  return wholeOrLiteral(source, pattern);
}

/** @param {string} pattern */
function wordGlob(pattern) {
  return pattern.replace(/\[!?[^\]]+\]|./gsu, (token) => {
    if (token === "*") return "[^.]*";
    if (token === "?") return "[^.]";
    return token.length < 3 ? escaped(token) : wordChoice(token.slice(1, -1));
  });
}

/** @param {string} inside what stands between brackets; of ranges that end before they begin nothing is left */
function wordChoice(inside) {
  const isNot = inside[0] === "!";
  const body = (isNot ? inside.slice(1) : inside).replace(/([^])(?:-([^]))?/gu, (range, one, other) => {
    if (other === undefined) return escaped(one);
    return one > other ? "" : `${escaped(one)}-${escaped(other)}`;
  });
  if (isNot) return `[^${body}.]`;
  return body ? `[${body}]` : "(?!)";
}

/** What matches names as shells match those of files; dots are like any character. @param {string} pattern */
export function nameGlob(pattern) {
  let source = "";
  for (let at = 0; at < pattern.length; at++) {
    const sign = pattern[at];
    if (sign === "*") source += ".*";
    else if (sign === "?") source += ".";
    else if (sign === "[") {
      const from = at + (pattern[at + 1] === "!" ? 2 : 1);
      const end = pattern.indexOf("]", from + 1);
      if (end < 0) source += "\\[";
      else {
        source += choice(pattern.slice(at + 1, end));
        at = end;
      }
    } else source += escaped(sign);
  }
  return wholeOrLiteral(source, pattern);
}

/** @param {string} inside what stands between brackets; of ranges that end before they begin nothing is left */
function choice(inside) {
  const isNot = inside[0] === "!";
  const body = (isNot ? inside.slice(1) : inside).replace(/([^])-([^])/gu, (range, one, other) => (one > other ? "" : range));
  if (!body) return isNot ? "." : "(?!)";
  const source = body.replace(/[\\[\]^(){}/|]/g, "\\$&").replace(/^-|-$/g, "\\-");
  return `[${isNot ? "^" : ""}${source}]`;
}

/** What matches shapes in which a comma follows each size; `**` stands for any number of sizes. @param {string} pattern sizes between `x` */
export function shapeGlob(pattern) {
  const sizes = pattern ? pattern.split("x") : [];
  const sources = sizes.map((size) => (size === "**" ? "(?:[^,]*,)*" : `${size.split("*").map(escaped).join("[^,]*")},`));
  return whole(sources.join(""));
}
