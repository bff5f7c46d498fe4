// Open pages in a browser and print of each, as JSON, how long it takes until the picture stands still, and again when
// all of it has been opened; how long a frame takes while each is dragged; how many bytes came, and what failed. All in
// milliseconds, and the same for every page. With PICTURES, a folder, what was seen is kept there.
// Usage: node page_peers.mjs browser [address, script]..., as JSON, a script being what opens all, of a page of playwright

import { statSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

const require = createRequire(fileURLToPath(new URL("../tests/node/package.json", import.meta.url)));
const { chromium } = require("playwright-core");
const [executablePath, ...pages] = process.argv.slice(2);
const viewport = { width: 1400, height: 900 };
const OPENINGS = 3;
/** How long nothing may change before a picture stands still, at first and with all open, and how long is waited for it. */
const [STILL, STILL_OF_ALL, LONGEST] = [2500, 12_000, 60_000];
/** How long a page that has nothing to do may take for two frames. */
const BUSY = 500;

/** The middle of several numbers. */
const median = (numbers) => numbers.sort((one, other) => one - other)[numbers.length >> 1];
const wait = (time) => new Promise((done) => setTimeout(done, time));

/** When the last picture came that differs from the one before it, counted from when something was done. */
async function still(page, patience, act) {
  const client = await page.context().newCDPSession(page);
  let [last, picture] = [0, ""];
  const start = performance.now();
  client.on("Page.screencastFrame", ({ data, sessionId }) => {
    client.send("Page.screencastFrameAck", { sessionId }).catch(() => {});
    if (data !== picture) last = performance.now() - start;
    picture = data;
  });
  await client.send("Page.startScreencast", { format: "jpeg", quality: 30, maxWidth: 350, maxHeight: 225 });
  await act();
  // A page that is busy shows nothing new either: what counts is that it answers at once, and has nothing to show.
  for (let quiet = false; !quiet; ) {
    do await wait(50);
    while (performance.now() - start < Math.min(last, LONGEST) + patience);
    const [asked, before] = [performance.now(), last];
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    quiet = last === before && (performance.now() - asked < BUSY || asked - start > LONGEST);
  }
  await client.send("Page.stopScreencast");
  await client.detach();
  return last;
}

/** How long frames take while the picture is dragged to and fro: their median, and the longest of 19 in 20. */
async function dragged(page) {
  const frames = page.evaluate(() => new Promise((done) => {
    const times = [];
    let last = 0;
    const look = (now) => {
      if (last) times.push(now - last);
      last = now;
      if (times.length < 120) requestAnimationFrame(look);
      else done(times);
    };
    requestAnimationFrame(look);
  }));
  let isDone = false;
  frames.then(() => (isDone = true));
  await page.mouse.move(1000, 600);
  await page.mouse.down();
  for (let step = 0; !isDone; step++) await page.mouse.move(1000 + 200 * Math.sin(step / 9), 600 + 100 * Math.sin(step / 7));
  await page.mouse.up();
  const times = (await frames).sort((one, other) => one - other);
  return [times[60], times[114]];
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const results = [];
for (const [address, script] of pages.map((text) => JSON.parse(text))) {
  const openAll = new (async () => {}).constructor("page", script);
  const found = { first: [], all: [], frames: [], framesOfAll: [] };
  const messages = new Set();
  let bytes = 0;
  for (let opening = 0; opening < OPENINGS; opening++) {
    const page = await browser.newPage({ viewport });
    bytes = 0;
    page.on("pageerror", (error) => messages.add(String(error)));
    const sizeOf = async (request) => {
      const url = new URL(request.url());
      return url.protocol === "file:" ? statSync(url).size : (await request.sizes()).responseBodySize;
    };
    const counted = async (request) => (bytes += await sizeOf(request).catch(() => 0));
    page.on("requestfinished", counted);
    const keep = (name) => process.env.PICTURES && page.screenshot({ path: `${process.env.PICTURES}/${results.length}${name}.png` });
    found.first.push(await still(page, STILL, () => page.goto(address, { waitUntil: "commit" })));
    page.off("requestfinished", counted);
    await keep("");
    if (opening === OPENINGS - 1) {
      found.frames = await dragged(page);
      found.all.push(await still(page, STILL_OF_ALL, () => openAll(page)));
      found.framesOfAll = await dragged(page);
      await keep("-all");
    }
    await page.close();
  }
  results.push({ ...found, first: median(found.first), all: median(found.all), bytes, messages: [...messages] });
}
await browser.close();
process.stdout.write(JSON.stringify(results));
