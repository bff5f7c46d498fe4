// Open pages in a browser and print, for each, how long what people do with it takes, in milliseconds, as JSON.
// Usage: node page.mjs browser file...

import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const require = createRequire(fileURLToPath(new URL("../tests/node/package.json", import.meta.url)));
const { chromium } = require("playwright-core");
const [executablePath, ...files] = process.argv.slice(2);
const SIZE = { width: 1400, height: 900 };
const OPENINGS = 5;
/** Milliseconds until someone who sees a picture clicks on it. */
const REACTION = 500;

/** When something was first seen of the picture, which is when the text beside it was seen too. */
const painted = () =>
  new Promise((resolve) => {
    const look = () => {
      const [entry] = performance.getEntriesByName("first-contentful-paint");
      if (entry && document.querySelector("[data-ready]")) requestAnimationFrame(() => resolve(entry.startTime));
      else setTimeout(look, 10);
    };
    look();
  });

/** The first click on a module that can be opened, with all that comes of it, until that is drawn. */
const clicked = async (page) => {
  const middle = await page.evaluate(() => {
    const app = globalThis.trec;
    const { scene, camera } = app.state;
    const { left, top } = app.canvas.getBoundingClientRect();
    app.canvas.addEventListener("pointerup", () => {
      const start = performance.now();
      requestAnimationFrame(() => setTimeout(() => (globalThis.clicked = performance.now() - start)));
    }, true);
    const box = scene.picture.boxes.findIndex((item) => app.isModule(item));
    const [x, y, width, height] = scene.places.subarray(4 * box, 4 * box + 4);
    return [left + (x + width / 2 - camera.x) * camera.zoom, top + (y + height / 2 - camera.y) * camera.zoom];
  });
  await page.waitForTimeout(REACTION);
  await page.mouse.move(...middle);
  await page.mouse.click(...middle);
  return (await page.waitForFunction(() => globalThis.clicked)).jsonValue();
};

/** What is done with an open page, and how long that takes until it is drawn. */
const used = async () => {
  const app = globalThis.trec;
  const taken = (act) => {
    const start = performance.now();
    act();
    app.stage.moving = null;
    app.stage.draw();
    return performance.now() - start;
  };
  const sorted = (times) => times.sort((one, other) => one - other);
  const frame = () => new Promise(requestAnimationFrame);
  const pan = async () => {
    const times = [];
    let last = await frame();
    for (let step = 0; step < 90; step++) {
      const { camera } = app.state;
      const way = (step % 30 < 15 ? 12 : -12) / camera.zoom;
      app.store.set({ camera: { ...camera, x: camera.x + way, y: camera.y + way } });
      const now = await frame();
      times.push(now - last);
      last = now;
    }
    sorted(times);
    return [times[45], times[85]];
  };
  /** What takes its time in pieces: until all is drawn, and the longest piece. */
  const takenByPieces = async (act) => {
    await new Promise((done) => setTimeout(done));
    const start = performance.now();
    const pieces = [0];
    const observer = new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) if (startTime + duration > start) pieces.push(duration);
    });
    observer.observe({ type: "longtask" });
    await act();
    app.stage.moving = null;
    app.stage.draw();
    const whole = performance.now() - start;
    await new Promise((done) => setTimeout(done, 300));
    observer.disconnect();
    return [whole, Math.max(...pieces)];
  };
  const modules = () => app.state.scene.picture.boxes.filter((item) => app.isModule(item));
  const toggles = (items) => items.flatMap((item) => [taken(() => app.toggle(item)), taken(() => app.toggle(item))]);
  const found = {};
  found.boxes = app.state.scene.picture.boxes.length;
  found.pan = await pan();
  // What lies three deep is what people open and close; the list of all blocks is opened once.
  await app.openTo(1);
  const times = [];
  for (let depth = 2; depth < app.deepest && app.state.scene.picture.boxes.length < 60; depth++) {
    const inside = modules()[0];
    if (inside === undefined) break;
    times.push(taken(() => app.toggle(inside)));
  }
  found.open = app.state.scene.picture.boxes.length;
  times.push(...toggles(modules().slice(0, 8)));
  sorted(times);
  found.toggle = [times[times.length >> 1], times.at(-1)];
  const input = app.root.querySelector("input[type=search]");
  found.search = Math.max(...["mul", "op:linear", "layers.1*", "shape:*x768"].map((text) =>
    taken(() => {
      input.value = text;
      input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", bubbles: true }));
    })));
  input.value = "";
  input.dispatchEvent(new Event("input", { bubbles: true }));
  found.all = await takenByPieces(() => app.openTo(Infinity));
  found.everything = app.state.scene.picture.boxes.length;
  found.among = await takenByPieces(async () => {
    const item = app.graph.count + app.state.scene.picture.frames[found.everything >> 6];
    app.toggle(item);
    while (app.isOpen(item)) await frame();
  });
  found.panAll = await pan();
  app.store.set({ camera: { ...app.state.camera, zoom: 0.4 } });
  found.panNear = await pan();
  return found;
};

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const results = [];
for (const file of files) {
  const messages = [];
  const requests = [];
  const paints = [];
  const clicks = [];
  let last;
  for (let opening = 0; opening < OPENINGS; opening++) {
    await last?.close();
    last = await browser.newPage({ viewport: SIZE });
    last.on("console", (message) => messages.push(message.text()));
    last.on("pageerror", (error) => messages.push(String(error)));
    last.on("request", ({ url }) => requests.push(url));
    await last.goto(pathToFileURL(file).href);
    paints.push(await last.evaluate(painted));
    if (opening < OPENINGS - 1) clicks.push(await clicked(last));
  }
  paints.sort((one, other) => one - other);
  results.push({ paint: paints[OPENINGS >> 1], clicks: clicks.sort((one, other) => one - other), ...(await last.evaluate(used)), messages, requests: requests.length - OPENINGS });
  await last.close();
}
await browser.close();
process.stdout.write(JSON.stringify(results));
