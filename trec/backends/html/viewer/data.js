// The data of a page, as it is written into it: JSON, or that compressed and in letters.

/** @param {Element} script the block that holds the data @returns {Promise<any>} */
export async function read(script) {
  const text = script.textContent ?? "";
  return JSON.parse(script.getAttribute("type") === "application/json" ? text : await inflated(text));
}

/** @param {string} letters base64 of raw deflate @returns {Promise<string>} */
async function inflated(letters) {
  const bytes = atob(letters.trim());
  const packed = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) packed[at] = bytes.charCodeAt(at);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}
