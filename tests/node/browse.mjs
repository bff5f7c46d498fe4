// Open pages in a browser and do what scripts say; print what they return, and what the pages complained of or asked for.
// Usage: node browse.mjs browser, with [file, options, script] as a line of JSON for each page, answered by such a line.
// A script is the body of a function of `page`, of playwright. Each page is opened as by a reader who has seen no other.

import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const LONGEST = 120_000;

const browser = await chromium.launch({ executablePath: process.argv[2], args: ["--no-sandbox", "--disable-gpu"] });
for await (const line of createInterface({ input: process.stdin })) {
  const [file, { hash = "", media = {}, ...options }, script] = JSON.parse(line);
  const context = await browser.newContext(options);
  const [messages, requests] = [[], []];
  const act = async () => {
    const page = await context.newPage();
    page.on("console", (message) => messages.push(message.text()));
    page.on("pageerror", (error) => messages.push(String(error.stack)));
    page.on("request", (request) => requests.push(request.url()));
    await page.emulateMedia(media);
    await page.goto(pathToFileURL(file).href + hash);
    await page.waitForSelector("[data-ready]", { timeout: 60_000 });
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
