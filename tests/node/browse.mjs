// Open pages in a browser and do what scripts say; print what they return, and what the pages complained of or asked for.
// Usage: node browse.mjs browser, with [file, options, script] as a line of JSON for each page, answered by such a line.
// A script is the body of a function of `page`, of playwright, with `page.quiet()`, which waits until all is done that the
// page does later. Each page is opened as by a reader who has seen no other.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const LONGEST = 600_000; // milliseconds after which a page counts as hung, however slow the machine is

/** Keep account in a page of the timers and frames that it waits for, so that `quiet` can tell when there are none. */
function watchWaiting() {
  const waiting = new Set();
  const [wait, frame] = [globalThis.setTimeout, globalThis.requestAnimationFrame];
  for (const [begin, end] of [["setTimeout", "clearTimeout"], ["requestAnimationFrame", "cancelAnimationFrame"]]) {
    const [begun, ended] = [globalThis[begin], globalThis[end]];
    globalThis[begin] = (act, ...rest) => {
      const go = (...given) => {
        waiting.delete(`${begin} ${key}`);
        act(...given);
      };
      const key = begun(go, ...rest);
      waiting.add(`${begin} ${key}`);
      return key;
    };
    globalThis[end] = (key) => {
      waiting.delete(`${begin} ${key}`);
      ended(key);
    };
  }
  globalThis.quiet = async () => {
    do await new Promise((done) => frame(() => wait(done)));
    while (waiting.size);
  };
}

const browser = await chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox", "--disable-gpu"] });
for await (const line of createInterface({ input: process.stdin })) {
  const [file, { hash = "", media = {}, ...options }, script] = JSON.parse(line);
  const context = await browser.newContext(options);
  context.setDefaultTimeout(LONGEST / 2);
  const [messages, requests] = [[], []];
  const act = async () => {
    const page = await context.newPage();
    page.on("console", (message) => messages.push(message.text()));
    page.on("pageerror", (error) => messages.push(String(error.stack)));
    page.on("request", (request) => requests.push(request.url()));
    await page.addInitScript(watchWaiting);
    page.quiet = () => page.evaluate(() => globalThis.quiet());
    await page.emulateMedia(media);
    await page.goto(pathToFileURL(file).href + hash);
    await page.waitForSelector("[data-ready]");
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))); // it has been drawn
    const AsyncFunction = (async () => {}).constructor;
    return { value: (await new AsyncFunction("page", script)(page)) ?? null };
  };
  const timer = setTimeout(() => process.exit(1), LONGEST);
  const answer = await act().catch((error) => ({ error: String(error.stack) }));
  clearTimeout(timer);
  await context.close();
  process.stdout.write(`${JSON.stringify({ ...answer, messages, requests: requests.slice(1) })}\n`);
}
await browser.close();
