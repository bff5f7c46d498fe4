// Numbers as people read them.

const UNITS = ["", "k", "M", "G", "T"];

/** A count in at most four characters and a unit. @param {number} count */
export function number(count) {
  if (count < 1000) return String(count);
  let value = count;
  let unit = 0;
  let rounded = value;
  do {
    value /= 1000;
    unit++;
    rounded = value < 99.95 ? Math.round(value * 10) / 10 : Math.round(value);
  } while (rounded >= 1000 && unit < UNITS.length - 1);
  return `${rounded} ${UNITS[unit]}`;
}

/** @param {number} count */
export function bytes(count) {
  if (count < 1024) return `${count} B`;
  const power = Math.min(4, Math.floor(Math.log2(count) / 10));
  return `${(count / 1024 ** power).toPrecision(3)} ${"KMGT"[power - 1]}iB`;
}
